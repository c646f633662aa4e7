// linux.resources, which speaks v1, as cgroup v2 files; kernel documentation admin-guide/cgroup-v2.
// What v2 cannot express is an error, not an omission.
// SPDX-License-Identifier: Apache-2.0
#include "cgroup/plan_writes.hpp"

#include <algorithm>

namespace rung::cgroup {

namespace {

using Writes = std::vector<Write>;

Error absent_in_v2(const std::string& field) {
    return invalid(field, "cgroup v2 has no such limit");
}

std::string bytes_or_max(int64_t bytes) {
    return bytes < 0 ? "max" : std::to_string(bytes);
}

// OCI counts memory and swap together, v2 swap alone.
Result<std::string> swap_alone(const config::MemoryResources& memory) {
    if (*memory.swap == -1) return std::string{"max"};
    if (memory.limit.value_or(0) <= 0)
        return invalid("memory.swap", "unable to set swap limit without memory limit");
    if (*memory.swap < *memory.limit)
        return invalid("memory.swap", "memory+swap limit should be >= memory limit");
    return std::to_string(*memory.swap - *memory.limit);
}

Result<Writes> memory_writes(const config::MemoryResources& memory) {
    if (is_set(memory.kernel_tcp)) return absent_in_v2("memory.kernelTCP");
    if (memory.swappiness) return absent_in_v2("memory.swappiness");
    if (memory.disable_oom_killer.value_or(false)) return absent_in_v2("memory.disableOOMKiller");

    Writes writes;
    const auto add = [&](const char* file, const std::string& value, const char* field) {
        writes.push_back({.controller = "memory", .spelling = {file, value}, .field = field});
    };
    if (is_set(memory.swap) || memory.limit == -1) {
        const std::string swap = is_set(memory.swap) ? TRY(swap_alone(memory)) : "max";
        add("memory.swap.max", swap, "memory.swap");
        // A kernel that does not count swap, as one without any, has no file for it.
        writes.back().may_be_absent = swap == "max" || (swap == "0" && !memory.forbids_swap);
    }
    if (is_set(memory.limit)) add("memory.max", bytes_or_max(*memory.limit), "memory.limit");
    if (is_set(memory.reservation))
        add("memory.low", bytes_or_max(*memory.reservation), "memory.reservation");
    return writes;
}

Result<Writes> cpu_writes(const config::CpuResources& cpu) {
    if (is_set(cpu.realtime_period)) return absent_in_v2("cpu.realtimePeriod");
    if (is_set(cpu.realtime_runtime)) return absent_in_v2("cpu.realtimeRuntime");

    Writes writes;
    const auto add = [&](const char* file, const std::string& value, const char* field) -> Write& {
        return writes.emplace_back(Write{.controller = "cpu", .spelling = {file, value}, .field = field});
    };
    // An idle group refuses a weight, so it is woken before and put to sleep after it.
    if (cpu.idle == 0) add("cpu.idle", "0", "cpu.idle").may_be_absent = true;
    if (is_set(cpu.shares) && cpu.idle.value_or(0) == 0) {
        add("cpu.weight", std::to_string(weight_of_shares(*cpu.shares)), "cpu.shares");
    }
    if (is_set(cpu.quota) || is_set(cpu.period)) {
        std::string value = cpu.quota.value_or(0) > 0 ? std::to_string(*cpu.quota) : "max";
        if (is_set(cpu.period)) value += " " + std::to_string(*cpu.period);
        add("cpu.max", value, "cpu.quota");
    }
    if (cpu.burst)
        add("cpu.max.burst", std::to_string(*cpu.burst), "cpu.burst").may_be_absent = *cpu.burst == 0;
    if (is_set(cpu.idle)) add("cpu.idle", std::to_string(*cpu.idle), "cpu.idle");
    return writes;
}

std::string device_prefix(int64_t major, int64_t minor) {
    return std::to_string(major) + ":" + std::to_string(minor) + " ";
}

void add_throttle(Writes& writes, const std::vector<config::ThrottleDevice>& devices, const char* key,
                  const char* field) {
    for (const config::ThrottleDevice& device : devices) {
        const std::string rate = device.rate == 0 ? "max" : std::to_string(device.rate);
        writes.push_back(
            {.controller = "io",
             .spelling = {"io.max", device_prefix(device.major, device.minor) + key + "=" + rate},
             .field = field});
    }
}

// Bfq keeps v1's scale under its own name; iocost has io.weight.
Write weight_write(const std::string& prefix, uint64_t weight, const char* field) {
    return {.controller = "io",
            .spelling = {"io.bfq.weight", prefix + std::to_string(weight)},
            .field = field,
            .otherwise = Spelling{.file = "io.weight",
                                  .value = prefix + std::to_string(io_weight_of_block_io_weight(weight))}};
}

Result<Writes> io_writes(const config::BlockIoResources& block_io) {
    if (is_set(block_io.leaf_weight)) return absent_in_v2("blockIO.leafWeight");
    Writes writes;
    if (is_set(block_io.weight)) writes.push_back(weight_write("", *block_io.weight, "blockIO.weight"));
    for (const config::WeightDevice& device : block_io.weight_devices) {
        if (is_set(device.leaf_weight)) return absent_in_v2("blockIO.weightDevice.leafWeight");
        if (!is_set(device.weight)) continue;
        writes.push_back(
            weight_write(device_prefix(device.major, device.minor), *device.weight, "blockIO.weightDevice"));
    }
    add_throttle(writes, block_io.read_bps, "rbps", "blockIO.throttleReadBpsDevice");
    add_throttle(writes, block_io.write_bps, "wbps", "blockIO.throttleWriteBpsDevice");
    add_throttle(writes, block_io.read_iops, "riops", "blockIO.throttleReadIOPSDevice");
    add_throttle(writes, block_io.write_iops, "wiops", "blockIO.throttleWriteIOPSDevice");
    return writes;
}

bool is_core_limit(const std::string& file) {
    return file == "cgroup.max.depth" || file == "cgroup.max.descendants" || file == "cgroup.pressure";
}

Result<Writes> unified_writes(const config::Resources& resources) {
    Writes writes;
    for (const auto& [file, value] : resources.unified) {
        const size_t dot = file.find('.');
        const std::string field = "unified[\"" + file + "\"]";
        if (file.find('/') != std::string::npos) return invalid(field, "must be a file name, not a path");
        if (dot == std::string::npos || dot == 0)
            return invalid(field, "must begin with a controller and a dot");
        if (file.starts_with("cgroup.") && !is_core_limit(file))
            return invalid(field, "is not a limit: it would move, stop or kill processes");
        // Files such as io.max take one line at a time.
        for (size_t start = 0; start <= value.size();) {
            const size_t end = std::min(value.find('\n', start), value.size());
            const std::string line = value.substr(start, end - start);
            start = end + 1;
            if (line.empty() && !value.empty()) continue;
            writes.push_back({.controller = file.substr(0, dot), .spelling = {file, line}, .field = field});
        }
    }
    return writes;
}

}  // namespace

Result<std::vector<Write>> plan_v2_writes(const config::Resources& resources) {
    if (is_set(resources.network_class_id)) return absent_in_v2("network.classID");
    if (!resources.network_priorities.empty()) return absent_in_v2("network.priorities");
    Writes writes;
    append(writes, plan_cpuset_writes(resources.cpu));
    append(writes, TRY(memory_writes(resources.memory)));
    append(writes, TRY(cpu_writes(resources.cpu)));
    append(writes, plan_pids_writes(resources.pids_limit));
    append(writes, TRY(io_writes(resources.block_io)));
    append(writes, TRY(plan_hugepage_writes(resources.hugepage_limits, ".max")));
    append(writes, TRY(plan_rdma_writes(resources.rdma)));
    // Last, so that a file named here has the final word.
    append(writes, TRY(unified_writes(resources)));
    return writes;
}

}  // namespace rung::cgroup

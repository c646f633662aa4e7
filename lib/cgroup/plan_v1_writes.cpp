// linux.resources as cgroup v1 files; kernel documentation admin-guide/cgroup-v1.
// SPDX-License-Identifier: Apache-2.0
#include "cgroup/plan_writes.hpp"

namespace rung::cgroup {

namespace {

using Writes = std::vector<Write>;

// memory.kernel is not written: Linux 5.16 took that limit away and accepts any value without effect.
Result<Writes> memory_writes(const config::MemoryResources& memory) {
    Writes writes;
    const auto add = [&](const char* file, const std::string& value, const char* field) -> Write& {
        return writes.emplace_back(Write{.controller = "memory", .spelling = {file, value}, .field = field});
    };
    if (is_set(memory.limit)) {
        add("memory.limit_in_bytes", std::to_string(*memory.limit), "memory.limit");
    }
    if (is_set(memory.swap)) {
        add("memory.memsw.limit_in_bytes", std::to_string(*memory.swap), "memory.swap").may_be_absent =
            *memory.swap == -1;
    } else if (memory.limit == -1) {
        // Memory without a limit cannot stay below one for memory and swap together.
        add("memory.memsw.limit_in_bytes", "-1", "memory.swap").may_be_absent = true;
    }
    if (is_set(memory.reservation)) {
        add("memory.soft_limit_in_bytes", std::to_string(*memory.reservation), "memory.reservation");
    }
    if (is_set(memory.kernel_tcp)) {
        add("memory.kmem.tcp.limit_in_bytes", std::to_string(*memory.kernel_tcp), "memory.kernelTCP");
    }
    if (memory.swappiness) {
        if (*memory.swappiness > 100) return invalid("memory.swappiness", "valid range is 0-100");
        add("memory.swappiness", std::to_string(*memory.swappiness), "memory.swappiness");
    }
    if (memory.disable_oom_killer.value_or(false)) {
        add("memory.oom_control", "1", "memory.disableOOMKiller");
    }
    return writes;
}

Result<Writes> cpu_writes(const config::CpuResources& cpu) {
    Writes writes;
    const auto add = [&](const char* file, const std::string& value, const char* field) -> Write& {
        return writes.emplace_back(Write{.controller = "cpu", .spelling = {file, value}, .field = field});
    };
    // An idle group refuses shares, so it is woken before and put to sleep after them.
    if (cpu.idle == 0) add("cpu.idle", "0", "cpu.idle").may_be_absent = true;
    if (is_set(cpu.shares) && cpu.idle.value_or(0) == 0) {
        if (*cpu.shares < 2) return invalid("cpu.shares", "the minimum allowed cpu-shares is 2");
        if (*cpu.shares > 262144) return invalid("cpu.shares", "the maximum allowed cpu-shares is 262144");
        add("cpu.shares", std::to_string(*cpu.shares), "cpu.shares");
    }
    if (is_set(cpu.period)) add("cpu.cfs_period_us", std::to_string(*cpu.period), "cpu.period");
    if (is_set(cpu.quota)) add("cpu.cfs_quota_us", std::to_string(*cpu.quota), "cpu.quota");
    if (cpu.burst)
        add("cpu.cfs_burst_us", std::to_string(*cpu.burst), "cpu.burst").may_be_absent = *cpu.burst == 0;
    if (is_set(cpu.realtime_period)) {
        add("cpu.rt_period_us", std::to_string(*cpu.realtime_period), "cpu.realtimePeriod");
    }
    if (is_set(cpu.realtime_runtime)) {
        add("cpu.rt_runtime_us", std::to_string(*cpu.realtime_runtime), "cpu.realtimeRuntime");
    }
    if (is_set(cpu.idle)) add("cpu.idle", std::to_string(*cpu.idle), "cpu.idle");
    return writes;
}

std::string device_value(int64_t major, int64_t minor, uint64_t value) {
    return std::to_string(major) + ":" + std::to_string(minor) + " " + std::to_string(value);
}

void add_throttle(Writes& writes, const std::vector<config::ThrottleDevice>& devices, const char* file,
                  const char* field) {
    for (const config::ThrottleDevice& device : devices) {
        writes.push_back({.controller = "blkio",
                          .spelling = {file, device_value(device.major, device.minor, device.rate)},
                          .field = field});
    }
}

// The bfq scheduler answers to files of its own name; older schedulers owned the plain ones.
Write weight_write(const char* file, const char* bfq_file, const std::string& value, const char* field) {
    return {.controller = "blkio",
            .spelling = {file, value},
            .field = field,
            .otherwise = Spelling{.file = bfq_file, .value = value}};
}

Writes block_io_writes(const config::BlockIoResources& block_io) {
    Writes writes;
    if (is_set(block_io.weight)) {
        writes.push_back(weight_write("blkio.weight", "blkio.bfq.weight", std::to_string(*block_io.weight),
                                      "blockIO.weight"));
    }
    if (is_set(block_io.leaf_weight)) {
        writes.push_back({.controller = "blkio",
                          .spelling = {"blkio.leaf_weight", std::to_string(*block_io.leaf_weight)},
                          .field = "blockIO.leafWeight"});
    }
    for (const config::WeightDevice& device : block_io.weight_devices) {
        if (is_set(device.weight)) {
            writes.push_back(weight_write("blkio.weight_device", "blkio.bfq.weight_device",
                                          device_value(device.major, device.minor, *device.weight),
                                          "blockIO.weightDevice"));
        }
        if (is_set(device.leaf_weight)) {
            writes.push_back({.controller = "blkio",
                              .spelling = {"blkio.leaf_weight_device",
                                           device_value(device.major, device.minor, *device.leaf_weight)},
                              .field = "blockIO.weightDevice"});
        }
    }
    add_throttle(writes, block_io.read_bps, "blkio.throttle.read_bps_device",
                 "blockIO.throttleReadBpsDevice");
    add_throttle(writes, block_io.write_bps, "blkio.throttle.write_bps_device",
                 "blockIO.throttleWriteBpsDevice");
    add_throttle(writes, block_io.read_iops, "blkio.throttle.read_iops_device",
                 "blockIO.throttleReadIOPSDevice");
    add_throttle(writes, block_io.write_iops, "blkio.throttle.write_iops_device",
                 "blockIO.throttleWriteIOPSDevice");
    return writes;
}

Writes network_writes(const config::Resources& resources) {
    Writes writes;
    if (is_set(resources.network_class_id)) {
        writes.push_back({.controller = "net_cls",
                          .spelling = {"net_cls.classid", std::to_string(*resources.network_class_id)},
                          .field = "network.classID"});
    }
    for (const config::InterfacePriority& priority : resources.network_priorities) {
        writes.push_back(
            {.controller = "net_prio",
             .spelling = {"net_prio.ifpriomap", priority.name + " " + std::to_string(priority.priority)},
             .field = "network.priorities"});
    }
    return writes;
}

}  // namespace

Result<std::vector<Write>> plan_v1_writes(const config::Resources& resources) {
    if (!resources.unified.empty()) {
        return Error{.message = "invalid configuration: cannot use unified on cgroup v1"};
    }
    Writes writes;
    append(writes, plan_cpuset_writes(resources.cpu));
    append(writes, TRY(memory_writes(resources.memory)));
    append(writes, TRY(cpu_writes(resources.cpu)));
    append(writes, plan_pids_writes(resources.pids_limit));
    append(writes, block_io_writes(resources.block_io));
    append(writes, TRY(plan_hugepage_writes(resources.hugepage_limits, ".limit_in_bytes")));
    append(writes, network_writes(resources));
    append(writes, TRY(plan_rdma_writes(resources.rdma)));
    return writes;
}

}  // namespace rung::cgroup

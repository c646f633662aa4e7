// Names and order are runc's, and so is what is left out when it is zero or empty.
// SPDX-License-Identifier: Apache-2.0
#include "stats_json.hpp"

#include <array>
#include <nlohmann/json.hpp>
#include <utility>

namespace rung::cli {

namespace {

using Json = nlohmann::ordered_json;

void set_unless_zero(Json& object, const char* name, uint64_t value) {
    if (value != 0) object[name] = value;
}

template <typename List>
void set_unless_empty(Json& object, const char* name, const List& list) {
    if (!list.empty()) object[name] = list;
}

Json to_value(const cgroup::Pressure& pressure) {
    return {{"avg10", pressure.avg10},
            {"avg60", pressure.avg60},
            {"avg300", pressure.avg300},
            {"total", pressure.total}};
}

void set_pressure(Json& object, const std::optional<cgroup::Pressures>& pressure) {
    if (pressure) object["psi"] = {{"some", to_value(pressure->some)}, {"full", to_value(pressure->full)}};
}

Json to_value(const cgroup::CpuStats& cpu) {
    Json usage = Json::object();
    set_unless_zero(usage, "total", cpu.total);
    set_unless_empty(usage, "percpu", cpu.per_cpu);
    set_unless_empty(usage, "percpu_kernel", cpu.per_cpu_kernel);
    set_unless_empty(usage, "percpu_user", cpu.per_cpu_user);
    usage["kernel"] = cpu.kernel;
    usage["user"] = cpu.user;
    Json throttling = Json::object();
    set_unless_zero(throttling, "periods", cpu.periods);
    set_unless_zero(throttling, "throttledPeriods", cpu.throttled_periods);
    set_unless_zero(throttling, "throttledTime", cpu.throttled_time);
    Json value = {{"usage", std::move(usage)}, {"throttling", std::move(throttling)}};
    set_pressure(value, cpu.pressure);
    return value;
}

Json to_value(const cgroup::CpusetStats& cpuset) {
    Json value = Json::object();
    const auto set = [&](const char* name) {
        const auto found = cpuset.settings.find(name);
        value[name] = found == cpuset.settings.end() ? 0 : found->second;
    };
    set_unless_empty(value, "cpus", cpuset.cpus);
    set("cpu_exclusive");
    set_unless_empty(value, "mems", cpuset.mems);
    for (const char* name :
         {"mem_hardwall", "mem_exclusive", "memory_migrate", "memory_spread_page", "memory_spread_slab",
          "memory_pressure", "sched_load_balance", "sched_relax_domain_level"})
        set(name);
    return value;
}

Json to_value(const cgroup::Usage& usage) {
    Json value = {{"limit", usage.limit}};
    set_unless_zero(value, "usage", usage.usage);
    set_unless_zero(value, "max", usage.most);
    value["failcnt"] = usage.failures;
    return value;
}

Json to_value(const cgroup::MemoryStats& memory) {
    Json value = Json::object();
    set_unless_zero(value, "cache", memory.cache);
    value["usage"] = to_value(memory.memory);
    value["swap"] = to_value(memory.with_swap);
    value["kernel"] = to_value(memory.kernel);
    value["kernelTCP"] = to_value(memory.kernel_tcp);
    set_unless_empty(value, "raw", memory.raw);
    set_pressure(value, memory.pressure);
    return value;
}

Json to_value(const cgroup::PidsStats& pids) {
    Json value = Json::object();
    set_unless_zero(value, "current", pids.current);
    set_unless_zero(value, "limit", pids.limit);
    return value;
}

Json to_value(const cgroup::IoEntry& entry) {
    Json value = Json::object();
    set_unless_zero(value, "major", entry.major);
    set_unless_zero(value, "minor", entry.minor);
    if (!entry.operation.empty()) value["op"] = entry.operation;
    set_unless_zero(value, "value", entry.value);
    return value;
}

Json to_value(const cgroup::IoStats& io) {
    constexpr std::array<std::pair<const char*, const char*>, 8> kNames = {
        {{"io_service_bytes", "ioServiceBytesRecursive"},
         {"io_serviced", "ioServicedRecursive"},
         {"io_queued", "ioQueueRecursive"},
         {"io_service_time", "ioServiceTimeRecursive"},
         {"io_wait_time", "ioWaitTimeRecursive"},
         {"io_merged", "ioMergedRecursive"},
         {"time", "ioTimeRecursive"},
         {"sectors", "sectorsRecursive"}}};
    Json value = Json::object();
    for (const auto& [table, name] : kNames) {
        const auto found = io.by_name.find(table);
        if (found == io.by_name.end()) continue;
        Json entries = Json::array();
        for (const cgroup::IoEntry& entry : found->second)
            entries.push_back(to_value(entry));
        set_unless_empty(value, name, entries);
    }
    set_pressure(value, io.pressure);
    return value;
}

Json to_value(const std::map<std::string, cgroup::Usage>& hugepages) {
    Json value = Json::object();
    for (const auto& [size, usage] : hugepages) {
        Json entry = Json::object();
        set_unless_zero(entry, "usage", usage.usage);
        set_unless_zero(entry, "max", usage.most);
        entry["failcnt"] = usage.failures;
        value[size] = std::move(entry);
    }
    return value;
}

}  // namespace

std::string stats_event(const std::string& id, const cgroup::Stats& stats) {
    const Json data = {{"cpu", to_value(stats.cpu)},       {"cpuset", to_value(stats.cpuset)},
                       {"memory", to_value(stats.memory)}, {"pids", to_value(stats.pids)},
                       {"blkio", to_value(stats.io)},      {"hugetlb", to_value(stats.hugepages)},
                       {"intel_rdt", Json::object()},      {"network_interfaces", nullptr}};
    return Json{{"type", "stats"}, {"id", id}, {"data", data}}.dump();
}

std::string oom_event(const std::string& id) {
    return Json{{"type", "oom"}, {"id", id}}.dump();
}

}  // namespace rung::cli

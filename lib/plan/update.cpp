// Only limits that the grant has are looked at; the others are the engine's to set.
// SPDX-License-Identifier: Apache-2.0
#include "plan/update.hpp"

#include <string>
#include <string_view>

namespace rung::plan {
namespace {

using config::Resources;

Error exceeds(std::string_view field, const std::string& what) {
    return Error{.message = "exceeds_grant: " + std::string{field} + ": " + what, .reason = "exceeds_grant"};
}

bool is_named(const std::optional<int64_t>& value) {
    return value.value_or(0) != 0;
}

std::string text_of(int64_t limit) {
    return limit < 0 ? "no limit" : std::to_string(limit);
}

// A cgroup v2 file by its own name would be written after the limit and replace it.
Status check_unified(const Resources& asked, std::string_view field, std::string_view file) {
    const std::string name{file};
    if (!asked.unified.contains(name)) return {};
    return exceeds(field, "unified[\"" + name + "\"] is not allowed where the grant limits it");
}

Status check_memory(Resources& asked, uint64_t most) {
    TRY(check_unified(asked, "limits.memory", "memory.max"));
    TRY(check_unified(asked, "limits.memory", "memory.swap.max"));
    config::MemoryResources& memory = asked.memory;
    const std::string allowed = "the grant allows " + std::to_string(most) + " bytes, without swap";
    if (is_named(memory.limit) && (*memory.limit < 0 || static_cast<uint64_t>(*memory.limit) > most))
        return exceeds("limits.memory", "memory.limit asks for " + text_of(*memory.limit) + ", " + allowed);
    // Memory and swap together: more than the memory is swap.
    if (is_named(memory.swap) && (*memory.swap < 0 || *memory.swap > memory.limit.value_or(0)))
        return exceeds("limits.memory", "memory.swap asks for " + text_of(*memory.swap) + ", " + allowed);
    if (is_named(memory.limit)) memory.swap = memory.limit;
    memory.forbids_swap = is_named(memory.limit);
    return {};
}

Status check_cpu(Resources& asked, uint64_t milli, const config::CpuResources& current) {
    TRY(check_unified(asked, "limits.cpu", "cpu.max"));
    TRY(check_unified(asked, "limits.cpu", "cpu.max.burst"));
    config::CpuResources& cpu = asked.cpu;
    if (cpu.burst.value_or(0) != 0)
        return exceeds("limits.cpu", "cpu.burst lets the container exceed what the grant allows");
    if (!is_named(cpu.quota) && cpu.period.value_or(0) == 0) return {};
    if (!is_named(cpu.quota)) cpu.quota = current.quota;
    if (cpu.period.value_or(0) == 0) cpu.period = current.period;
    const int64_t quota = cpu.quota.value_or(-1);
    const uint64_t period = cpu.period.value_or(0);
    const bool fits = quota > 0 && static_cast<double>(quota) * 1000 <=
                                       static_cast<double>(milli) * static_cast<double>(period);
    if (fits) return {};
    return exceeds("limits.cpu", "a quota of " + text_of(quota) + " of " + std::to_string(period) +
                                     " us is asked for, the grant allows " + std::to_string(milli) + "m");
}

Status check_pids(const Resources& asked, uint64_t most) {
    TRY(check_unified(asked, "limits.pids", "pids.max"));
    if (!asked.pids_limit) return {};
    if (*asked.pids_limit >= 0 && static_cast<uint64_t>(*asked.pids_limit) <= most) return {};
    return exceeds("limits.pids", "pids.limit asks for " + text_of(*asked.pids_limit) +
                                      ", the grant allows " + std::to_string(most));
}

}  // namespace

Result<Resources> within_limits(const grant::Limits& limits, const Resources& asked,
                                const config::CpuResources& current) {
    Resources allowed = asked;
    if (asked.memory.disable_oom_killer.value_or(false)) {
        return exceeds("linux.resources.memory.disableOOMKiller",
                       "a task under a grant that is out of memory ends instead of hanging");
    }
    if (limits.memory) TRY(check_memory(allowed, *limits.memory));
    if (limits.cpu_milli) TRY(check_cpu(allowed, *limits.cpu_milli, current));
    if (limits.pids) TRY(check_pids(allowed, *limits.pids));
    return allowed;
}

}  // namespace rung::plan

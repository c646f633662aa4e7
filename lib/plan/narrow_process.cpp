// Capabilities, no_new_privs and open files: for the container's first process and for every exec alike.
// SPDX-License-Identifier: Apache-2.0
#include <linux/capability.h>
#include <sched.h>
#include <sys/resource.h>

#include <algorithm>

#include "config/capability.hpp"
#include "plan/make.hpp"
#include "plan/narrow.hpp"

namespace rung::plan {
namespace {

using config::Capabilities;
using config::Process;

constexpr uint32_t kSchedDeadline = 6;  // SCHED_DEADLINE, which libc does not name

constexpr uint64_t bit(int capability) {
    return uint64_t{1} << capability;
}

// With any of these a process could undo what the grant enforces: move out of its network, unmount its masks, open files by handle, load code
// into the kernel or write to its memory, raise its limits, look into a process on its way in, or run in a class that no CPU quota binds.
constexpr uint64_t kNeverInside =
    bit(CAP_NET_ADMIN) | bit(CAP_NET_RAW) | bit(CAP_SYS_ADMIN) | bit(CAP_SYS_MODULE) | bit(CAP_SYS_RAWIO) |
    bit(CAP_DAC_READ_SEARCH) | bit(CAP_BPF) | bit(CAP_SYS_RESOURCE) | bit(CAP_SYS_NICE) | bit(CAP_SYS_PTRACE);

uint64_t any_set(const Capabilities& sets) {
    return sets.bounding | sets.effective | sets.permitted | sets.inheritable | sets.ambient;
}

Capabilities intersect(Capabilities sets, uint64_t allowed) {
    sets.bounding &= allowed;
    sets.effective &= allowed;
    sets.permitted &= allowed;
    sets.inheritable &= allowed;
    sets.ambient &= allowed;
    return sets;
}

std::string names_of(uint64_t set) {
    return list_text(config::capability_names(set));
}

void narrow_capabilities(Process& process, const grant::Grant& grant, std::vector<Narrowing>& narrowings) {
    if (!process.capabilities) return;
    const uint64_t asked = any_set(*process.capabilities);
    const uint64_t granted = grant.capabilities.value_or(0);
    const uint64_t met = asked & granted;
    if (met != asked) {
        narrowings.push_back({.field = "process.capabilities",
                              .asked = names_of(asked),
                              .effective = names_of(met),
                              .layer = "grant",
                              .reason = !grant.capabilities
                                            ? "the grant says nothing of capabilities, and absent means none"
                                        : granted == 0 ? "the grant's capabilities are empty"
                                                       : "only what the grant lists as well"});
    }
    const uint64_t effective = met & ~kNeverInside;
    if (effective != met) {
        narrowings.push_back({.field = "process.capabilities",
                              .asked = names_of(met),
                              .effective = names_of(effective),
                              .layer = "builtin",
                              .reason = "with " + names_of(met & kNeverInside) +
                                        " a process could undo what the grant enforces"});
    }
    process.capabilities = intersect(*process.capabilities, effective);
}

void narrow_open_files(Process& process, uint64_t limit, std::vector<Narrowing>& narrowings) {
    const auto existing =
        std::find_if(process.rlimits.begin(), process.rlimits.end(),
                     [](const config::Rlimit& each) { return each.resource == RLIMIT_NOFILE; });
    std::string asked = "the caller's";
    if (existing == process.rlimits.end()) {
        process.rlimits.push_back({.resource = RLIMIT_NOFILE, .soft = limit, .hard = limit});
    } else {
        if (existing->soft <= limit && existing->hard <= limit) return;
        asked = std::to_string(existing->soft) + " soft, " + std::to_string(existing->hard) + " hard";
        existing->soft = std::min(existing->soft, limit);
        existing->hard = std::min(existing->hard, limit);
    }
    narrowings.push_back({.field = "process.rlimits[RLIMIT_NOFILE]",
                          .asked = asked,
                          .effective = std::to_string(limit),
                          .layer = "grant",
                          .reason = "limits.openFiles"});
}

// sched(7): a CPU quota does not bind the real-time classes.
void drop_realtime_class(Process& process, std::vector<Narrowing>& narrowings) {
    if (!process.scheduler) return;
    const uint32_t policy = process.scheduler->policy;
    if (policy != SCHED_FIFO && policy != SCHED_RR && policy != kSchedDeadline) return;
    process.scheduler.reset();
    narrowings.push_back({.field = "process.scheduler",
                          .asked = "a real-time class",
                          .effective = "the usual one",
                          .layer = "builtin",
                          .reason = "no CPU limit binds the real-time classes"});
}

}  // namespace

std::vector<Narrowing> narrow_privileges(Process& process, const grant::Grant& grant) {
    std::vector<Narrowing> narrowings;
    narrow_capabilities(process, grant, narrowings);
    if (!process.no_new_privileges) {
        process.no_new_privileges = true;
        narrowings.push_back(
            {.field = "process.noNewPrivileges",
             .asked = "false",
             .effective = "true",
             .layer = "builtin",
             .reason = "no setuid program or file capability may add a privilege under a grant"});
    }
    drop_realtime_class(process, narrowings);
    if (grant.limits.open_files) narrow_open_files(process, *grant.limits.open_files, narrowings);
    return narrowings;
}

Process narrow_process(const SandboxPlan& plan, const std::optional<grant::Grant>& grant,
                       const Process& process) {
    Process narrowed = process;
    if (!plan.granted || !grant) return narrowed;
    // The plan's own sets are config.json met with the grant: one more process has no more than the first.
    if (narrowed.capabilities) {
        const Capabilities first = plan.spec.process.capabilities.value_or(Capabilities{});
        narrowed.capabilities = intersect(*narrowed.capabilities, any_set(first));
    }
    narrow_privileges(narrowed, *grant);
    return narrowed;
}

}  // namespace rung::plan

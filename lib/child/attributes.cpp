// Attributes of the process and its namespaces: names, sysctls, limits, scheduling.
// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <linux/openat2.h>
#include <linux/sched/types.h>
#include <sys/personality.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "child/context.hpp"
#include "child/procfs.hpp"
#include "kernel/syscalls.hpp"

namespace rung::child {
namespace {

constexpr size_t kCpuWords = 128;  // NR_CPUS of any kernel is 8192 at most

}  // namespace

Outcome perform(Context&, const SetHostname& step) {
    return failed(kernel::checked(sethostname(step.name.data(), step.name.size())));
}

Outcome perform(Context&, const SetDomainname& step) {
    return failed(kernel::checked(setdomainname(step.name.data(), step.name.size())));
}

Outcome perform(Context& context, const WriteSysctl& step) {
    const int procfs = private_procfs(context);
    if (procfs < 0) return failed(procfs);
    const int directory = kernel::checked(openat(procfs, "sys", O_PATH | O_DIRECTORY | O_CLOEXEC));
    if (directory < 0) return failed(directory);
    open_how how{};
    how.flags = O_WRONLY | O_CLOEXEC;
    how.resolve = RESOLVE_BENEATH | RESOLVE_NO_XDEV | RESOLVE_NO_MAGICLINKS | RESOLVE_NO_SYMLINKS;
    const int file = kernel::openat2(directory, step.key.c_str(), how);
    (void)close(directory);
    if (file < 0) return failed(file);
    const int result = kernel::checked(write(file, step.value.data(), step.value.size()));
    (void)close(file);
    return result < 0 ? failed(result) : done();
}

Outcome perform(Context&, const SetRlimit& step) {
    rlimit limit{};
    limit.rlim_cur = step.limit.soft;
    limit.rlim_max = step.limit.hard;
    return failed(kernel::checked(setrlimit(static_cast<__rlimit_resource_t>(step.limit.resource), &limit)));
}

Outcome perform(Context&, const SetCpuAffinity& step) {
    // As many CPUs as a mask of a kernel may have; those that the cgroup does not allow, the kernel leaves out.
    if (step.cpus.empty()) {
        uint64_t every[kCpuWords];
        memset(every, 0xff, sizeof every);
        // Where it is refused the mask stays as the caller had it, and the process is none the worse for it.
        (void)kernel::sched_setaffinity(0, sizeof every, every);
        return done();
    }
    return failed(
        kernel::sched_setaffinity(0, step.cpus.size() * sizeof step.cpus.front(), step.cpus.data()));
}

Outcome perform(Context&, const SetMemoryPolicy& step) {
    // The kernel takes one bit less than the number it is given for.
    const auto& nodes = step.policy.nodes;
    const unsigned long bits = nodes.empty() ? 0 : nodes.size() * 64 + 1;
    return failed(kernel::set_mempolicy(step.policy.mode, nodes.empty() ? nullptr : nodes.data(), bits));
}

Outcome perform(Context&, const SetScheduler& step) {
    sched_attr attributes{};
    attributes.size = sizeof attributes;
    attributes.sched_policy = step.scheduler.policy;
    attributes.sched_flags = step.scheduler.flags;
    attributes.sched_nice = step.scheduler.nice;
    attributes.sched_priority = step.scheduler.priority;
    attributes.sched_runtime = step.scheduler.runtime;
    attributes.sched_deadline = step.scheduler.deadline;
    attributes.sched_period = step.scheduler.period;
    return failed(kernel::sched_setattr(0, &attributes, 0));
}

Outcome perform(Context&, const SetIoPriority& step) {
    constexpr int kWhoProcess = 1;   // IOPRIO_WHO_PROCESS
    constexpr int kClassShift = 13;  // IOPRIO_PRIO_VALUE, ioprio_set(2)
    return failed(
        kernel::ioprio_set(kWhoProcess, 0, (step.priority.io_class << kClassShift) | step.priority.priority));
}

Outcome perform(Context&, const SetPersonality& step) {
    const int result = kernel::checked(personality(step.persona));
    return result < 0 ? failed(result) : done();
}

}  // namespace rung::child

// Entering namespaces and cgroups.
// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <net/if.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "child/context.hpp"
#include "child/procfs.hpp"
#include "kernel/syscalls.hpp"

namespace rung::child {

Outcome perform(Context&, const UnshareNamespaces& step) {
    return failed(kernel::unshare(static_cast<unsigned int>(step.flags)));
}

Outcome perform(Context&, const MakeTimeNamespace& step) {
    if (const int result = kernel::unshare(CLONE_NEWTIME); result < 0) return failed(result);
    if (step.offsets.empty()) return done();
    // What is here still sees the host's /proc.
    const int file = kernel::checked(open("/proc/self/timens_offsets", O_WRONLY | O_CLOEXEC));
    if (file < 0) return failed(file);
    const int result = kernel::checked(write(file, step.offsets.data(), step.offsets.size()));
    (void)close(file);
    return failed(result);
}

Outcome perform(Context& context, const JoinNamespace& step) {
    int& slot = context.descriptors.slots[static_cast<size_t>(step.slot)];
    // A user namespace may deny setgroups(2), and the caller's groups would then stay with the container. An ordinary user may not drop them.
    if ((step.flag & CLONE_NEWUSER) != 0) (void)kernel::setgroups(0, nullptr);
    const int result = kernel::setns(slot, step.flag);
    // A way to a namespace, or to a process, of the host is not taken along.
    (void)close(slot);
    slot = -1;
    return failed(result);
}

Outcome perform(Context& context, const KeepNetworkNamespace& step) {
    const int procfs = private_procfs(context);
    if (procfs < 0) return failed(procfs);
    const int kept = kernel::checked(openat(procfs, "thread-self/ns/net", O_RDONLY | O_CLOEXEC));
    if (kept < 0) return failed(kept);
    context.descriptors.slots[static_cast<size_t>(step.kept)] = kept;
    return done();
}

Outcome perform(Context&, const BecomeDumpable&) {
    return failed(kernel::checked(prctl(PR_SET_DUMPABLE, 1, 0, 0, 0)));
}

Outcome perform(Context&, const BecomeNamespaceRoot& step) {
    // user_namespaces(7): until the maps give us an id here we are nobody, and what we make would belong to nobody.
    if (const int result = kernel::setresgid(step.gid, step.gid, step.gid); result < 0) return failed(result);
    if (const int result = kernel::setresuid(step.uid, step.uid, step.uid); result < 0) return failed(result);
    // After a change of ids it is what the sysctl fs.suid_dumpable says, proc(5).
    (void)prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
    if (step.keep_groups) return done();
    const int result = kernel::setgroups(0, nullptr);
    // "deny" in /proc/self/setgroups (CVE-2014-8989): there are no groups to drop that we could drop.
    if (result < 0 && result != -EPERM) return failed(result);
    return done();
}

Outcome perform(Context&, const BringUpLoopback&) {
    const int socket_fd = kernel::checked(socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
    if (socket_fd < 0) return failed(socket_fd);
    ifreq request{};
    memcpy(request.ifr_name, "lo", sizeof "lo");
    request.ifr_flags = IFF_UP | IFF_RUNNING;
    const int result = kernel::checked(ioctl(socket_fd, SIOCSIFFLAGS, &request));
    (void)close(socket_fd);
    return failed(result < 0 ? result : 0);
}

Outcome perform(Context& context, const JoinCgroups&) {
    for (int index = 0; index < context.cgroup_join_count; ++index) {
        // "0" is the writer itself: naming another task's pid would wait for a grace period of the whole machine.
        const int file = context.cgroup_joins[index];
        const int result = kernel::checked(write(file, "0", 1));
        if (result < 0) return failed(result, Detail::cgroup_join);
        (void)close(file);
    }
    context.cgroup_join_count = 0;
    return done();
}

}  // namespace rung::child

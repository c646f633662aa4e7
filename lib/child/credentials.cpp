// Privileges: capabilities, ids, keyring, no_new_privs, seccomp.
// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <linux/keyctl.h>
#include <linux/openat2.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "child/context.hpp"
#include "child/procfs.hpp"
#include "kernel/syscalls.hpp"

namespace rung::child {
namespace {

constexpr int kMaxCapability = 63;
constexpr int kCapSetgid = 6;
constexpr uint32_t kDefaultUmask = 0022;

bool contains(uint64_t set, int capability) {
    return (set >> capability & 1) != 0;
}

uint32_t low(uint64_t set) {
    return static_cast<uint32_t>(set);
}
uint32_t high(uint64_t set) {
    return static_cast<uint32_t>(set >> 32);
}

// What is permitted now: a set may hold no more, and what rung itself lacks is passed over as runc does (runc#2853).
uint64_t permitted_now() {
    __user_cap_header_struct header{.version = _LINUX_CAPABILITY_VERSION_3, .pid = 0};
    __user_cap_data_struct data[2] = {};
    if (kernel::capget(header, data) < 0) return 0;
    return static_cast<uint64_t>(data[1].permitted) << 32 | data[0].permitted;
}

uint64_t effective_now() {
    __user_cap_header_struct header{.version = _LINUX_CAPABILITY_VERSION_3, .pid = 0};
    __user_cap_data_struct data[2] = {};
    if (kernel::capget(header, data) < 0) return 0;
    return static_cast<uint64_t>(data[1].effective) << 32 | data[0].effective;
}

// Refused in spite of the capability: the user namespace denies it for ever. Those of root were dropped before it was joined (CVE-2014-8989).
int set_groups(Context& context, const SetUser& step) {
    const std::vector<uint32_t>& groups = step.user.additional_gids;
    const int result = kernel::setgroups(groups.size(), groups.data());
    if (result != -EPERM || !contains(effective_now(), kCapSetgid)) return result;
    if (groups.empty()) return 0;
    if (!step.groups_may_be_denied) return result;
    warn(context, {.error = -result, .detail = Detail::groups_denied});
    return 0;
}

void raise_ambient(Context& context, uint64_t ambient) {
    for (int capability = 0; capability <= kMaxCapability; ++capability) {
        if (!contains(ambient, capability)) continue;
        // Needs it permitted and inheritable (youki#3293).
        if (prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_RAISE, capability, 0, 0) < 0) {
            warn(context, {.error = errno, .detail = Detail::capability_raise, .value = capability});
        }
    }
}

}  // namespace

Outcome perform(Context&, const DropBounding& step) {
    for (int capability = 0; capability <= kMaxCapability; ++capability) {
        if (contains(step.keep, capability)) continue;
        const int result = kernel::checked(prctl(PR_CAPBSET_DROP, capability, 0, 0, 0));
        if (result == -EINVAL) break;  // past the last capability that this kernel knows
        if (result < 0) return failed(result);
    }
    return done();
}

Outcome perform(Context& context, const SetUser& step) {
    // Across setresuid the permitted set would be lost; SetCapabilities, which comes next, needs it.
    (void)prctl(PR_SET_KEEPCAPS, 1, 0, 0, 0);
    if (step.setgroups) {
        if (const int result = set_groups(context, step); result < 0) return failed(result);
    }
    if (const int result = kernel::setresgid(step.user.gid, step.user.gid, step.user.gid); result < 0) {
        return failed(result);
    }
    if (const int result = kernel::setresuid(step.user.uid, step.user.uid, step.user.uid); result < 0) {
        return failed(result);
    }
    (void)prctl(PR_SET_KEEPCAPS, 0, 0, 0, 0);
    (void)prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);  // fs.suid_dumpable may have made it 1
    umask(step.user.umask.value_or(kDefaultUmask));
    return done();
}

Outcome perform(Context& context, const SetCapabilities& step) {
    const uint64_t grantable = permitted_now();
    const uint64_t permitted = step.sets.permitted & grantable;
    const uint64_t effective = step.sets.effective & permitted;
    const uint64_t inheritable = step.sets.inheritable & grantable;
    __user_cap_header_struct header{.version = _LINUX_CAPABILITY_VERSION_3, .pid = 0};
    const __user_cap_data_struct data[2] = {
        {.effective = low(effective), .permitted = low(permitted), .inheritable = low(inheritable)},
        {.effective = high(effective), .permitted = high(permitted), .inheritable = high(inheritable)}};
    // The ambient set of the caller goes first: what is inheritable no more leaves it by itself, the rest would stay.
    (void)prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
    if (const int result = kernel::capset(header, data); result < 0) return failed(result);
    raise_ambient(context, step.sets.ambient);
    return done();
}

Outcome perform(Context& context, const NewKeyring& step) {
    const int keyring =
        kernel::keyctl(KEYCTL_JOIN_SESSION_KEYRING, reinterpret_cast<unsigned long>(step.name.c_str()), 0, 0);
    if (keyring >= 0) {
        // As runc: processes of the same user may search it without possessing it. On top of what a new keyring has:
        // everything for its possessor; view, read and link for its user.
        constexpr unsigned long kWithSearch = 0x3f1b0000;
        (void)kernel::keyctl(KEYCTL_SETPERM, static_cast<unsigned long>(keyring), kWithSearch,
                             0);  // it is a convenience
        return done();
    }
    // A kernel or an outer sandbox without keyrings has none to protect either (runc#726).
    if (keyring == -ENOSYS || keyring == -EPERM || keyring == -EACCES) {
        warn(context, failed(keyring));
        return done();
    }
    return failed(keyring);
}

Outcome perform(Context& context, const SetExecLabel& step) {
    const int procfs = private_procfs(context);
    if (procfs < 0) return failed(procfs);
    const int attributes =
        kernel::checked(openat(procfs, "thread-self/attr", O_PATH | O_DIRECTORY | O_CLOEXEC));
    if (attributes < 0) return failed(attributes);
    open_how how{};
    how.flags = O_WRONLY | O_CLOEXEC;
    how.resolve = RESOLVE_BENEATH | RESOLVE_NO_XDEV | RESOLVE_NO_SYMLINKS;
    int file = kernel::openat2(attributes, step.file.c_str(), how);
    if (file == -ENOENT && !step.otherwise.empty())
        file = kernel::openat2(attributes, step.otherwise.c_str(), how);
    (void)close(attributes);
    if (file < 0) return failed(file);
    const int result = kernel::checked(write(file, step.value.data(), step.value.size()));
    (void)close(file);
    return failed(result);
}

Outcome perform(Context&, const SetNoNewPrivs&) {
    return failed(kernel::checked(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)));
}

Outcome perform(Context& context, const LoadSeccomp& step) {
    const Filter& filter = context.program.filters[static_cast<size_t>(step.filter)];
    if (filter.instructions.empty()) return done();
    sock_fprog program{};
    program.len = static_cast<unsigned short>(filter.instructions.size());
    program.filter = const_cast<sock_filter*>(filter.instructions.data());
    const bool listens = step.listener != Listener::none;
    const unsigned int flags = filter.flags | (listens ? SECCOMP_FILTER_FLAG_NEW_LISTENER : 0U);
    const int result = kernel::seccomp(SECCOMP_SET_MODE_FILTER, flags, &program);
    return result < 0 || !listens ? failed(result) : hand_over_listener(context, result, step.listener);
}

}  // namespace rung::child

// Mounts that come into a running container, or leave it: a process enters its mount namespace, does just that, and ends.
// SPDX-License-Identifier: Apache-2.0
#include <sched.h>

#include "base/path.hpp"
#include "plan/draft.hpp"

namespace rung::plan {
namespace {

Status check_changeable(const Draft& draft) {
    for (const config::Mount& mount : draft.plan.spec.mounts) {
        const std::string place = path::clean(mount.destination);
        const bool has_place_of_its_own = place != "/" && mount.type != "cgroup" && mount.type != "cgroup2";
        if (has_place_of_its_own) continue;
        return Error{.message = "mounts[" + place + "]: cannot be changed while the container runs"};
    }
    return {};
}

}  // namespace

Result<Lowered> lower_mount_change(const SandboxPlan& plan, const kernel::HostFacts& host,
                                   const MountChangeOptions& options) {
    if ((options.namespaces & CLONE_NEWNS) == 0)
        return Error{.message = "the container has no mount namespace of its own"};
    // What an unprivileged process binds it has to look for inside, where its source does not exist.
    if (!host.may_clone_mounts)
        return Error{.message = "only root can change the mounts of a running container"};
    const cgroup::Cgroup no_cgroup;
    const LowerOptions lower_options{.bundle = options.bundle, .rootfs = options.rootfs};
    Draft draft{.plan = plan, .cgroup = no_cgroup, .host = host, .options = lower_options};
    TRY(check_changeable(draft));

    const child::Slot init = draft.new_slot();  // a pidfd
    draft.add(child::JoinNamespace{init, options.namespaces & (CLONE_NEWUSER | CLONE_NEWNS)});
    if ((options.namespaces & CLONE_NEWUSER) != 0)
        draft.add(namespace_root(plan, plan.spec.process.user, host));
    draft.add(child::OpenRootfs{"/"});
    if (options.change == MountChange::add) {
        TRY(add_mounts(draft));
    } else {
        for (const config::Mount& mount : plan.spec.mounts)
            draft.add(child::Unmount{mount.destination});
    }
    draft.add(child::AwaitStart{});
    return std::move(draft.lowered);
}

}  // namespace rung::plan

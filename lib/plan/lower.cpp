// The order of a container's making, from clone3 to execve. Each part is in the file named after it.
// SPDX-License-Identifier: Apache-2.0
#include "plan/lower.hpp"

#include <sched.h>

#include "config/sysctl.hpp"
#include "plan/draft.hpp"

namespace rung::plan {
namespace {

child::NewKeyring keyring(const std::string& id) {
    return {"_ses." + id};
}

void open_terminal(std::vector<child::Step>& steps, const config::Process& process, bool mount_console) {
    if (!process.terminal) return;
    steps.emplace_back(child::OpenTerminal{.size = process.console_size.value_or(config::ConsoleSize{}),
                                           .uid = process.user.uid,
                                           .mount_console = mount_console});
}

// Names and kernel settings of the namespaces, while CAP_SYS_ADMIN is still held.
void set_kernel_names(Draft& draft) {
    const config::Spec& spec = draft.plan.spec;
    if (!spec.hostname.empty()) draft.add(child::SetHostname{spec.hostname});
    if (!spec.domainname.empty()) draft.add(child::SetDomainname{spec.domainname});
    for (const auto& [key, value] : spec.linux_.sysctl)
        draft.add(child::WriteSysctl{config::sysctl_path(key), value});
    if (draft.plan.memfd_noexec) draft.add(child::WriteSysctl{"vm/memfd_noexec", "2"});
}

}  // namespace

Result<Lowered> lower(const SandboxPlan& plan, const cgroup::Cgroup& cgroup, const kernel::HostFacts& host,
                      const LowerOptions& options) {
    Draft draft{.plan = plan, .cgroup = cgroup, .host = host, .options = options};
    const config::Process& process = plan.spec.process;

    const std::optional<NetworkSlots> networks = enter_namespaces(draft);
    TRY(check_users(draft));
    TRY(check_labels(process, host));
    if (plan.spec.linux_.intel_rdt && host.resctrl.empty()) {
        return Error{.message =
                         "linux.intelRdt: intelRdt is specified in config, but Intel RDT is not enabled"};
    }
    if (!plan.spec.linux_.mount_label.empty() && !host.selinux) {
        return Error{.message = "linux.mountLabel: SELinux is not enabled on this host"};
    }
    if (options.new_keyring) draft.add(keyring(options.id));
    TRY(build_root(draft, networks));
    // From here on "/" is the container's and the host's mounts are gone. Created while root may still write to its own root.
    draft.add(child::ChangeDirectory{.path = process.cwd, .create = true});
    draft.add(child::NewSession{});
    open_terminal(draft.lowered.program.steps, process,
                  plan.spec.has_namespace(config::NamespaceType::mount));
    set_kernel_names(draft);
    TRY(make_filled_mounts_read_only(draft));
    protect_paths(draft);

    add_process_tail(draft.lowered, plan,
                     {.process = process,
                      .preserve_fds = options.preserve_fds,
                      .setgroups = !draft.lowered.denies_setgroups && !keeps_groups(plan),
                      .caller_is_root = host.effective_uid == 0,
                      .owner_may_look = draft.lowered.maps_users && host.effective_uid != 0,
                      .start_container_hooks = plan.spec.hooks.start_container,
                      .listener = listener_of(plan, host),
                      .in_user_namespace = plan.spec.has_namespace(config::NamespaceType::user)});
    return std::move(draft.lowered);
}

namespace {

// A pid namespace takes in the children of whoever joins it, and joining takes a right over its user namespace: the caller's, or, for a caller
// without any, that of a process which joined the user namespace first.
void join_namespaces(Lowered& lowered, const SandboxPlan& plan, const config::Process& process,
                     const kernel::HostFacts& host, int namespaces) {
    std::vector<child::Step>& steps = lowered.program.steps;
    constexpr int kUserAndPid = CLONE_NEWUSER | CLONE_NEWPID;
    const bool staged = host.effective_uid != 0 && (namespaces & kUserAndPid) == kUserAndPid;
    const child::BecomeNamespaceRoot root = namespace_root(plan, process.user, host);
    if (staged) {
        const child::Slot first = lowered.slot_count++;
        lowered.first =
            child::Program{.steps = {child::JoinNamespace{.slot = first, .flag = kUserAndPid}, root}};
        namespaces &= ~kUserAndPid;
    } else if ((namespaces & CLONE_NEWPID) != 0 && (namespaces & CLONE_NEWUSER) == 0) {
        // A process of the container with CAP_SYS_PTRACE looks into whatever is in its pid namespace: when ours comes to be there it has
        // neither the host's root nor the caller's descriptors. From a user namespace of its own nobody has that right over it.
        const int both = namespaces & (CLONE_NEWNS | CLONE_NEWPID);
        const child::Slot first = lowered.slot_count++;
        lowered.first = child::Program{.steps = {child::JoinNamespace{.slot = first, .flag = both}}};
        namespaces &= ~both;
    } else if ((namespaces & CLONE_NEWPID) != 0) {
        lowered.join_pid = 0;
        namespaces &= ~CLONE_NEWPID;
    }
    if (namespaces != 0) steps.emplace_back(child::JoinNamespace{.slot = 0, .flag = namespaces});
    if ((namespaces & CLONE_NEWUSER) != 0) steps.emplace_back(root);
}

}  // namespace

Result<Lowered> lower_exec(const SandboxPlan& plan, const config::Process& process,
                           const kernel::HostFacts& host, const ExecOptions& options) {
    TRY(check_labels(process, host));
    TRY(check_ids(plan, process.user));
    Lowered lowered{.slot_count = 1};
    std::vector<child::Step>& steps = lowered.program.steps;
    // The descriptors of the cgroup come with the parent's answer, before the namespaces make its paths meaningless.
    steps.emplace_back(child::SyncWithParent{child::SyncPoint::joined_namespaces});
    steps.emplace_back(child::JoinCgroups{});
    steps.emplace_back(child::SetCpuAffinity{process.exec_cpu_affinity.final});
    join_namespaces(lowered, plan, process, host, options.namespaces);
    if (!plan.spec.has_namespace(config::NamespaceType::mount)) {
        steps.emplace_back(child::OpenRootfs{options.rootfs});
        steps.emplace_back(child::ChangeRoot{});
    }
    if (options.new_keyring) steps.emplace_back(keyring(options.id));
    steps.emplace_back(child::NewSession{});
    open_terminal(steps, process, false);
    add_process_tail(lowered, plan,
                     {.process = process,
                      .preserve_fds = options.preserve_fds,
                      .setgroups = !keeps_groups(plan),
                      .caller_is_root = host.effective_uid == 0,
                      .listener = listener_of(plan, host),
                      .in_user_namespace = (options.namespaces & CLONE_NEWUSER) != 0,
                      .granted_paths = Presence::optional});
    return lowered;
}

}  // namespace rung::plan

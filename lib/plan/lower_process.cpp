// The last part of every program: limits, filters, identity, and execve. Each step gives up something that a later one does not need.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <set>

#include "config/seccomp.hpp"
#include "plan/draft.hpp"

namespace rung::plan {
namespace {

void use_filters(Lowered& lowered, const SandboxPlan& plan) {
    lowered.seccomp_sources = plan.seccomp_profiles;
    const auto& seccomp = plan.spec.linux_.seccomp;
    if (!seccomp) return;
    lowered.seccomp_sources.emplace_back("config");
    lowered.seccomp_agent = {.path = seccomp->listener_path,
                             .metadata = seccomp->listener_metadata,
                             .required = config::notifies(*seccomp)};
}

// "config" is the last of the sources, and the only one that can have somebody listening.
void load_filters(Lowered& lowered, child::Listener listener) {
    for (size_t index = 0; index < lowered.seccomp_sources.size(); ++index) {
        const bool is_config = lowered.seccomp_sources[index] == "config";
        lowered.program.steps.emplace_back(
            child::LoadSeccomp{.filter = static_cast<child::Slot>(index),
                               .listener = is_config ? listener : child::Listener::none});
    }
}

void add_limits(Lowered& lowered, const ProcessTail& tail) {
    if (tail.in_user_namespace) {
        lowered.rlimits = tail.process.rlimits;
        return;
    }
    for (const config::Rlimit& limit : tail.process.rlimits)
        lowered.program.steps.emplace_back(child::SetRlimit{limit});
}

void add_scheduling(std::vector<child::Step>& steps, const SandboxPlan& plan,
                    const config::Process& process) {
    if (process.scheduler) steps.emplace_back(child::SetScheduler{*process.scheduler});
    if (process.io_priority) steps.emplace_back(child::SetIoPriority{*process.io_priority});
    if (plan.spec.linux_.personality)
        steps.emplace_back(child::SetPersonality{*plan.spec.linux_.personality});
    if (plan.spec.linux_.memory_policy)
        steps.emplace_back(child::SetMemoryPolicy{*plan.spec.linux_.memory_policy});
}

void add_labels(std::vector<child::Step>& steps, const config::Process& process) {
    if (!process.apparmor_profile.empty()) {
        steps.emplace_back(child::SetExecLabel{
            .file = "apparmor/exec", .otherwise = "exec", .value = "exec " + process.apparmor_profile});
    }
    if (!process.selinux_label.empty()) {
        steps.emplace_back(child::SetExecLabel{.file = "exec", .value = process.selinux_label});
    }
}

void become_user(std::vector<child::Step>& steps, const ProcessTail& tail) {
    const config::Process& process = tail.process;
    const config::Capabilities capabilities = process.capabilities.value_or(config::Capabilities{});
    steps.emplace_back(child::DropBounding{capabilities.bounding});
    steps.emplace_back(child::SetUser{process.user, tail.setgroups, tail.caller_is_root});
    steps.emplace_back(child::SetCapabilities{capabilities});
    if (process.user.uid != 0)
        steps.emplace_back(child::ChangeDirectory{.path = process.cwd, .attempt = child::Attempt::second});
    steps.emplace_back(child::SetHome{});
}

// A process that comes later finds what the first one has found, or what has gone missing since.
child::MakeRuleset file_rules(const FileAccess& files, Presence presence) {
    child::MakeRuleset step{.handled = files.handled, .scoped = files.scoped, .rules = files.rules};
    if (presence == Presence::required) return step;
    for (child::FileRule& rule : step.rules)
        rule.field.clear();
    return step;
}

}  // namespace

child::Listener listener_of(const SandboxPlan& plan, const kernel::HostFacts& host) {
    const auto& seccomp = plan.spec.linux_.seccomp;
    if (!seccomp || (!config::notifies(*seccomp) && seccomp->listener_path.empty()))
        return child::Listener::none;
    // pidfd_getfd(2) asks for the right to trace, which only root has over a process that may not be dumped.
    return host.effective_uid == 0 ? child::Listener::by_number : child::Listener::by_message;
}

Status check_labels(const config::Process& process, const kernel::HostFacts& host) {
    if (!process.apparmor_profile.empty() && !host.apparmor) {
        return Error{.message = "process.apparmorProfile: AppArmor is not enabled on this host"};
    }
    if (!process.selinux_label.empty() && !host.selinux) {
        return Error{.message = "process.selinuxLabel: SELinux is not enabled on this host"};
    }
    return {};
}

std::vector<std::string> resolve_duplicates(const std::vector<std::string>& environment) {
    std::vector<std::string> resolved;
    std::set<std::string_view> seen;
    for (auto entry = environment.rbegin(); entry != environment.rend(); ++entry) {
        const std::string_view name = std::string_view(*entry).substr(0, entry->find('='));
        if (seen.insert(name).second) resolved.push_back(*entry);
    }
    std::reverse(resolved.begin(), resolved.end());
    return resolved;
}

void add_process_tail(Lowered& lowered, const SandboxPlan& plan, const ProcessTail& tail) {
    const config::Process& process = tail.process;
    std::vector<child::Step>& steps = lowered.program.steps;
    lowered.program.args = process.args;
    lowered.program.env = resolve_duplicates(process.env);
    lowered.oom_score_adj = process.oom_score_adj;
    use_filters(lowered, plan);

    add_limits(lowered, tail);
    add_scheduling(steps, plan, process);
    steps.emplace_back(child::OwnStdio{process.user.uid, process.user.gid});
    add_labels(steps, process);
    steps.emplace_back(child::CloseDescriptors{tail.preserve_fds});
    // Before the user changes: root may enter directories that the user may not, as with `-w /root -u 1000`. Before the filters, which may
    // forbid the calls that look where it leads. After every mount: it must not be what a mask or a read-only bind has since covered.
    // Where it is root who may not, the user tries again.
    const bool is_root = process.user.uid == 0;
    steps.emplace_back(child::ChangeDirectory{
        .path = process.cwd, .attempt = is_root ? child::Attempt::only : child::Attempt::first});
    if (process.no_new_privileges) {
        steps.emplace_back(child::SetNoNewPrivs{});
    } else {
        // Without no_new_privs a filter needs CAP_SYS_ADMIN, which is about to go.
        load_filters(lowered, tail.listener);
    }
    if (plan.files.handled != 0) steps.emplace_back(file_rules(plan.files, tail.granted_paths));
    become_user(steps, tail);
    steps.emplace_back(child::FindExecutable{
        .tools = plan.files.tools,
        .refusal = tail.granted_paths == Presence::required ? "grant_unrunnable" : "tool_denied"});
    if (plan.files.handled != 0) steps.emplace_back(child::EnterRuleset{});

    // Who takes the listener is there until `start` only.
    const bool listens = tail.listener != child::Listener::none;
    if (process.no_new_privileges && listens) load_filters(lowered, tail.listener);
    if (tail.owner_may_look) steps.emplace_back(child::BecomeDumpable{});
    steps.emplace_back(child::AwaitStart{});
    if (process.no_new_privileges && !listens) load_filters(lowered, tail.listener);
    if (!tail.start_container_hooks.empty()) {
        steps.emplace_back(child::RunHooks{"startContainer", tail.start_container_hooks, "created"});
    }
    steps.emplace_back(child::Execute{});
}

}  // namespace rung::plan

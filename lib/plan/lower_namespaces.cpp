// Which namespaces are made by clone3, which by the child itself, and which are joined, in an order that keeps the privilege each one needs.
// SPDX-License-Identifier: Apache-2.0
#include <sched.h>

#include <algorithm>
#include <array>

#include "plan/draft.hpp"

namespace rung::plan {
namespace {

using config::NamespaceType;

uint64_t clone_flag(NamespaceType type) {
    switch (type) {
        case NamespaceType::mount:
            return CLONE_NEWNS;
        case NamespaceType::pid:
            return CLONE_NEWPID;
        case NamespaceType::network:
            return CLONE_NEWNET;
        case NamespaceType::ipc:
            return CLONE_NEWIPC;
        case NamespaceType::uts:
            return CLONE_NEWUTS;
        case NamespaceType::user:
            return CLONE_NEWUSER;
        case NamespaceType::cgroup:
            return CLONE_NEWCGROUP;
        case NamespaceType::time:
            return CLONE_NEWTIME;
    }
    return 0;
}

bool is_new(const SandboxPlan& plan, NamespaceType type) {
    const config::Namespace* found = plan.spec.find_namespace(type);
    return found != nullptr && found->path.empty();
}

bool is_joined(const SandboxPlan& plan, NamespaceType type) {
    const config::Namespace* found = plan.spec.find_namespace(type);
    return found != nullptr && !found->path.empty();
}

// Made by clone3 itself. The network namespace is not among them: making it in the child overlaps with the parent's cgroup work. Nor is the
// cgroup namespace: its root is the cgroup that its maker is in.
uint64_t cloned_namespaces(const SandboxPlan& plan) {
    uint64_t flags = 0;
    for (const NamespaceType type : {NamespaceType::user, NamespaceType::mount, NamespaceType::pid,
                                     NamespaceType::ipc, NamespaceType::uts}) {
        if (is_new(plan, type)) flags |= clone_flag(type);
    }
    return flags;
}

child::Slot open_namespace(Draft& draft, NamespaceType type) {
    const child::Slot slot = draft.new_slot();
    draft.lowered.namespaces.push_back({slot, draft.plan.spec.find_namespace(type)->path, type});
    return slot;
}

bool joins_network(const SandboxPlan& plan) {
    return is_joined(plan, NamespaceType::network) && !plan.routeless_network;
}

// The mount namespace comes last: joining it replaces the root and the working directory.
std::vector<child::Step> join_steps(Draft& draft) {
    std::vector<child::Step> steps;
    for (const NamespaceType type : {NamespaceType::ipc, NamespaceType::uts, NamespaceType::network,
                                     NamespaceType::cgroup, NamespaceType::time, NamespaceType::mount}) {
        const bool joined =
            type == NamespaceType::network ? joins_network(draft.plan) : is_joined(draft.plan, type);
        if (!joined) continue;
        steps.emplace_back(
            child::JoinNamespace{open_namespace(draft, type), static_cast<int>(clone_flag(type))});
    }
    return steps;
}

void append(std::vector<child::Step>& to, std::vector<child::Step> steps) {
    std::move(steps.begin(), steps.end(), std::back_inserter(to));
}

// With the pid namespace, so that what is cloned next is in it while this process still sees the ids that the parent sees.
std::vector<child::Step> join_steps_with_pid(Draft& draft) {
    std::vector<child::Step> steps = join_steps(draft);
    if (!is_joined(draft.plan, NamespaceType::pid)) return steps;
    const child::Slot pid = open_namespace(draft, NamespaceType::pid);
    steps.insert(steps.begin(), child::JoinNamespace{pid, CLONE_NEWPID});
    return steps;
}

// What has to happen in a process of its own, before the clone that makes the remaining namespaces.
//  - A user namespace by path must own what is made afterwards.
//  - Under a new user namespace the right to join what the host owns is gone, so that is joined before it.
// The host's root may join anything first and the user namespace last; without it the user namespace is what gives the right to join.
std::vector<child::Step> first_steps(Draft& draft) {
    std::vector<child::Step> steps;
    if (is_new(draft.plan, NamespaceType::user)) return join_steps_with_pid(draft);
    if (!is_joined(draft.plan, NamespaceType::user)) return steps;

    const bool host_root = draft.host.effective_uid == 0 && !draft.host.in_user_namespace;
    if (host_root) append(steps, join_steps_with_pid(draft));
    const child::Slot user = open_namespace(draft, NamespaceType::user);
    steps.emplace_back(child::JoinNamespace{user, CLONE_NEWUSER});
    steps.emplace_back(namespace_root(draft.plan, draft.plan.spec.process.user, draft.host));
    if (!host_root) append(steps, join_steps_with_pid(draft));
    return steps;
}

void make_network(Draft& draft) {
    draft.add(child::UnshareNamespaces{CLONE_NEWNET});
    draft.add(child::BringUpLoopback{});
}

std::optional<NetworkSlots> make_networks(Draft& draft) {
    const SandboxPlan& plan = draft.plan;
    if (!plan.routeless_network) {
        if (is_new(plan, NamespaceType::network)) make_network(draft);
        return {};
    }
    if (!plan.keep_engine_network) {
        make_network(draft);
        return {};
    }
    const NetworkSlots networks{.engine = draft.new_slot(), .workload = draft.new_slot()};
    make_network(draft);
    draft.add(child::KeepNetworkNamespace{networks.engine});
    make_network(draft);
    draft.add(child::KeepNetworkNamespace{networks.workload});
    return networks;
}

std::string time_offsets_text(const config::Linux& linux_config) {
    std::string text;
    for (const auto& [clock, offset] : linux_config.time_offsets) {
        text +=
            clock + " " + std::to_string(offset.seconds) + " " + std::to_string(offset.nanoseconds) + "\n";
    }
    return text;
}

// Without privilege only the user namespace that is made gives the right to make it, and only its maker's children are inside.
bool child_makes_time(const Draft& draft) {
    return is_new(draft.plan, NamespaceType::time) && is_new(draft.plan, NamespaceType::user) &&
           !draft.host.may_clone_mounts;
}

}  // namespace

bool has_new_user_namespace(const SandboxPlan& plan) {
    return is_new(plan, NamespaceType::user);
}

std::optional<NetworkSlots> enter_namespaces(Draft& draft) {
    const SandboxPlan& plan = draft.plan;
    Lowered& lowered = draft.lowered;
    plan_id_maps(draft);
    std::vector<child::Step> first = first_steps(draft);
    uint64_t first_flags = 0;
    if (first.empty() && child_makes_time(draft)) {
        first_flags = CLONE_NEWUSER;
        first.emplace_back(child::BecomeDumpable{});  // its files in /proc are root's otherwise
        first.emplace_back(child::MakeTimeNamespace{time_offsets_text(plan.spec.linux_)});
    } else if (is_new(plan, NamespaceType::time)) {
        lowered.time_offsets = time_offsets_text(plan.spec.linux_);
    }
    const bool staged = !first.empty();
    (staged ? lowered.second_clone_flags : lowered.clone_flags) = cloned_namespaces(plan) & ~first_flags;
    lowered.clone_flags |= first_flags;
    if (staged) lowered.first = child::Program{.steps = std::move(first)};
    if (!staged && is_joined(plan, NamespaceType::pid))
        lowered.join_pid = open_namespace(draft, NamespaceType::pid);

    std::optional<NetworkSlots> networks;
    if (lowered.maps_users) {
        // Until the maps are written this process is nobody, and what it made would belong to nobody.
        if (draft.host.effective_uid != 0) draft.add(child::BecomeDumpable{});
        draft.add(child::SyncWithParent{child::SyncPoint::joined_namespaces});
        draft.add(child::JoinCgroups{});
        draft.add(child::SetCpuAffinity{});
        draft.add(namespace_root(plan, plan.spec.process.user, draft.host));
        networks = make_networks(draft);
    } else {
        networks = make_networks(draft);
        if (!staged) append(lowered.program.steps, join_steps(draft));
        draft.add(child::SyncWithParent{child::SyncPoint::joined_namespaces});
        draft.add(child::JoinCgroups{});
        // The caller may have been confined to some CPUs; the container is to what its cgroup says.
        draft.add(child::SetCpuAffinity{});
    }
    if (!plan.spec.linux_.net_devices.empty())
        draft.add(child::SyncWithParent{child::SyncPoint::made_networks});
    if (is_new(plan, NamespaceType::cgroup)) draft.add(child::UnshareNamespaces{CLONE_NEWCGROUP});
    return networks;
}

}  // namespace rung::plan

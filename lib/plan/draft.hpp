// Draft: what lower() has written so far and what it writes from; each lower_*.cpp adds its part.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <utility>

#include "plan/lower.hpp"

namespace rung::plan {

struct Draft {
    const SandboxPlan& plan;
    const cgroup::Cgroup& cgroup;
    const kernel::HostFacts& host;
    const LowerOptions& options;
    Lowered lowered = {};

    void add(child::Step step) { lowered.program.steps.push_back(std::move(step)); }
    child::Slot new_slot() { return lowered.slot_count++; }
};

// How many network namespaces the program juggles: with keep_engine_network the hooks see `engine`, the workload ends up in `workload`.
struct NetworkSlots {
    child::Slot engine = 0;
    child::Slot workload = 0;
};

// lower_namespaces.cpp: from the clone to being in every namespace and cgroup.
std::optional<NetworkSlots> enter_namespaces(Draft& draft);
bool has_new_user_namespace(const SandboxPlan& plan);

// lower_users.cpp: who writes the maps of a new user namespace, and as whom its first process sets it up.
void plan_id_maps(Draft& draft);
child::BecomeNamespaceRoot namespace_root(const SandboxPlan& plan, const config::User& user,
                                          const kernel::HostFacts& host);
// That the ids of the process exist in the new user namespace, and that an unprivileged caller asks for one.
Status check_users(const Draft& draft);
Status check_ids(const SandboxPlan& plan, const config::User& user);
// The supplementary groups stay those of the caller.
bool keeps_groups(const SandboxPlan& plan);

// lower_root.cpp: from the host's mount tree to the container's own.
Status build_root(Draft& draft, std::optional<NetworkSlots> networks);
void protect_paths(Draft& draft);

// lower_mounts.cpp
Status add_mounts(Draft& draft);
// Adds what has to be read-only only after it was filled: /dev and tmpfs mounts.
Status make_filled_mounts_read_only(Draft& draft);
unsigned long initial_propagation(const SandboxPlan& plan);
// "rshared" -> MS_SHARED | MS_REC; nothing for any other text.
std::optional<unsigned long> propagation_of(std::string_view name);

// lower_cgroup_mount.cpp
Status add_cgroup_mount(Draft& draft, const config::Mount& mount);

// lower_process.cpp: the tail that create and exec share, from the rlimits to execve.
enum class Presence { required, optional };
struct ProcessTail {
    const config::Process& process;
    int preserve_fds = 0;
    bool setgroups = true;
    bool caller_is_root = false;
    // An unprivileged caller has to find the namespaces of the waiting process for `exec`. It shares no more with anybody than the program
    // it becomes will: the namespaces are new.
    bool owner_may_look = false;
    std::vector<config::Hook> start_container_hooks = {};
    child::Listener listener = child::Listener::none;
    bool in_user_namespace = false;  // another than rung's
    Presence granted_paths = Presence::required;
};
// Whether and how the listener of config.json's seccomp filter goes to the parent.
child::Listener listener_of(const SandboxPlan& plan, const kernel::HostFacts& host);
// That the host has the security module a label of the process is for: the kernel would ignore it in silence.
Status check_labels(const config::Process& process, const kernel::HostFacts& host);
void add_process_tail(Lowered& lowered, const SandboxPlan& plan, const ProcessTail& tail);

// Of several entries for one name the last stays, at its own place.
std::vector<std::string> resolve_duplicates(const std::vector<std::string>& environment);

}  // namespace rung::plan

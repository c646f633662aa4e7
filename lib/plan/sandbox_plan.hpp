// SandboxPlan: the sandbox decided on, config.json met with every grant; `rung plan` prints it, lower() turns it into steps.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "child/process_steps.hpp"
#include "config/spec.hpp"
#include "grant/grant.hpp"

namespace rung::plan {

// One line of `rung plan`: what became narrower than config.json asked, which layer did it, and why.
struct Narrowing {
    std::string field = {};  // "process.capabilities", "mounts[/data]"
    std::string asked = {};
    std::string effective = {};
    std::string layer = {};  // "oci", "ceiling", "grant", "builtin"
    std::string reason = {};
    bool operator==(const Narrowing&) const = default;
};

// A piece of the image, or of one of the engine's mounts, that stays writable although what is around it became read-only.
struct Slice {
    std::string path = {};
    std::string mount = {};  // destination of the mount it is a piece of; empty: the image
    bool operator==(const Slice&) const = default;
};

// What the processes may do with files, whatever owners and modes say, and which programs they may execute: Landlock's part.
struct FileAccess {
    uint64_t handled = 0;  // kernel::landlock::k*, all that is denied without a rule; 0: there is no ruleset
    uint64_t scoped = 0;   // kernel::landlock::kScope*
    std::vector<child::FileRule> rules = {};
    std::vector<std::string> tools = {};  // empty: every program that can be reached
    bool operator==(const FileAccess&) const = default;
};

struct SandboxPlan {
    config::Spec spec = {};  // config.json after narrowing: never wider than what was asked
    // False: a plain OCI container, `spec` is config.json unchanged.
    bool granted = false;
    // The workload gets a network namespace of its own with only lo.
    bool routeless_network = false;
    // Hooks see the network namespace that config.json asked for; the workload leaves it after them.
    bool keep_engine_network = false;
    // vm.memfd_noexec=2 in the new pid namespace.
    bool memfd_noexec = false;
    std::vector<Slice> slices = {};
    // Directories within writable places that lead to something protected: renamed, they would take it along and leave its name free.
    std::vector<std::string> pinned = {};
    FileAccess files = {};
    // Names in seccomp-profiles/, loaded beside spec.linux_.seccomp.
    std::vector<std::string> seccomp_profiles = {};
    std::vector<Narrowing> narrowings = {};
    bool operator==(const SandboxPlan&) const = default;
};

}  // namespace rung::plan

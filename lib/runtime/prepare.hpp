// Preparation: everything `create`, `run`, `exec` and `plan` decide before the first side effect.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "cgroup/cgroup.hpp"
#include "config/spec.hpp"
#include "grant/grant.hpp"
#include "kernel/host_facts.hpp"
#include "plan/image_facts.hpp"
#include "plan/sandbox_plan.hpp"
#include "runtime/runtime.hpp"
#include "runtime/state.hpp"

namespace rung::runtime {

struct Prepared {
    std::string bundle = {};  // absolute
    std::string rootfs = {};  // absolute, symlinks resolved
    std::string config_text = {};
    std::vector<GrantSource> grant_sources = {};
    std::optional<grant::Grant> grant = {};
    plan::ImageFacts image = {};
    kernel::HostFacts host = {};
    plan::SandboxPlan plan = {};
    cgroup::Cgroup cgroup = {};
    std::optional<std::string> notify_socket = {};  // the caller's, of which the container was shown a relay
};

// Reads the bundle and every grant source; has no effect outside this process.
Result<Prepared> prepare(const Globals& globals, const CreateOptions& options);

// The same from what a container's state directory holds, for one more process in it.
Result<Prepared> prepare_again(const StateDirectory& directory, const State& state);

}  // namespace rung::runtime

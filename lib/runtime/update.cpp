// update: other limits for a container that runs.
// SPDX-License-Identifier: Apache-2.0
#include "plan/update.hpp"

#include "runtime/container.hpp"
#include "runtime/grants.hpp"
#include "runtime/runtime.hpp"
#include "runtime/wording.hpp"

namespace rung::runtime {

Status update(const Globals& globals, const std::string& id, const config::Resources& resources) {
    const Container container = TRY(lock_container(globals, id));
    if (container.phase() == Phase::stopped) return Error{.message = std::string{wording::kNotRunning}};
    const State& state = container.state;
    if (!state.grants_are_known)
        return Error{.message = "state.json does not say under which grants " + id + " runs"};

    config::Resources wanted = resources;
    if (const auto grant = TRY(meet_grants(state.grants)))
        wanted = TRY(plan::within_limits(grant->limits, resources, cgroup::read_cpu_share(state.cgroup)));
    return cgroup::update(state.cgroup, wanted);
}

}  // namespace rung::runtime

// pause and resume: the container's cgroup is frozen and thawed.
// SPDX-License-Identifier: Apache-2.0
#include "runtime/container.hpp"
#include "runtime/runtime.hpp"
#include "runtime/wording.hpp"

namespace rung::runtime {

Status pause(const Globals& globals, const std::string& id) {
    const Container container = TRY(lock_container(globals, id));
    const Phase phase = container.phase();
    if (phase != Phase::running && phase != Phase::created)
        return Error{.message = std::string{wording::kNotRunning}};
    return cgroup::freeze(container.state.cgroup);
}

Status resume(const Globals& globals, const std::string& id) {
    const Container container = TRY(lock_container(globals, id));
    if (container.phase() != Phase::paused) return Error{.message = std::string{wording::kNotPaused}};
    return cgroup::thaw(container.state.cgroup);
}

Result<std::vector<int>> processes(const Globals& globals, const std::string& id) {
    return cgroup::processes(TRY(open_container(globals, id)).state.cgroup);
}

}  // namespace rung::runtime

// pause and resume: the container's cgroup is frozen and thawed.
// SPDX-License-Identifier: Apache-2.0
#include "runtime/container.hpp"
#include "runtime/runtime.hpp"
#include "runtime/wording.hpp"

namespace rung::runtime {
namespace {

Status require_cgroup(const Container& container, const char* for_what) {
    if (!container.state.cgroup.is_none()) return {};
    return Error{.message = std::string{for_what} + ": cgroups not configured for container"};
}

}  // namespace

Status pause(const Globals& globals, const std::string& id) {
    const Container container = TRY(lock_container(globals, id));
    const Phase phase = container.phase();
    if (phase != Phase::running && phase != Phase::created)
        return Error{.message = std::string{wording::kNotRunning}};
    TRY(require_cgroup(container, "cannot toggle freezer"));
    return cgroup::freeze(container.state.cgroup);
}

Status resume(const Globals& globals, const std::string& id) {
    const Container container = TRY(lock_container(globals, id));
    if (container.phase() != Phase::paused) return Error{.message = std::string{wording::kNotPaused}};
    return cgroup::thaw(container.state.cgroup);
}

Result<std::vector<int>> processes(const Globals& globals, const std::string& id) {
    const Container container = TRY(open_container(globals, id));
    TRY(require_cgroup(container, "unable to get all container pids"));
    return cgroup::processes(container.state.cgroup);
}

}  // namespace rung::runtime

// Launching a process into the cgroup of a running container.
// SPDX-License-Identifier: Apache-2.0
#include "runtime/join_cgroup.hpp"

#include <cerrno>

#include "base/log.hpp"
#include "runtime/wording.hpp"

namespace rung::runtime {
namespace {

// The answers of clone3(2) to CLONE_INTO_CGROUP: the cgroup passes controllers on, or is part of a threaded subtree.
bool holds_no_processes(const Error& error) {
    return error.errno_value == EBUSY || error.errno_value == EOPNOTSUPP;
}

bool is_refusal(const Error& error) {
    return error.errno_value == EACCES || error.errno_value == EPERM;
}

}  // namespace

Result<Joined> launch_into(const cgroup::Cgroup& cgroup, pid_t init, const plan::Lowered& lowered,
                           const Slots& slots, LaunchInputs inputs) {
    const std::string joining = wording::adding_to_cgroups("of the new process");
    const Fd directory = TRY(cgroup::open_unified(cgroup).context(joining));
    inputs.cgroup = directory.get();
    auto launched = launch(lowered, slots, inputs);
    if (launched) return Joined{.process = std::move(*launched)};
    if (!directory) return std::move(launched).error();

    if (holds_no_processes(launched.error())) {
        if (init == 0) return std::move(launched).error().context(joining);
        const Fd deeper = TRY(cgroup::open_unified_of(cgroup, init));
        if (!deeper) return std::move(launched).error();
        inputs.cgroup = deeper.get();
        return Joined{.process = TRY(launch(lowered, slots, inputs))};
    }
    // An unprivileged caller may move nothing out of a cgroup that is not its own, wherever the way leads. Other runtimes go on then.
    if (!cgroup::is_rootless() || !is_refusal(launched.error())) return std::move(launched).error();
    inputs.cgroup = -1;
    return Joined{.process = TRY(launch(lowered, slots, inputs)), .is_outside = true, .followed = init};
}

}  // namespace rung::runtime

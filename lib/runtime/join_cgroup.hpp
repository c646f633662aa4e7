// Launching a process into the cgroup of a running container, for `exec`.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include "base/result.hpp"
#include "cgroup/cgroup.hpp"
#include "plan/lower.hpp"
#include "runtime/launch.hpp"

namespace rung::runtime {

struct Joined {
    Launched process;
    // This user may not enter the cgroup2 directory: the process is where the caller is.
    bool is_outside = false;
    pid_t followed = 0;  // whom it goes beside, when the cgroup itself takes no process
};

// launch() into the container's cgroup, or into the one below it that `init`, unless 0, has moved itself to.
Result<Joined> launch_into(const cgroup::Cgroup& cgroup, pid_t init, const plan::Lowered& lowered,
                           const Slots& slots, LaunchInputs inputs);

}  // namespace rung::runtime

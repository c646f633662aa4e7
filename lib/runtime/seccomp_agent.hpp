// The seccomp agent: whoever decides, through a listener, on the system calls that a profile leaves open (runtime-spec config-linux.md,
// "The Container Process State").
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include "base/fd.hpp"
#include "base/result.hpp"
#include "plan/lower.hpp"
#include "runtime/oci_state.hpp"

namespace rung::runtime {

// What the agent is told beside the descriptor, as one line of JSON.
std::string container_process_state(const plan::SeccompAgent& agent, const OciState& state, pid_t pid);

// Sends `listener` of the process `pid` to `agent`. Where no rule waits for it its absence is no error: there will be nothing to ask.
Status send_to_seccomp_agent(const plan::SeccompAgent& agent, const OciState& state, pid_t pid,
                             const Fd& listener);

}  // namespace rung::runtime

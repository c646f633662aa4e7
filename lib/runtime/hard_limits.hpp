// Resource limits above the caller's own.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <vector>

#include "config/process.hpp"

namespace rung::runtime {

// CAP_SYS_RESOURCE counts in the first user namespace only: root there makes room for a process that is about to set `limits` from another one.
// Where that is refused the process's own attempt says so.
void make_room_for(pid_t pid, const std::vector<config::Rlimit>& limits);

}  // namespace rung::runtime

// cgroup v2 controllers: a cgroup has those that every ancestor passes on in cgroup.subtree_control.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "base/result.hpp"

namespace rung::cgroup {

// Passes every controller down from the mount point to `path` as far as that is possible. What is not is no
// error yet: only a limit that needs it makes it one.
void enable_controllers(const std::string& mount_point, const std::string& path);

bool has_controller(const std::string& path, const std::string& controller);

// Why `controller` is missing at `path`, for the error of a limit that needs it.
std::string why_missing(const std::string& mount_point, const std::string& path,
                        const std::string& controller);

}  // namespace rung::cgroup

// The mount points in a rootfs, made where a container is restored: CRIU mounts, and makes nothing to mount on.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "base/result.hpp"
#include "plan/lower.hpp"

namespace rung::runtime {

// To be called in a process of its own, which gets a mount namespace of its own. There the rootfs is bound to `place`, a directory: what CRIU
// takes for a root is a mount with nothing on its parent. What create makes in the rootfs to mount on is there afterwards.
Status show_rootfs_at(const std::string& place, const std::string& rootfs, const plan::Lowered& lowered);

}  // namespace rung::runtime

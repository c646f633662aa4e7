// Id-mapped mounts: a mount that shows other owners than its files have (mount_setattr(2), "ID-mapped mounts").
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "base/fd.hpp"
#include "base/result.hpp"
#include "plan/lower.hpp"

namespace rung::runtime {

// Gives `tree`, a detached clone of `source`, the ids of `map`. A file system that cannot is named in the error (podman#28715).
Status map_ids(const Fd& tree, const std::string& source, const plan::IdMap& map);

}  // namespace rung::runtime

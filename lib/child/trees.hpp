// Trees: mounts as descriptors, cloned and given their attributes before any path leads to them. Private to
// lib/child.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "child/context.hpp"

namespace rung::child {

enum class Depth { one_mount, recursive };

// Each returns a descriptor or 0, or a negative errno.

// A detached clone of what the O_PATH descriptor `place` refers to, which has to be in this mount namespace.
int clone_tree(int place, Depth depth);

// MOUNT_ATTR_* of the mount whose root `tree` refers to; EINVAL when it is not the root of a mount.
int set_attributes(int tree, uint64_t set, uint64_t clear, Depth depth);

// The same, once more: of a refusal the attributes that the kernel holds on to are the reason, where there are any.
Outcome change_attributes(int tree, uint64_t set, uint64_t clear, Depth depth);

// MS_SHARED, MS_SLAVE | MS_REC ..., one after the other.
int set_propagation(int tree, const std::vector<unsigned long>& flags);

}  // namespace rung::child

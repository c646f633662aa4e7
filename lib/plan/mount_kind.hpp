// What a mount of config.json is, and whether its word is that one can write there.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "config/mount_options.hpp"
#include "config/spec.hpp"

namespace rung::plan {

// The kernel's own file systems are told apart because a grant never opens them.
enum class MountKind { proc, sysfs, cgroup, dev, devpts, bind, filesystem };
MountKind kind_of(const config::Mount& mount);
bool is_kernel_owned(MountKind kind);

// A recursive bind is writable unless its submounts are read-only as well.
bool is_writable(const config::Mount& mount);

// A tmpfs, and /dev of whatever type, is filled before it may become read-only.
bool is_filled_first(const config::Mount& mount);

// The mount that a path ends up on: the last one that covers it. nullptr: the image.
const config::Mount* mount_holding(const std::vector<config::Mount>& mounts, std::string_view path);

// MOUNT_ATTR_*: what a place that can be written to must never hold is a program, a device or a setuid file.
extern const uint64_t kHarmless;

}  // namespace rung::plan

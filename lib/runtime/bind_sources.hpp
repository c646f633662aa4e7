// What config.json's binds bring in from the host, looked at before a grant is decided on: names alone do not tell.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "config/spec.hpp"

namespace rung::runtime {

struct MountedFilesystem {
    std::string mount_point = {};
    std::string type = {};
    bool operator==(const MountedFilesystem&) const = default;
};

// The text of /proc/self/mountinfo (proc(5)), in its order.
std::vector<MountedFilesystem> parse_mountinfo(std::string_view text);

// The type of a file system of the kernel's that a bind of `source` would bring in, by being on it or, recursively, above it; empty for none.
enum class Below { included, left_out };
std::string kernel_filesystem_in(const std::vector<MountedFilesystem>& mounts, const std::string& source,
                                 Below below);

// Fills in Mount::symlink where an entry has copy-symlink and its source is one.
Status read_symlinks(config::Spec& spec, const std::string& bundle);

// For a container with a grant: the root and every bind source become real, absolute paths, so that two names of one place are seen to be
// one. A symlink that is to be one in the container as well, a socket or a FIFO of the host, and any bind that would bring in procfs or its like, whose links and files reach the whole host, is
// refused as grant_unenforceable.
Status settle_bind_sources(config::Spec& spec, const std::string& bundle, const std::string& rootfs);

}  // namespace rung::runtime

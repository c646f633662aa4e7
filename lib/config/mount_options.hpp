// The meaning of mount options as config.json writes them (runtime-spec config.md, "Linux mount options").
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.hpp"
#include "config/spec.hpp"

namespace rung::config {

// Attribute bits are MOUNT_ATTR_* of mount_setattr(2).
struct MountOptions {
    bool bind = false;
    bool recursive_bind = false;  // rbind
    bool remount = false;
    uint64_t set = 0;    // attributes to set
    uint64_t clear = 0;  // attributes to clear; includes MOUNT_ATTR__ATIME when an atime mode is named
    bool names_attribute = false;                 // of the mount itself, if only to say that it is not wanted
    uint64_t recursive_set = 0;                   // rro, rnosuid ...
    uint64_t recursive_clear = 0;                 // rrw, rsuid ...
    std::vector<unsigned long> propagation = {};  // MS_PRIVATE, MS_SLAVE | MS_REC ..., in the order written
    bool copy_up = false;                         // tmpcopyup
    bool idmap = false;
    bool recursive_idmap = false;  // ridmap
    bool copy_symlink =
        false;  // a source that is a symlink is not bound but made once more; crun's, as the next two
    bool source_nofollow = false;  // src-nofollow: a source that is a symlink is bound itself
    bool target_nofollow = false;  // dest-nofollow: so is the target
    bool sync = false;             // superblock flags, fsconfig(2) flag names
    bool dirsync = false;
    bool mandatory_lock = false;
    bool lazytime = false;
    std::vector<std::pair<std::string, std::string>> data =
        {};  // what is left for the file system: "size" -> "64k"
    bool operator==(const MountOptions&) const = default;
};

// The later of two contradicting options wins. A word that is not an option belongs to the file system: `data`.
Result<MountOptions> parse_mount_options(const std::vector<std::string>& options);

// What lies at a path is mounted there, and no file system.
bool is_bind(const Mount& mount, const MountOptions& options);

// Every option name known, sorted: `rung features` lists them.
std::vector<std::string> known_mount_options();

}  // namespace rung::config

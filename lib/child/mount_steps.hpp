// The steps that put the container's mounts together.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/mount.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace rung::child {

// An index into the descriptors that the parent opened before the clone (plan::HostSteps says which is which).
using Slot = int;

// A target is a container path. It is resolved once inside the rootfs with openat2(RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS) and
// created when missing: parents 0755, then a directory for a directory and a file for anything else, by the source's type.

struct SetRootPropagation {
    unsigned long flags = 0;
};  // mount(2) on "/": MS_SLAVE | MS_REC ...
struct BindRootfs {
    std::string path = {};
    bool recursive = true;
    bool on_host = false;  // without a mount namespace: the surroundings are the host's and stay as they are
    bool slave = false;    // what the host mounts later is to show in the root
};                         // parent mount private or slave, bind on itself; becomes the root of all targets
struct OpenRootfs {
    std::string path = {};
};  // without a mount namespace: only the root of all targets
// move_mount(2) of a tree that the parent opened, or that was kept. `mount` as in KeepTree.
struct AttachTree {
    Slot tree = 0;
    std::string target = {};
    std::string mount = {};
    bool nofollow = false;      // of a target that is a symlink
    bool becomes_root = false;  // the target is "/": what is mounted takes the rootfs's place
};
struct MountFilesystem {
    std::string type = {};
    std::string source = {};
    std::string target = {};
    std::vector<std::pair<std::string, std::string>> options = {};  // fsconfig(2); an empty value is a flag
    uint64_t attributes = 0;                                        // MOUNT_ATTR_*
    std::vector<unsigned long> propagation = {};
    bool copy_up = false;                  // fill from what the target held
    bool inherit_mode = false;             // tmpfs without mode=: take the target directory's
    bool must_be_plain_directory = false;  // proc, sysfs: refuse a target reached through a symlink
    bool becomes_root = false;             // as in AttachTree
};
// What a more privileged mount namespace has set is locked in that of a user namespace: mount_namespaces(7).
inline constexpr uint64_t kLockable =
    MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV | MOUNT_ATTR_NOEXEC;
// A bind, made by the child itself, of a path of the host as it is seen before the pivot (cgroup directories, /sys).
struct BindHostPath {
    std::string source = {};
    std::string target = {};
    bool recursive = false;
    uint64_t attributes = 0;
    uint64_t clear = 0;
    uint64_t clear_unless_locked = 0;  // where the kernel lets this user namespace
    int id_map = -1;                   // which of plan::Lowered::id_maps the parent is to apply; -1: none
    // For what lies beneath as well: a read-only /sys with a writable /sys/fs/cgroup in it would be no protection (CVE-2023-25809).
    bool recursive_attributes = true;
    bool source_nofollow = false;
    bool target_nofollow = false;
    bool becomes_root = false;  // as in AttachTree
};
struct RemountTarget {
    std::string target = {};
    uint64_t set = 0;
    uint64_t clear = 0;
    bool recursive = false;
    std::vector<unsigned long> propagation = {};
};  // mount_setattr(2) on a mount already there
struct Unmount {
    std::string target = {};
};  // umount2(2) of what lies on top there
// The rootfs subtree `path`, bound onto itself so that it can have attributes of its own.
struct BindSlice {
    std::string path = {};
    uint64_t set = 0;
    uint64_t clear = 0;
};
// A recursive clone of what is mounted at `path`, kept unattached in slot `kept` with attributes of its own: AttachTree puts it back after
// the mount around it became read-only. Below `mount` no symlink is followed: whoever may write to that mount could have made it.
struct KeepTree {
    Slot kept = 0;
    std::string path = {};
    uint64_t set = 0;
    std::string mount = {};
};

}  // namespace rung::child

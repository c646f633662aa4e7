// The kinds of mounts, from type, options and destination.
// SPDX-License-Identifier: Apache-2.0
#include "plan/mount_kind.hpp"

#include <sys/mount.h>

#include "base/path.hpp"

namespace rung::plan {
namespace {

// Options that do not parse have been refused before; here they mean nothing.
config::MountOptions options_of(const config::Mount& mount) {
    auto parsed = config::parse_mount_options(mount.options);
    return parsed ? *std::move(parsed) : config::MountOptions{};
}

}  // namespace

const uint64_t kHarmless = MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV | MOUNT_ATTR_NOEXEC;

MountKind kind_of(const config::Mount& mount) {
    if (is_bind(mount, options_of(mount))) return MountKind::bind;
    if (mount.type == "proc") return MountKind::proc;
    if (mount.type == "sysfs") return MountKind::sysfs;
    if (mount.type == "cgroup" || mount.type == "cgroup2") return MountKind::cgroup;
    if (mount.type == "devpts") return MountKind::devpts;
    if (path::clean(mount.destination) == "/dev") return MountKind::dev;
    return MountKind::filesystem;
}

bool is_kernel_owned(MountKind kind) {
    return kind != MountKind::bind && kind != MountKind::filesystem;
}

bool is_writable(const config::Mount& mount) {
    const config::MountOptions options = options_of(mount);
    if ((options.recursive_set & MOUNT_ATTR_RDONLY) != 0) return false;
    return options.recursive_bind || (options.set & MOUNT_ATTR_RDONLY) == 0;
}

bool is_filled_first(const config::Mount& mount) {
    return mount.type == "tmpfs" || path::clean(mount.destination) == "/dev";
}

const config::Mount* mount_holding(const std::vector<config::Mount>& mounts, std::string_view path) {
    const config::Mount* holding = nullptr;
    for (const config::Mount& mount : mounts) {
        if (path::covers(path::clean(mount.destination), path)) holding = &mount;
    }
    return holding;
}

}  // namespace rung::plan

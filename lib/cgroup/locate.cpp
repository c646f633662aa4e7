// Where a container's cgroup lies on this host: pure.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "base/path.hpp"
#include "cgroup/cgroup.hpp"

namespace rung::cgroup {

namespace {

// Inside a container the mount shows only a part of the hierarchy, while /proc/self/cgroup counts from its
// top.
std::string own_path_below_mount(const kernel::CgroupMount& mount) {
    if (mount.root == "/" || !path::covers(mount.root, mount.own_path)) {
        return mount.own_path.starts_with("/..") ? "/" : path::clean(mount.own_path);
    }
    return path::clean(mount.own_path.substr(mount.root.size()));
}

std::string below(const std::string& directory, const std::string& clean_path) {
    if (clean_path == "/") return directory;
    return (directory == "/" ? "" : directory) + clean_path;
}

enum class Beside { below_own, next_to_own };

std::string place(const kernel::CgroupMount& mount, const std::string& wanted, Beside beside) {
    if (path::is_absolute(wanted)) return below(mount.mount_point, path::clean(wanted));
    std::string base = own_path_below_mount(mount);
    if (beside == Beside::next_to_own) base = path::parent(base);
    return below(mount.mount_point, below(base, path::clean(wanted)));
}

}  // namespace

std::string Cgroup::directory_of(const std::string& controller) const {
    if (layout == kernel::CgroupLayout::v2) return unified;
    for (const Directory& directory : v1) {
        const auto& names = directory.controllers;
        if (std::find(names.begin(), names.end(), controller) != names.end()) return directory.path;
    }
    return {};
}

Cgroup locate(const kernel::CgroupFacts& host, const std::string& cgroups_path, const std::string& id) {
    const std::string& wanted = cgroups_path.empty() ? id : cgroups_path;
    Cgroup cgroup{.layout = host.layout};
    for (const kernel::CgroupMount& mount : host.hierarchies) {
        cgroup.v1.push_back({.controllers = mount.controllers,
                             .path = place(mount, wanted, Beside::below_own),
                             .mount_point = mount.mount_point});
    }
    if (!host.unified.empty()) {
        const kernel::CgroupMount& mount = host.unified.front();
        // A v2 cgroup that holds processes, as the caller's does, cannot pass controllers on to children.
        const bool is_v2 = host.layout == kernel::CgroupLayout::v2;
        cgroup.unified = place(mount, wanted, is_v2 ? Beside::next_to_own : Beside::below_own);
        cgroup.unified_mount_point = mount.mount_point;
    }
    return cgroup;
}

Cgroup callers_own(const kernel::CgroupFacts& host) {
    Cgroup cgroup{.layout = host.layout};
    for (const kernel::CgroupMount& mount : host.hierarchies) {
        cgroup.v1.push_back({.controllers = mount.controllers,
                             .path = below(mount.mount_point, own_path_below_mount(mount)),
                             .mount_point = mount.mount_point});
    }
    if (!host.unified.empty()) {
        const kernel::CgroupMount& mount = host.unified.front();
        cgroup.unified = below(mount.mount_point, own_path_below_mount(mount));
        cgroup.unified_mount_point = mount.mount_point;
    }
    return cgroup;
}

}  // namespace rung::cgroup

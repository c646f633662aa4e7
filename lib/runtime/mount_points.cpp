// Each mount of the program is taken in its order. A bind is made for as long as it takes, for it may hold the point of a later one.
// SPDX-License-Identifier: Apache-2.0
#include "runtime/mount_points.hpp"

#include <fcntl.h>
#include <sched.h>
#include <sys/mount.h>

#include <algorithm>
#include <variant>
#include <vector>

#include "base/path.hpp"
#include "child/targets.hpp"
#include "kernel/files.hpp"
#include "kernel/syscalls.hpp"

namespace rung::runtime {
namespace {

struct Point {
    std::string target = {};
    std::string source = {};  // empty: a file system, with a directory for its point
};

std::string source_of(const plan::Lowered& lowered, child::Slot slot) {
    const auto tree = std::find_if(lowered.trees.begin(), lowered.trees.end(),
                                   [&](const plan::OpenTree& candidate) { return candidate.slot == slot; });
    return tree == lowered.trees.end() ? "" : tree->source;
}

std::vector<Point> points_of(const plan::Lowered& lowered) {
    std::vector<Point> points;
    for (const child::Step& step : lowered.program.steps) {
        if (const auto* attached = std::get_if<child::AttachTree>(&step))
            points.push_back({path::clean(attached->target), source_of(lowered, attached->tree)});
        if (const auto* bound = std::get_if<child::BindHostPath>(&step))
            points.push_back({path::clean(bound->target), bound->source});
        if (const auto* made = std::get_if<child::MountFilesystem>(&step))
            points.push_back({path::clean(made->target), ""});
    }
    return points;
}

Status bind(const std::string& source, const std::string& target) {
    if (mount(source.c_str(), target.c_str(), nullptr, MS_BIND | MS_REC, nullptr) == 0) return {};
    return errno_error("bind " + source, errno);
}

Status make_point(const Fd& root, const Point& point) {
    const std::string what = "mounts[" + point.target + "]";
    Fd tree;
    child::TargetKind kind = child::TargetKind::directory;
    if (!point.source.empty()) {
        tree = Fd{kernel::open_tree(AT_FDCWD, point.source.c_str(),
                                    OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC | AT_RECURSIVE)};
        if (!tree) return errno_error(what + ": " + point.source, -tree.get());
        kind = child::kind_of(tree.get());
    }
    const Fd target{child::resolve_or_make_in(root.get(), point.target.c_str(), kind)};
    if (!target) return errno_error(what, -target.get());
    if (!tree) return {};
    const int attached = child::attach(tree.get(), target.get());
    return attached < 0 ? errno_error(what, -attached) : Status{};
}

// What lies in a file system is restored with it, or the kernel's.
bool lies_in(const std::vector<std::string>& filesystems, const std::string& target) {
    return std::any_of(filesystems.begin(), filesystems.end(),
                       [&](const std::string& holder) { return path::covers(holder, target); });
}

// What CRIU covers masked files with. Of several mounts with one source it gives only the first its old attributes back; a mount that has them
// already hands them on. Read-only: a root of the container could else change the mode of the host's node.
Status protect_null_device() {
    const Fd tree{kernel::open_tree(AT_FDCWD, "/dev/null", OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC)};
    if (!tree) return errno_error("/dev/null", -tree.get());
    mount_attr attributes{};
    attributes.attr_set = MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOSUID | MOUNT_ATTR_NOEXEC;
    const int set = kernel::mount_setattr(tree.get(), "", AT_EMPTY_PATH, attributes);
    if (set < 0) return errno_error("/dev/null", -set);
    const int moved = kernel::move_mount(tree.get(), "", AT_FDCWD, "/dev/null", MOVE_MOUNT_F_EMPTY_PATH);
    return moved < 0 ? errno_error("/dev/null", -moved) : Status{};
}

// CRIU restores the attributes of every mount but this one's.
Status set_root_attributes(const std::string& place, const plan::Lowered& lowered) {
    mount_attr attributes{};
    for (const child::Step& step : lowered.program.steps) {
        const auto* root = std::get_if<child::RemountRoot>(&step);
        if (root == nullptr) continue;
        attributes.attr_set |= root->set;
        if (root->read_only) attributes.attr_set |= MOUNT_ATTR_RDONLY;
    }
    const int result = kernel::mount_setattr(AT_FDCWD, place.c_str(), 0, attributes);
    return result < 0 ? errno_error("set the root's mount attributes", -result) : Status{};
}

Status make_points(const std::string& place, const plan::Lowered& lowered) {
    const Fd root = TRY(kernel::open_path(place));
    std::vector<std::string> filesystems;
    for (const Point& point : points_of(lowered)) {
        if (lies_in(filesystems, point.target)) continue;
        TRY(make_point(root, point));
        if (point.source.empty()) filesystems.push_back(point.target);
    }
    return {};
}

}  // namespace

Status show_rootfs_at(const std::string& place, const std::string& rootfs, const plan::Lowered& lowered) {
    const int result = kernel::unshare(CLONE_NEWNS);
    if (result < 0) return errno_error("make a mount namespace for criu", -result);
    // From here on nothing that is mounted shows outside, while what the host unmounts does not stay here.
    if (mount(nullptr, "/", nullptr, MS_SLAVE | MS_REC, nullptr) < 0)
        return errno_error("make the mounts of criu slaves", errno);
    TRY(protect_null_device());
    TRY(bind(rootfs, place));
    TRY(make_points(place, lowered));
    if (umount2(place.c_str(), MNT_DETACH) < 0) return errno_error("unmount " + place, errno);
    TRY(bind(rootfs, place));
    return set_root_attributes(place, lowered);
}

}  // namespace rung::runtime

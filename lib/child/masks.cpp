// Pinned, masked and read-only paths. A masked directory shows one empty read-only tmpfs, shared by all of them;
// anything else shows a null device that has been verified. Both are attached to a descriptor of the target,
// so what is masked is what was resolved.
// SPDX-License-Identifier: Apache-2.0
#include "child/masks.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include <algorithm>

#include "base/fd.hpp"
#include "child/targets.hpp"
#include "child/trees.hpp"
#include "kernel/syscalls.hpp"

namespace rung::child {
namespace {

constexpr unsigned int kMemMajor = 1;
constexpr unsigned int kNullMinor = 3;
constexpr uint64_t kHarmless = MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV | MOUNT_ATTR_NOEXEC;

bool masks_something(const Program& program) {
    return std::any_of(program.steps.begin(), program.steps.end(),
                       [](const Step& step) { return std::holds_alternative<MaskPath>(step); });
}

bool is_null_device(int file) {
    struct stat status {};
    return fstat(file, &status) == 0 && S_ISCHR(status.st_mode) &&
           status.st_rdev == makedev(kMemMajor, kNullMinor);
}

// The superblock may hold nothing but its root and, before it becomes read-only, one node.
int make_tmpfs(uint64_t attributes) {
    const Fd filesystem{kernel::fsopen("tmpfs", FSOPEN_CLOEXEC)};
    if (!filesystem) return filesystem.get();
    struct Option {
        const char* key;
        const char* value;
    };
    for (const Option& option : {Option{"mode", "755"}, Option{"nr_blocks", "1"}, Option{"nr_inodes", "2"}}) {
        const int result =
            kernel::fsconfig(filesystem.get(), FSCONFIG_SET_STRING, option.key, option.value, 0);
        if (result < 0) return result;
    }
    const int created = kernel::fsconfig(filesystem.get(), FSCONFIG_CMD_CREATE, nullptr, nullptr, 0);
    if (created < 0) return created;
    return kernel::fsmount(filesystem.get(), FSMOUNT_CLOEXEC, static_cast<unsigned int>(attributes));
}

// For a host without a /dev/null: a node of our own, on a file system no path leads to. Cloning out of such a
// mount needs Linux 6.15.
int make_null_device() {
    const Fd tree{make_tmpfs(MOUNT_ATTR_NOSUID | MOUNT_ATTR_NOEXEC)};
    if (!tree) return tree.get();
    const int made =
        kernel::checked(mknodat(tree.get(), "null", S_IFCHR | 0666, makedev(kMemMajor, kNullMinor)));
    if (made < 0) return made;
    const Fd node{kernel::checked(openat(tree.get(), "null", O_PATH | O_NOFOLLOW | O_CLOEXEC))};
    return node ? clone_tree(node.get(), Depth::one_mount) : node.get();
}

bool are_same_file(int one, int other) {
    struct stat first {};
    struct stat second {};
    return fstat(one, &first) == 0 && fstat(other, &second) == 0 && first.st_dev == second.st_dev &&
           first.st_ino == second.st_ino;
}

// Before Linux 6.15 a detached mount cannot be cloned, an attached one always can: the first target gets the
// mount itself, and every further one a clone of that.
int cover(int mask, bool is_attached, int target) {
    if (!is_attached) return attach(mask, target);
    const Fd clone{clone_tree(mask, Depth::one_mount)};
    return clone ? attach(clone.get(), target) : clone.get();
}

int cover_directory(Context& context, int target) {
    const bool is_attached = context.empty_directory >= 0;
    if (!is_attached) {
        const int tree = make_tmpfs(kHarmless | MOUNT_ATTR_RDONLY);
        if (tree < 0) return tree;
        context.empty_directory = tree;
    } else if (are_same_file(target, context.empty_directory)) {
        return 0;  // this path is listed twice
    }
    return cover(context.empty_directory, is_attached, target);
}

int cover_file(Context& context, int target) {
    if (context.null_device < 0) return -ENODEV;
    if (context.null_device_attached && are_same_file(target, context.null_device)) return 0;
    const int result = cover(context.null_device, context.null_device_attached, target);
    if (result >= 0) context.null_device_attached = true;
    return result;
}

}  // namespace

int keep_null_device(Context& context) {
    if (context.null_device >= 0 || !masks_something(context.program)) return 0;
    const Fd node{kernel::checked(open("/dev/null", O_PATH | O_NOFOLLOW | O_CLOEXEC))};
    const bool is_genuine = node && is_null_device(node.get());
    const int tree = is_genuine ? clone_tree(node.get(), Depth::one_mount) : make_null_device();
    if (tree < 0) return tree;
    context.null_device = tree;
    // Read-only: it is the host's own node, and a root of the container could change its mode through the
    // mask. Reading and writing the device stay possible.
    return set_attributes(tree, MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOSUID | MOUNT_ATTR_NOEXEC, 0,
                          Depth::one_mount);
}

Outcome perform(Context& context, const PinPath& step) {
    const Fd target{resolve_plain(context, step.path.c_str())};
    if (target.get() == -ENOENT || target.get() == -ENOTDIR) return done();
    if (!target) return failed(target.get());
    const Fd tree{clone_tree(target.get(), Depth::recursive)};
    return failed(tree ? attach(tree.get(), target.get()) : tree.get());
}

Outcome perform(Context& context, const MaskPath& step) {
    const Fd target{resolve(context, step.path.c_str())};
    // There is nothing to hide.
    if (target.get() == -ENOENT || target.get() == -ENOTDIR) return done();
    if (!target) return failed(target.get());
    const bool is_directory = kind_of(target.get()) == TargetKind::directory;
    const int result =
        is_directory ? cover_directory(context, target.get()) : cover_file(context, target.get());
    return result < 0 ? failed(result) : done();
}

// A mount of its own, so that it can be read-only while what it was a piece of is not.
Outcome perform(Context& context, const ReadOnlyPath& step) {
    const Fd target{resolve(context, step.path.c_str())};
    if (target.get() == -ENOENT || target.get() == -ENOTDIR) return done();
    if (!target) return failed(target.get());
    const Fd tree{clone_tree(target.get(), Depth::recursive)};
    if (!tree) return failed(tree.get());
    int result = set_attributes(tree.get(), MOUNT_ATTR_RDONLY, 0, Depth::recursive);
    if (result >= 0) result = attach(tree.get(), target.get());
    return result < 0 ? failed(result) : done();
}

}  // namespace rung::child

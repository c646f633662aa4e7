// The container's root: made a mount of its own, and later "/". Nothing done to it may reach the host, so its
// surroundings become private first.
// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <sys/mount.h>
#include <unistd.h>

#include "base/fd.hpp"
#include "child/masks.hpp"
#include "child/targets.hpp"
#include "child/trees.hpp"
#include "kernel/syscalls.hpp"

namespace rung::child {
namespace {

int open_directory(int directory, const char* path) {
    return kernel::checked(openat(directory, path, O_PATH | O_DIRECTORY | O_CLOEXEC));
}

// pivot_root(2) refuses a root whose parent mount is shared, and what is mounted below a shared one would
// appear on the host. Only the root of a mount can be changed: the way there leads upwards.
int part_from_host(int rootfs, uint64_t propagation) {
    Fd place{open_directory(rootfs, ".")};
    for (int depth = 0; depth < kMaxPath / 2 && place; ++depth) {
        mount_attr attributes{};
        attributes.propagation = propagation;
        const int result = kernel::mount_setattr(place.get(), "", AT_EMPTY_PATH, attributes);
        if (result != -EINVAL) return result;
        place = Fd{open_directory(place.get(), "..")};
    }
    return place ? -EINVAL : place.get();
}

int change_root_to(int directory) {
    if (fchdir(directory) < 0) return -errno;
    if (chroot(".") < 0) return -errno;
    return kernel::checked(chdir("/"));
}

}  // namespace

void keep_root(Context& context, int root) {
    if (context.root >= 0) (void)close(context.root);
    context.root = root;
}

Outcome perform(Context&, const SetRootPropagation& step) {
    return failed(kernel::checked(mount(nullptr, "/", nullptr, step.flags, nullptr)));
}

Outcome perform(Context& context, const BindRootfs& step) {
    const Fd rootfs{open_directory(AT_FDCWD, step.path.c_str())};
    if (!rootfs) return failed(rootfs.get());
    if (!step.on_host) {
        const uint64_t propagation = step.slave ? MS_SLAVE : MS_PRIVATE;
        if (const int result = part_from_host(rootfs.get(), propagation); result < 0) return failed(result);
    }
    Fd tree{clone_tree(rootfs.get(), step.recursive ? Depth::recursive : Depth::one_mount)};
    if (!tree) return failed(tree.get());
    if (step.on_host) {
        // A peer of the host's own mount would show it all that is mounted here.
        mount_attr attributes{};
        attributes.propagation = MS_PRIVATE;
        const unsigned int recursively = AT_EMPTY_PATH | AT_RECURSIVE;
        if (const int result = kernel::mount_setattr(tree.get(), "", recursively, attributes); result < 0)
            return failed(result);
    }
    if (const int result = attach(tree.get(), rootfs.get()); result < 0) return failed(result);
    // The clone's descriptor is the new mount's root: no second look-up could be led elsewhere.
    keep_root(context, tree.release());

    const int result = keep_null_device(context);
    return result < 0 ? failed(result, Detail::source, "/dev/null") : done();
}

Outcome perform(Context& context, const OpenRootfs& step) {
    const int root = open_directory(AT_FDCWD, step.path.c_str());
    if (root < 0) return failed(root);
    keep_root(context, root);
    return done();
}

// The old root comes to lie on top of the new one, and is taken away from there: no directory in the
// container is needed for it.
Outcome perform(Context& context, const PivotRoot&) {
    const Fd old_root{open_directory(AT_FDCWD, "/")};
    if (!old_root) return failed(old_root.get());
    if (fchdir(context.root) < 0) return failed(-errno);
    if (const int result = kernel::pivot_root(".", "."); result < 0) return failed(result);

    // Unmounting propagates: without this the host's mounts would go too.
    mount_attr slave{};
    slave.propagation = MS_SLAVE;
    const unsigned int recursively = AT_EMPTY_PATH | AT_RECURSIVE;
    if (const int result = kernel::mount_setattr(old_root.get(), "", recursively, slave); result < 0)
        return failed(result);
    if (umount2(".", MNT_DETACH) < 0) return failed(-errno);
    // From here on the old root is gone, and context.root is "/".
    return failed(kernel::checked(chdir("/")));
}

Outcome perform(Context& context, const ChangeRoot&) {
    return failed(change_root_to(context.root));
}

Outcome perform(Context& context, const RemountRoot& step) {
    const uint64_t set = step.set | (step.read_only ? MOUNT_ATTR_RDONLY : 0U);
    if (const int result = set_attributes(context.root, set, 0, Depth::one_mount); result < 0)
        return failed(result);
    return failed(set_propagation(context.root, step.propagation));
}

}  // namespace rung::child

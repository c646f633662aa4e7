// The container's mounts. Each is complete, with its attributes, before it becomes visible at its target;
// only propagation is set afterwards, since it also depends on where the mount is. File systems:
// filesystem.cpp.
// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <sys/mount.h>
#include <unistd.h>

#include "base/fd.hpp"
#include "child/proc_guard.hpp"
#include "child/targets.hpp"
#include "child/trees.hpp"
#include "kernel/syscalls.hpp"

namespace rung::child {
namespace {

Outcome attach_at(const Context& context, int tree, const char* path, bool nofollow) {
    const Fd target{nofollow ? resolve_or_make_itself(context, path, kind_of(tree))
                             : resolve_or_make(context, path, kind_of(tree))};
    if (!target) return failed(target.get(), Detail::target_create, path);
    if (const int result = guard_proc(context, tree, target.get()); result < 0)
        return failed(result, Detail::target_in_proc, path);
    return failed(attach(tree, target.get()));
}

}  // namespace

Outcome perform(Context& context, const AttachTree& step) {
    int& slot = context.descriptors.slots[static_cast<size_t>(step.tree)];
    Fd tree{slot};
    slot = -1;
    if (!tree) return failed(-EBADF);
    if (step.mount.empty()) {
        const Outcome attached = attach_at(context, tree.get(), step.target.c_str(), step.nofollow);
        if (!attached.failed() && step.becomes_root) keep_root(context, tree.release());
        return attached;
    }
    const Fd place{resolve_plain_piece(context, step.target.c_str(), step.mount.c_str())};
    if (!place) return failed(place.get());
    return failed(attach(tree.get(), place.get()));
}

Outcome perform(Context& context, const BindHostPath& step) {
    const Depth depth = step.recursive ? Depth::recursive : Depth::one_mount;
    const char* path = step.source.c_str();
    // Two calls: with flags that are not constant the C library's checked variant would be needed.
    const Fd source{kernel::checked(step.source_nofollow ? open(path, O_PATH | O_CLOEXEC | O_NOFOLLOW)
                                                         : open(path, O_PATH | O_CLOEXEC))};
    if (!source) return failed(source.get(), Detail::source, path);
    Fd tree{clone_tree(source.get(), depth)};
    if (!tree) return failed(tree.get());
    const Depth reach = step.recursive_attributes ? depth : Depth::one_mount;
    const uint64_t all = step.clear | step.clear_unless_locked;
    Outcome changed = change_attributes(tree.get(), step.attributes, all, reach);
    if (changed.error == EPERM && step.clear_unless_locked != 0)
        changed = change_attributes(tree.get(), step.attributes, step.clear, reach);
    if (!changed.failed() && step.id_map >= 0) changed = map_ids_by_parent(context, tree.get(), step.id_map);
    if (changed.failed()) return changed;
    const Outcome attached = attach_at(context, tree.get(), step.target.c_str(), step.target_nofollow);
    if (!attached.failed() && step.becomes_root) keep_root(context, tree.release());
    return attached;
}

Outcome perform(Context& context, const RemountTarget& step) {
    const Fd target{resolve(context, step.target.c_str())};
    if (!target) return failed(target.get());
    const Depth depth = step.recursive ? Depth::recursive : Depth::one_mount;
    const Outcome changed = change_attributes(target.get(), step.set, step.clear, depth);
    if (changed.failed()) return changed;
    return failed(set_propagation(target.get(), step.propagation));
}

// By the name in its directory, for which no path has to be walked: a symlink of that name is an error.
Outcome perform(Context& context, const Unmount& step) {
    const Fd target{resolve(context, step.target.c_str())};
    if (!target) return failed(target.get());
    const char* name = nullptr;
    const Fd directory{resolve_parent(context, step.target.c_str(), name)};
    if (!directory) return failed(directory.get());
    if (fchdir(directory.get()) < 0) return failed(-errno);
    return failed(kernel::checked(umount2(name, MNT_DETACH | UMOUNT_NOFOLLOW)));
}

Outcome perform(Context& context, const BindSlice& step) {
    const Fd place{resolve(context, step.path.c_str())};
    if (!place) return failed(place.get());
    const Fd tree{clone_tree(place.get(), Depth::recursive)};
    if (!tree) return failed(tree.get());
    if (const int result = set_attributes(tree.get(), step.set, step.clear, Depth::recursive); result < 0)
        return failed(result);
    return failed(attach(tree.get(), place.get()));
}

Outcome perform(Context& context, const KeepTree& step) {
    const Fd place{step.mount.empty() ? resolve(context, step.path.c_str())
                                      : resolve_plain_piece(context, step.path.c_str(), step.mount.c_str())};
    if (!place) return failed(place.get());
    Fd tree{clone_tree(place.get(), Depth::recursive)};
    if (!tree) return failed(tree.get());
    if (const int result = set_attributes(tree.get(), step.set, 0, Depth::recursive); result < 0)
        return failed(result);
    context.descriptors.slots[static_cast<size_t>(step.kept)] = tree.release();
    return done();
}

}  // namespace rung::child

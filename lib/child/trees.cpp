// Cloning mounts and changing them by descriptor: open_tree(2), mount_setattr(2).
// SPDX-License-Identifier: Apache-2.0
#include "child/trees.hpp"

#include <fcntl.h>
#include <sys/vfs.h>

#include <cerrno>

#include "kernel/syscalls.hpp"

namespace rung::child {
namespace {

unsigned int at_flags(Depth depth) {
    return AT_EMPTY_PATH | (depth == Depth::recursive ? AT_RECURSIVE : 0U);
}

}  // namespace

int clone_tree(int place, Depth depth) {
    return kernel::open_tree(place, "", OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC | at_flags(depth));
}

int set_attributes(int tree, uint64_t set, uint64_t clear, Depth depth) {
    // The atime modes are one number, not bits: the kernel takes a new one only together with the whole field
    // cleared.
    if (((set | clear) & MOUNT_ATTR__ATIME) != 0) clear |= MOUNT_ATTR__ATIME;
    if ((set | clear) == 0) return 0;
    mount_attr attributes{};
    attributes.attr_set = set;
    attributes.attr_clr = clear;
    return kernel::mount_setattr(tree, "", at_flags(depth), attributes);
}

Outcome change_attributes(int tree, uint64_t set, uint64_t clear, Depth depth) {
    const int result = set_attributes(tree, set, clear, depth);
    if (result != -EPERM || clear == 0) return failed(result);
    struct statfs status {};
    if (fstatfs(tree, &status) < 0) return failed(result);
    const uint64_t locked =
        static_cast<uint64_t>(status.f_flags) & clear & kLockable;  // statfs(2) has the same bits
    if (locked == 0) return failed(result);
    return {.error = EPERM, .detail = Detail::locked_attributes, .value = static_cast<int32_t>(locked)};
}

int set_propagation(int tree, const std::vector<unsigned long>& flags) {
    for (const unsigned long flag : flags) {
        mount_attr attributes{};
        attributes.propagation = flag & (MS_SHARED | MS_SLAVE | MS_PRIVATE | MS_UNBINDABLE);
        const Depth depth = (flag & MS_REC) != 0 ? Depth::recursive : Depth::one_mount;
        const int result = kernel::mount_setattr(tree, "", at_flags(depth), attributes);
        if (result < 0) return result;
    }
    return 0;
}

}  // namespace rung::child

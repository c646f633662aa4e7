// Whether a mount is ours is told by its id: the one that was there before is still below it, so its id is not given anew.
// SPDX-License-Identifier: Apache-2.0
#include "runtime/host_mounts.hpp"

#include <fcntl.h>
#include <sys/mount.h>
#include <sys/stat.h>

#include <cerrno>

namespace rung::runtime {

Result<uint64_t> mount_showing(const std::string& path) {
    struct statx status {};
    if (statx(AT_FDCWD, path.c_str(), AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT, STATX_MNT_ID, &status) < 0)
        return errno_error(path, errno);
    if ((status.stx_mask & STATX_MNT_ID) == 0)
        return Error{.message = "mounts: without a mount namespace this needs Linux 5.8"};
    return uint64_t{status.stx_mnt_id};
}

Status remove_host_mounts(const State& state) {
    if (!state.rootfs_mount) return {};
    const auto now = mount_showing(state.rootfs);
    if (!now || *now == *state.rootfs_mount) return {};  // the rootfs is gone, or as it was
    if (umount2(state.rootfs.c_str(), MNT_DETACH | UMOUNT_NOFOLLOW) < 0)
        return errno_error("unmount " + state.rootfs, errno);
    return {};
}

}  // namespace rung::runtime

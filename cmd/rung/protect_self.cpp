// A process inside a container can reach the file that another process there executes, through /proc/PID/exe: by naming it as the
// program to start (`/proc/self/exe`, or the interpreter of a script), or from a second process. Whoever keeps that file open until
// rung has ended can write to it then, and so replaces the runtime on the host. So whatever of rung runs inside executes from a
// read-only mount that exists nowhere in the file system: nobody can remount it, and writing through it is EROFS for ever. The mount
// shares the pages of the file, so this costs one execve and no memory. Where mounts may not be cloned, a sealed memory file does.
// SPDX-License-Identifier: Apache-2.0
#include "protect_self.hpp"

#include <fcntl.h>
#include <linux/mount.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "base/fd.hpp"
#include "kernel/syscalls.hpp"
#include "own_program.hpp"

#ifndef MFD_EXEC
#define MFD_EXEC 0x0010U  // Linux 6.3
#endif

namespace rung::cli {

namespace {

constexpr const char* kSelf = "/proc/self/exe";
// In the environment of the second execution only. It protects nothing: it ends what would be a loop.
constexpr const char* kOnceMore = "RUNG_EXECUTED_AGAIN";
constexpr unsigned int kSeals = F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE;

bool is_read_only_mount() {
    struct statfs status = {};
    return statfs(kSelf, &status) == 0 && (status.f_flags & ST_RDONLY) != 0;
}

bool is_sealed() {
    const Fd file{open(kSelf, O_RDONLY | O_CLOEXEC)};
    const int seals = file ? fcntl(file.get(), F_GET_SEALS) : -1;  // EINVAL for all that is no memory file
    return seals >= 0 && (static_cast<unsigned int>(seals) & kSeals) == kSeals;
}

// Of a file that only the host's root owns and this user cannot write to neither can any process of this user's containers. Any other
// owner may be mapped into one, and could change the mode.
bool may_become_writable() {
    struct stat status = {};
    if (stat(kSelf, &status) != 0 || status.st_uid != 0) return true;
    return faccessat(AT_FDCWD, kSelf, W_OK, AT_EACCESS) == 0;
}

Fd clone_read_only() {
    Fd tree{kernel::open_tree(AT_FDCWD, kSelf, OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC)};
    if (!tree) return {};
    const mount_attr attributes = {.attr_set = MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV,
                                   .attr_clr = 0,
                                   .propagation = 0,
                                   .userns_fd = 0};
    if (kernel::mount_setattr(tree.get(), "", AT_EMPTY_PATH, attributes) < 0) return {};
    return tree;
}

Result<Fd> copy_sealed() {
    const Fd source{open(kSelf, O_RDONLY | O_CLOEXEC)};
    struct stat status = {};
    if (!source || fstat(source.get(), &status) != 0) return errno_error("open rung's own executable", errno);
    Fd copy{memfd_create("rung", MFD_CLOEXEC | MFD_ALLOW_SEALING | MFD_EXEC)};
    if (!copy && errno == EINVAL)
        copy = Fd{memfd_create("rung", MFD_CLOEXEC | MFD_ALLOW_SEALING)};  // before Linux 6.3
    if (!copy) return errno_error("make a memory file for rung's own executable", errno);
    for (off_t left = status.st_size; left > 0;) {
        const ssize_t count = sendfile(copy.get(), source.get(), nullptr, static_cast<size_t>(left));
        if (count <= 0) return errno_error("copy rung's own executable", count == 0 ? EIO : errno);
        left -= count;
    }
    if (fcntl(copy.get(), F_ADD_SEALS, kSeals) != 0)
        return errno_error("seal the copy of rung's executable", errno);
    return copy;
}

}  // namespace

bool may_enter_container(int argc, char* const* argv) {
    for (int index = 1; index < argc; ++index) {
        for (const char* verb : {"create", "run", "exec", "do"}) {
            if (std::strcmp(argv[index], verb) == 0) return true;
        }
    }
    return false;
}

Status protect_self(char* const* argv) {
    if (is_read_only_mount()) return {};
    const bool again = getenv(kOnceMore) != nullptr;
    if (again && is_sealed()) return {};
    if (again)
        return Error{
            .message =
                "rung's own executable cannot be protected: it is still writable in the second execution"};

    if (setenv(kOnceMore, "1", 1) != 0 || setenv(kOwnProgram, own_program().c_str(), 1) != 0)
        return errno_error("setenv", errno);
    if (const Fd tree = clone_read_only()) (void)execveat(tree.get(), "", argv, environ, AT_EMPTY_PATH);
    // Not permitted to clone a mount, or a security module does not know a program without a path.
    if (!may_become_writable()) return {};
    const Fd copy = TRY(copy_sealed());
    (void)execveat(copy.get(), "", argv, environ, AT_EMPTY_PATH);
    return errno_error("execute rung's protected copy", errno);
}

}  // namespace rung::cli

// Copying a tree by descriptors: no path is built, so no symlink in the source or the target can lead a name
// elsewhere.
// SPDX-License-Identifier: Apache-2.0
#include "child/tmpfs_copy.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/xattr.h>

#include <cstring>

#include "base/fd.hpp"
#include "kernel/syscalls.hpp"

namespace rung::child {
namespace {

constexpr int kMaxDepth = 32;
constexpr size_t kChunk = size_t{1} << 20;

struct Place {
    int directory = -1;
    const char* name = "";
};

int copy_directory(int source, int target, int depth);

int open_to_read(const Place& place, int flags) {
    return kernel::checked(
        openat(place.directory, place.name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC | flags));
}

// Those that the target's file system or this user namespace does not accept stay behind.
void copy_extended_attributes(int source, int target) {
    char names[1024];
    char value[1024];
    const ssize_t length = flistxattr(source, names, sizeof names);
    for (const char* name = names; length > 0 && name < names + length; name += strlen(name) + 1) {
        const ssize_t size = fgetxattr(source, name, value, sizeof value);
        if (size >= 0) (void)fsetxattr(target, name, value, static_cast<size_t>(size), 0);
    }
}

// In this order: a change of owner clears set-user-ID bits and file capabilities.
int copy_metadata(int source, int target, const struct stat& status) {
    if (fchown(target, status.st_uid, status.st_gid) < 0) return -errno;
    if (fchmod(target, status.st_mode & 07777) < 0) return -errno;
    copy_extended_attributes(source, target);
    return 0;
}

int copy_file(const Place& from, const Place& to, const struct stat& status) {
    const Fd source{open_to_read(from, 0)};
    if (!source) return source.get();
    const Fd target{kernel::checked(
        openat(to.directory, to.name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600))};
    if (!target) return target.get();
    for (;;) {
        const int count = kernel::checked(sendfile(target.get(), source.get(), nullptr, kChunk));
        if (count < 0) return count;
        if (count == 0) return copy_metadata(source.get(), target.get(), status);
    }
}

int copy_subdirectory(const Place& from, const Place& to, const struct stat& status, int depth) {
    if (mkdirat(to.directory, to.name, 0700) < 0) return -errno;
    const Fd source{open_to_read(from, O_DIRECTORY)};
    if (!source) return source.get();
    const Fd target{open_to_read(to, O_DIRECTORY)};
    if (!target) return target.get();
    if (const int result = copy_directory(source.get(), target.get(), depth + 1); result < 0) return result;
    return copy_metadata(source.get(), target.get(), status);
}

// Not inlined: its buffer would take room in every level of the recursion.
[[gnu::noinline]] int copy_symlink(const Place& from, const Place& to) {
    char content[4096];
    const int length = kernel::checked(readlinkat(from.directory, from.name, content, sizeof content - 1));
    if (length < 0) return length;
    content[length] = '\0';
    return kernel::checked(symlinkat(content, to.directory, to.name));
}

int copy_owner(const Place& to, const struct stat& status) {
    return kernel::checked(
        fchownat(to.directory, to.name, status.st_uid, status.st_gid, AT_SYMLINK_NOFOLLOW));
}

int copy_node(const Place& to, const struct stat& status) {
    return kernel::checked(mknodat(to.directory, to.name, status.st_mode, status.st_rdev));
}

int copy_entry(const Place& from, const Place& to, int depth) {
    struct stat status {};
    if (fstatat(from.directory, from.name, &status, AT_SYMLINK_NOFOLLOW) < 0) return -errno;
    if (S_ISREG(status.st_mode)) return copy_file(from, to, status);
    if (S_ISDIR(status.st_mode)) return copy_subdirectory(from, to, status, depth);
    const int made = S_ISLNK(status.st_mode) ? copy_symlink(from, to) : copy_node(to, status);
    return made < 0 ? made : copy_owner(to, status);
}

int copy_directory(int source, int target, int depth) {
    if (depth > kMaxDepth) return -ELOOP;
    alignas(dirent64) char entries[4096];
    for (;;) {
        const int length = kernel::checked(syscall(SYS_getdents64, source, entries, sizeof entries));
        if (length <= 0) return length;
        for (int offset = 0; offset < length;) {
            const auto* entry = reinterpret_cast<const dirent64*>(entries + offset);
            offset += entry->d_reclen;
            const char* name = entry->d_name;
            if (strcmp(name, ".") == 0 || strcmp(name, "..") == 0) continue;
            const int result = copy_entry({source, name}, {target, name}, depth);
            if (result < 0) return result;
        }
    }
}

}  // namespace

int copy_content(int source, int target) {
    // An O_PATH descriptor names the directory, but cannot be read.
    const Fd readable{open_to_read({source, "."}, O_DIRECTORY)};
    return readable ? copy_directory(readable.get(), target, 1) : readable.get();
}

}  // namespace rung::child

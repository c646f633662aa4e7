// Resolution of container paths. The kernel walks them, with the container's root as the end of every ".."
// and every absolute symlink, so a container that renames or swaps symlinks meanwhile changes where inside
// its root a path leads, never that it stays inside. What is missing is made one component at a time, each at
// the descriptor of its parent.
// SPDX-License-Identifier: Apache-2.0
#include "child/targets.hpp"

#include <fcntl.h>
#include <sys/stat.h>

#include <cstring>

#include "base/fd.hpp"
#include "kernel/syscalls.hpp"

namespace rung::child {
namespace {

constexpr int kMaxRetries = 128;
constexpr int kMaxLinks = 40;  // as the kernel's own limit, path_resolution(7)
constexpr mode_t kDirectoryMode = 0755;
constexpr mode_t kFileMode = 0755;  // as runc: it stays in the image when the mount is gone

int open_in_root(int root, const char* path, uint64_t flags, uint64_t resolve_flags) {
    open_how how{};
    how.flags = O_PATH | O_CLOEXEC | flags;
    how.resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS | resolve_flags;
    int result = -EAGAIN;
    // EAGAIN: something was renamed or mounted while a ".." was walked, and the kernel cannot vouch for the
    // result. openat2(2).
    for (int retry = 0; retry < kMaxRetries && result == -EAGAIN; ++retry) {
        result = kernel::openat2(root, path, how);
    }
    return result;
}

int make(int parent, const char* name, TargetKind kind) {
    const int result =
        kernel::checked(kind == TargetKind::directory ? mkdirat(parent, name, kDirectoryMode)
                                                      : mknodat(parent, name, S_IFREG | kFileMode, 0));
    return result == -EEXIST ? 0 : result;  // whoever opens it next sees what it is
}

// A path of which an end is missing. Dangling symlinks in it are replaced by what they say, until every
// component can be made.
class MissingPath {
  public:
    explicit MissingPath(int root) : root_(root) {}

    int open_or_make(const char* path, TargetKind kind) {
        length_ = strlen(path);
        if (length_ >= sizeof path_) return -ENAMETOOLONG;
        memcpy(path_, path, length_ + 1);
        // Each round makes a component or follows a symlink; the limit is for a container that removes them
        // again.
        for (int round = 0; round < kMaxPath; ++round) {
            const int found = open_in_root(root_, path_, 0, 0);
            if (found != -ENOENT) return found;
            if (const int result = make_next(kind); result < 0) return result;
        }
        return -ELOOP;
    }

  private:
    // The part of the path that is looked at: path_[begin, end).
    struct Component {
        size_t begin = 0;
        size_t end = 0;
    };

    Component last_before(size_t end) const {
        while (end > 0 && path_[end - 1] == '/')
            --end;
        size_t begin = end;
        while (begin > 0 && path_[begin - 1] != '/')
            --begin;
        return {begin, end};
    }

    int open_prefix(size_t length) {
        if (length == 0) return open_in_root(root_, "/", 0, 0);
        const char kept = path_[length];
        path_[length] = '\0';
        const int result = open_in_root(root_, path_, 0, 0);
        path_[length] = kept;
        return result;
    }

    // Finds the first component that is missing and makes it, or puts a dangling symlink's content in its
    // place.
    int make_next(TargetKind kind) {
        Component component = last_before(length_);
        Fd parent{open_prefix(component.begin)};
        while (parent.get() == -ENOENT && component.begin > 0) {
            component = last_before(component.begin);
            parent = Fd{open_prefix(component.begin)};
        }
        if (!parent) return parent.get();
        if (component.begin == component.end) return -ENOENT;

        const bool is_last = last_before(length_).end == component.end;
        const char kept = path_[component.end];
        path_[component.end] = '\0';
        char link[kMaxPath];
        const int link_length =
            kernel::checked(readlinkat(parent.get(), path_ + component.begin, link, sizeof link));
        int result = 0;
        if (link_length == -ENOENT) {
            result = make(parent.get(), path_ + component.begin, is_last ? kind : TargetKind::directory);
        } else if (link_length < 0 && link_length != -EINVAL) {
            result = link_length;
        }
        path_[component.end] = kept;
        if (link_length > 0) return follow(component, link, static_cast<size_t>(link_length));
        return result;  // EINVAL: it is no symlink, it came to be meanwhile
    }

    int follow(const Component& component, const char* link, size_t link_length) {
        if (++links_ > kMaxLinks) return -ELOOP;
        const size_t head = link[0] == '/' ? 0 : component.begin;
        const size_t rest = length_ - component.end;
        if (head + link_length + rest >= sizeof path_) return -ENAMETOOLONG;
        memmove(path_ + head + link_length, path_ + component.end, rest + 1);
        memcpy(path_ + head, link, link_length);
        length_ = head + link_length + rest;
        return 0;
    }

    int root_;
    char path_[kMaxPath] = {};
    size_t length_ = 0;
    int links_ = 0;
};

}  // namespace

int resolve_in(int root, const char* path) {
    return open_in_root(root, path, 0, 0);
}

int resolve_or_make_in(int root, const char* path, TargetKind kind) {
    const int found = resolve_in(root, path);
    if (found != -ENOENT) return found;
    return MissingPath{root}.open_or_make(path, kind);
}

int resolve(const Context& context, const char* path) {
    return resolve_in(context.root, path);
}

int resolve_plain(const Context& context, const char* path) {
    return open_in_root(context.root, path, 0, RESOLVE_NO_SYMLINKS);
}

int resolve_plain_directory(const Context& context, const char* path) {
    return open_in_root(context.root, path, O_DIRECTORY, RESOLVE_NO_SYMLINKS);
}

int resolve_plain_piece(const Context& context, const char* path, const char* mount) {
    const size_t length = strlen(mount);
    if (strncmp(path, mount, length) != 0) return -EINVAL;
    const Fd holder{resolve(context, mount)};
    if (!holder) return holder.get();
    const char* rest = path + length;
    while (*rest == '/')
        ++rest;
    return open_in_root(holder.get(), rest, 0, RESOLVE_NO_SYMLINKS);
}

int resolve_or_make(const Context& context, const char* path, TargetKind kind) {
    return resolve_or_make_in(context.root, path, kind);
}

int resolve_parent(const Context& context, const char* path, const char*& name) {
    const char* slash = strrchr(path, '/');
    name = slash == nullptr ? path : slash + 1;
    if (*name == '\0' || strcmp(name, ".") == 0 || strcmp(name, "..") == 0) return -EINVAL;
    const size_t length = static_cast<size_t>(name - path);
    if (length == 0) return resolve(context, "/");
    char parent[kMaxPath];
    if (length >= sizeof parent) return -ENAMETOOLONG;
    memcpy(parent, path, length);
    parent[length] = '\0';
    return resolve_or_make(context, parent, TargetKind::directory);
}

int resolve_or_make_itself(const Context& context, const char* path, TargetKind kind) {
    const char* name = nullptr;
    const Fd parent{resolve_parent(context, path, name)};
    if (!parent) return parent.get();
    const int found = kernel::checked(openat(parent.get(), name, O_PATH | O_NOFOLLOW | O_CLOEXEC));
    if (found != -ENOENT) return found;
    if (const int made = make(parent.get(), name, kind); made < 0) return made;
    return kernel::checked(openat(parent.get(), name, O_PATH | O_NOFOLLOW | O_CLOEXEC));
}

TargetKind kind_of(int source) {
    struct stat status {};
    const bool is_directory = fstat(source, &status) == 0 && S_ISDIR(status.st_mode);
    return is_directory ? TargetKind::directory : TargetKind::file;
}

int attach(int tree, int target) {
    const int result =
        kernel::move_mount(tree, "", target, "", MOVE_MOUNT_F_EMPTY_PATH | MOVE_MOUNT_T_EMPTY_PATH);
    // A directory on a file, or the reverse: ENOTDIR, as mount(2) says and engines explain to their users.
    return result == -EINVAL && kind_of(tree) != kind_of(target) ? -ENOTDIR : result;
}

}  // namespace rung::child

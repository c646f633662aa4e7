// --no-pivot: where "/" is the initial ramfs, which pivot_root(2) refuses, the new root is moved onto it. The
// host's mounts then stay in the namespace, out of sight but not gone, so the complete proc and sysfs
// instances among them are taken away first: as long as the kernel finds one, it lets a user namespace mount
// another, without what the container's masks cover.
// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <sys/mount.h>
#include <unistd.h>

#include <cstring>

#include "base/fd.hpp"
#include "child/context.hpp"
#include "child/small_text.hpp"
#include "kernel/syscalls.hpp"

namespace rung::child {
namespace {

constexpr size_t kDescriptorPath = 40;

// One line of /proc/self/mountinfo, proc(5): "36 35 98:0 /root /mount/point options optional... - type source
// super".
class MountLine {
  public:
    // Cuts `line` into its fields, in place.
    explicit MountLine(char* line) {
        char* rest = line;
        for (int field = 0; field < 5; ++field) {
            char* text = next_field(rest);
            if (field == 3) root_ = text;
            if (field == 4) mount_point_ = text;
        }
        for (char* text = next_field(rest); *text != '\0'; text = next_field(rest)) {
            if (strcmp(text, "-") == 0) break;
        }
        type_ = next_field(rest);
        unescape(mount_point_);
    }

    const char* mount_point() const { return mount_point_; }
    bool is_complete_kernel_view() const {
        return strcmp(root_, "/") == 0 && (strcmp(type_, "proc") == 0 || strcmp(type_, "sysfs") == 0);
    }
    bool is_beneath(const char* directory) const {
        const size_t length = strlen(directory);
        return strncmp(mount_point_, directory, length) == 0 &&
               (mount_point_[length] == '/' || mount_point_[length] == '\0');
    }

  private:
    static char* next_field(char*& rest) {
        char* field = rest;
        while (*rest != '\0' && *rest != ' ')
            ++rest;
        if (*rest == ' ') *rest++ = '\0';
        return field;
    }

    // Blanks and backslashes in a path are written as "\040".
    static void unescape(char* text) {
        char* to = text;
        for (const char* from = text; *from != '\0';) {
            if (from[0] == '\\' && from[1] != '\0' && from[2] != '\0' && from[3] != '\0') {
                *to++ = static_cast<char>((from[1] - '0') * 64 + (from[2] - '0') * 8 + (from[3] - '0'));
                from += 4;
            } else {
                *to++ = *from++;
            }
        }
        *to = '\0';
    }

    const char* root_ = "";
    char* mount_point_ = nullptr;
    const char* type_ = "";
};

// Lines of a file, through a buffer that need not hold the whole of it. The end of a longer line is lost:
// only options are that long.
class LineReader {
  public:
    explicit LineReader(int file) : file_(file) {}

    // nullptr at the end, or when reading fails: error() tells.
    char* next() {
        drop_line();
        for (;;) {
            char* newline = static_cast<char*>(memchr(buffer_, '\n', length_));
            if (newline != nullptr || length_ == sizeof buffer_ - 1) {
                line_ends_ = newline != nullptr;
                line_length_ = newline != nullptr ? static_cast<size_t>(newline - buffer_) + 1 : length_;
                buffer_[newline != nullptr ? line_length_ - 1 : length_] = '\0';
                return buffer_;
            }
            const int count = kernel::checked(read(file_, buffer_ + length_, sizeof buffer_ - 1 - length_));
            if (count < 0) error_ = count;
            if (count <= 0) return nullptr;
            length_ += static_cast<size_t>(count);
        }
    }

    int error() const { return error_; }

  private:
    void drop_line() {
        length_ -= line_length_;
        memmove(buffer_, buffer_ + line_length_, length_);
        line_length_ = 0;
        while (!line_ends_) {
            const ssize_t count = read(file_, buffer_, sizeof buffer_ - 1);
            line_ends_ = true;
            if (count <= 0) return;
            const char* newline = static_cast<const char*>(memchr(buffer_, '\n', static_cast<size_t>(count)));
            line_ends_ = newline != nullptr;
            if (newline == nullptr) continue;
            const size_t used = static_cast<size_t>(newline - buffer_) + 1;
            length_ = static_cast<size_t>(count) - used;
            memmove(buffer_, newline + 1, length_);
        }
    }

    int file_;
    char buffer_[8192] = {};
    size_t length_ = 0;
    size_t line_length_ = 0;
    bool line_ends_ = true;
    int error_ = 0;
};

// A mount that came with the user namespace is locked and cannot be unmounted, but it can be covered.
int take_away(const char* mount_point) {
    if (mount(nullptr, mount_point, nullptr, MS_SLAVE | MS_REC, nullptr) < 0) return -errno;
    if (umount2(mount_point, MNT_DETACH) == 0) return 0;
    if (errno != EINVAL && errno != EPERM) return -errno;
    return kernel::checked(mount("tmpfs", mount_point, "tmpfs", MS_RDONLY, nullptr));
}

int take_away_kernel_views(const char* rootfs) {
    // Read to its end even when /proc itself is unmounted: the descriptor keeps its file system alive.
    const Fd mounts{kernel::checked(open("/proc/self/mountinfo", O_RDONLY | O_CLOEXEC))};
    if (!mounts) return mounts.get();
    LineReader lines{mounts.get()};
    for (char* text = lines.next(); text != nullptr; text = lines.next()) {
        const MountLine line{text};
        if (!line.is_complete_kernel_view() || line.is_beneath(rootfs)) continue;
        const int result = take_away(line.mount_point());
        if (result < 0 && result != -ENOENT) return result;
    }
    return lines.error();
}

// The root's path as the kernel writes it, which is how mountinfo names what lies beneath it.
int name_of(int root, char (&name)[kMaxPath]) {
    char link[kDescriptorPath];
    SmallText{link, sizeof link}.add("/proc/self/fd/").add_decimal(static_cast<uint64_t>(root));
    const int length = kernel::checked(readlink(link, name, sizeof name - 1));
    if (length < 0) return length;
    name[length] = '\0';
    return 0;
}

}  // namespace

Outcome perform(Context& context, const MoveRoot&) {
    char rootfs[kMaxPath];
    if (const int result = name_of(context.root, rootfs); result < 0) return failed(result);
    if (const int result = take_away_kernel_views(rootfs); result < 0) return failed(result);

    const int moved = kernel::move_mount(context.root, "", AT_FDCWD, "/", MOVE_MOUNT_F_EMPTY_PATH);
    if (moved < 0) return failed(moved);
    if (fchdir(context.root) < 0) return failed(-errno);
    if (chroot(".") < 0) return failed(-errno);
    return failed(kernel::checked(chdir("/")));
}

}  // namespace rung::child

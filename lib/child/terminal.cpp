// The container's terminal and the ownership of stdio.
// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <linux/magic.h>
#include <linux/openat2.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/vfs.h>
#include <termios.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "base/fd.hpp"
#include "child/context.hpp"
#include "child/descriptors.hpp"
#include "child/small_text.hpp"
#include "child/targets.hpp"
#include "kernel/syscalls.hpp"

namespace rung::child {
namespace {

constexpr unsigned int kTtyMinorPtmx = 2;
constexpr unsigned int kTtyMajor = 5;
constexpr unsigned int kMemMajor = 1;
constexpr unsigned int kNullMinor = 3;

bool is_multiplexer(int file) {
    struct stat status {};
    return fstat(file, &status) == 0 && S_ISCHR(status.st_mode) &&
           status.st_rdev == makedev(kTtyMajor, kTtyMinorPtmx);
}

// What an image put in the place of /dev/ptmx is not opened as a terminal: it has to be the kernel's own multiplexer.
int open_multiplexer() {
    open_how how{};
    how.flags = O_RDWR | O_NOCTTY | O_CLOEXEC;
    how.resolve = RESOLVE_NO_MAGICLINKS;
    int result = -ENOENT;
    for (const char* path : {"/dev/pts/ptmx", "/dev/ptmx"}) {
        result = kernel::openat2(AT_FDCWD, path, how);
        if (result < 0) continue;
        if (is_multiplexer(result)) return result;
        (void)close(result);
        result = -ENODEV;
    }
    return result;
}

enum class Newlines { as_they_are, with_return };

int configure(int master, int slave, const config::ConsoleSize& size, Newlines newlines) {
    if (size.height != 0 || size.width != 0) {
        winsize window{};
        window.ws_row = size.height;
        window.ws_col = size.width;
        if (const int result = kernel::checked(ioctl(master, TIOCSWINSZ, &window)); result < 0) return result;
    }
    if (newlines == Newlines::with_return) return 0;
    termios settings{};
    if (tcgetattr(slave, &settings) < 0) return -errno;
    settings.c_oflag &= ~static_cast<tcflag_t>(ONLCR);
    return kernel::checked(tcsetattr(slave, TCSANOW, &settings));
}

bool is_null_device(int file) {
    struct stat status {};
    return fstat(file, &status) == 0 && S_ISCHR(status.st_mode) &&
           status.st_rdev == makedev(kMemMajor, kNullMinor);
}

// The slave's name travels with the master.
int send_to_console_socket(int console_socket, int master) {
    unsigned int number = 0;
    (void)ioctl(master, TIOCGPTN, &number);
    char name[32];
    const SmallText text = SmallText{name, sizeof name}.add("/dev/pts/").add_decimal(number);
    return send_descriptor(console_socket, name, text.length(), master);
}

// /dev/console is the slave under another name. An image's symlink of that name is not followed (CVE-2025-52565).
int mount_console(const Context& context, int slave) {
    const char* name = nullptr;
    const int directory = resolve_parent(context, "/dev/console", name);
    if (directory < 0) return directory;
    const int target = kernel::checked(
        openat(directory, name, O_CREAT | O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK | O_NOCTTY, 0666));
    (void)close(directory);
    if (target < 0) return target;
    const int tree = kernel::open_tree(slave, "", OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC | AT_EMPTY_PATH);
    const int result = tree < 0 ? tree : attach(tree, target);
    if (tree >= 0) (void)close(tree);
    (void)close(target);
    return result;
}

int become_stdio(int slave, uint32_t uid) {
    if (const int result = kernel::checked(ioctl(slave, TIOCSCTTY, 0)); result < 0) return result;
    // EINVAL: the id has no mapping in the user namespace (runc#4679); the terminal then stays root's.
    if (fchown(slave, uid, static_cast<gid_t>(-1)) < 0 && errno != EINVAL) return -errno;
    for (const int stdio : {0, 1, 2}) {
        if (const int result = kernel::checked(dup2(slave, stdio)); result < 0) return result;
    }
    return 0;
}

}  // namespace

Outcome perform(Context&, const NewSession&) {
    const int result = kernel::checked(setsid());
    // EPERM: already a leader, as the first process of a pid namespace that was entered may be.
    return result == -EPERM ? done() : failed(result);
}

Outcome perform(Context& context, const OpenTerminal& step) {
    const int master = open_multiplexer();
    if (master < 0) return failed(master, Detail::terminal_no_devpts);
    int unlocked = 0;
    if (ioctl(master, TIOCSPTLCK, &unlocked) < 0) return failed(-errno);
    const int slave = kernel::checked(ioctl(master, TIOCGPTPEER, O_RDWR | O_NOCTTY | O_CLOEXEC));
    if (slave < 0) return failed(slave, Detail::terminal_no_devpts);

    // In the foreground the caller's terminal adds the carriage return; an engine's client is raw and expects it from here.
    const bool is_relayed = context.descriptors.console_socket < 0;
    const Newlines newlines = is_relayed ? Newlines::as_they_are : Newlines::with_return;
    if (const int result = configure(master, slave, step.size, newlines); result < 0) return failed(result);
    if (step.mount_console) {
        if (const int result = mount_console(context, slave); result < 0)
            return failed(result, Detail::none, "/dev/console");
    }
    if (const int result = become_stdio(slave, step.uid); result < 0) return failed(result);

    if (context.descriptors.console_socket < 0) {
        send_terminal(context, master);
    } else if (const int result = send_to_console_socket(context.descriptors.console_socket, master);
               result < 0) {
        return failed(result);
    }
    (void)close(master);
    (void)close(slave);
    return done();
}

// Where the container has none that can be opened, the streams stay what they are.
Outcome perform(Context&, const ReopenNullStreams&) {
    const Fd null{kernel::checked(open("/dev/null", O_RDWR | O_NOFOLLOW | O_NOCTTY | O_CLOEXEC))};
    if (!null || !is_null_device(null.get())) return done();
    for (const int stdio : {0, 1, 2}) {
        if (!is_null_device(stdio)) continue;
        if (const int result = kernel::checked(dup2(null.get(), stdio)); result < 0) return failed(result);
    }
    return done();
}

Outcome perform(Context&, const OwnStdio& step) {
    for (const int stdio : {0, 1, 2}) {
        struct stat status {};
        if (fstat(stdio, &status) < 0) continue;
        // A null device must never come to belong to a user of the container, least of all the host's (runc#3674).
        if (is_null_device(stdio) || is_input(stdio, status.st_mode) || status.st_uid == step.uid) continue;
        if (fchown(stdio, step.uid, step.gid) == 0) continue;
        // An unmapped owner, a read-only file system, a socket: the process can use what it was given all the same.
        if (errno != EINVAL && errno != EPERM && errno != EROFS && errno != ENOSYS) return failed(-errno);
    }
    return done();
}

}  // namespace rung::child

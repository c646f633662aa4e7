// The container's root: bound, pivoted to, moved, and made read-only, without a trace on the host.
// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>
#include <fcntl.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/wait.h>
#include <unistd.h>

#include <climits>
#include <csignal>

#include "child/sandbox.hpp"
#include "kernel/syscalls.hpp"

using namespace rung;
using namespace rung::child;

namespace {

std::string working_directory() {
    char path[PATH_MAX];
    return getcwd(path, sizeof path) == nullptr ? "none" : path;
}

int count_lines(const std::string& text) {
    int lines = 0;
    for (const char character : text) {
        if (character == '\n') ++lines;
    }
    return lines;
}

// In a child of this process with a user, mount, pid and network namespace of its own: can it mount `type`?
std::string try_nested_mount(const char* type) {
    clone_args arguments{};
    arguments.flags = CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWPID | CLONE_NEWNET;
    arguments.exit_signal = SIGCHLD;
    const int pid = kernel::clone3(arguments);
    if (pid == 0) {
        const int filesystem = kernel::fsopen(type, FSOPEN_CLOEXEC);
        int result = kernel::fsconfig(filesystem, FSCONFIG_CMD_CREATE, nullptr, nullptr, 0);
        if (result >= 0) result = kernel::fsmount(filesystem, FSMOUNT_CLOEXEC, 0);
        _exit(result < 0 ? -result : 0);
    }
    int status = 0;
    (void)waitpid(pid, &status, 0);
    return text_of(-WEXITSTATUS(status));
}

}  // namespace

TEST_CASE("after the pivot the rootfs is / and nothing of the host is left") {
    const std::string seen = in_sandbox([](Sandbox& sandbox) {
        write_text(sandbox.rootfs() + "/mark", "here");
        make_directory(sandbox.rootfs() + "/proc");
        std::string text = text_of(sandbox.bind_root());
        text += " " + text_of(perform(sandbox.context,
                                      MountFilesystem{.type = "proc", .source = "proc", .target = "/proc"}));
        text += " " + text_of(perform(sandbox.context, PivotRoot{}));
        const int mounts = count_lines(read_text("/proc/self/mountinfo"));
        return text + " " + working_directory() + " " + read_text("/mark") + " " + std::to_string(mounts);
    });

    CHECK(seen == "done done done / here 2");
}

TEST_CASE("the pivot works where / is shared, and no mount reaches the namespace it is shared with") {
    const std::string seen = in_sandbox([](Sandbox& sandbox) {
        (void)mount(nullptr, "/", nullptr, MS_SHARED | MS_REC, nullptr);
        const int before = count_lines(read_text("/proc/self/mountinfo"));
        int ends[2];
        if (pipe(ends) < 0) return std::string{"no pipe"};
        const pid_t pid = fork();
        if (pid == 0) {
            (void)kernel::unshare(CLONE_NEWNS);
            std::string text = text_of(perform(sandbox.context, SetRootPropagation{MS_SHARED | MS_REC}));
            text += " " + text_of(sandbox.bind_root());
            text += " " + text_of(perform(sandbox.context,
                                          MountFilesystem{.type = "tmpfs", .source = "t", .target = "/t"}));
            text += " " + text_of(perform(sandbox.context, PivotRoot{}));
            (void)!write(ends[1], text.data(), text.size());
            (void)pause();
            _exit(0);
        }
        char text[100] = {};
        (void)!read(ends[0], text, sizeof text - 1);
        const int after = count_lines(read_text("/proc/self/mountinfo"));
        (void)kill(pid, SIGKILL);
        (void)waitpid(pid, nullptr, 0);
        return std::string{text} + ", " + std::to_string(after - before) + " more";
    });

    CHECK(seen == "done done done done, 0 more");
}

TEST_CASE("a rootfs beneath a mount that is shared is bound privately") {
    const std::string seen = in_sandbox([](Sandbox& sandbox) {
        (void)mount("tmpfs", sandbox.rootfs().c_str(), "tmpfs", 0, nullptr);
        (void)mount(nullptr, sandbox.rootfs().c_str(), nullptr, MS_SHARED, nullptr);
        make_directory(sandbox.rootfs() + "/images");
        make_directory(sandbox.rootfs() + "/images/one");
        const std::string bound =
            text_of(perform(sandbox.context, BindRootfs{.path = sandbox.rootfs() + "/images/one"}));
        return bound + " " + text_of(perform(sandbox.context, PivotRoot{}));
    });

    CHECK(seen == "done done");
}

TEST_CASE("mounts below the rootfs come along") {
    const std::string seen = in_sandbox([](Sandbox& sandbox) {
        make_directory(sandbox.rootfs() + "/volume");
        (void)mount("tmpfs", (sandbox.rootfs() + "/volume").c_str(), "tmpfs", 0, nullptr);
        write_text(sandbox.rootfs() + "/volume/file", "kept");
        (void)sandbox.bind_root();
        (void)perform(sandbox.context, PivotRoot{});
        return read_text("/volume/file");
    });

    CHECK(seen == "kept");
}

TEST_CASE("a missing rootfs is an error") {
    const std::string seen = in_sandbox([](Sandbox& sandbox) {
        return text_of(perform(sandbox.context, BindRootfs{.path = sandbox.base + "/none"}));
    });

    CHECK(seen == "ENOENT");
}

TEST_CASE("a read-only root refuses writing, and its volumes do not") {
    const std::string seen = in_sandbox([](Sandbox& sandbox) {
        (void)sandbox.bind_root();
        (void)perform(sandbox.context, MountFilesystem{.type = "tmpfs", .source = "t", .target = "/volume"});
        (void)perform(sandbox.context, PivotRoot{});
        const std::string remounted = text_of(
            perform(sandbox.context, RemountRoot{.read_only = true, .propagation = {MS_SLAVE | MS_REC}}));
        return remounted + " " + try_write("/file") + " " + try_write("/volume/file");
    });

    CHECK(seen == "done EROFS done");
}

TEST_CASE("the root becomes shared or unbindable when asked") {
    const std::string seen = in_sandbox([](Sandbox& sandbox) {
        (void)sandbox.bind_root();
        (void)perform(sandbox.context, MountFilesystem{.type = "proc", .source = "proc", .target = "/proc"});
        (void)perform(sandbox.context, PivotRoot{});
        std::string text = text_of(perform(sandbox.context, RemountRoot{.propagation = {MS_SHARED}}));
        text += read_text("/proc/self/mountinfo").find(" / / rw,relatime shared:") != std::string::npos
                    ? " shared"
                    : "";
        text +=
            " " + text_of(perform(sandbox.context, RemountRoot{.propagation = {MS_PRIVATE, MS_UNBINDABLE}}));
        text +=
            read_text("/proc/self/mountinfo").find(" unbindable ") != std::string::npos ? " unbindable" : "";
        return text;
    });

    CHECK(seen.starts_with("done"));
    CHECK(seen.ends_with("done unbindable"));
}

TEST_CASE("without pivot_root the rootfs is moved to /") {
    const std::string seen = in_sandbox([](Sandbox& sandbox) {
        write_text(sandbox.rootfs() + "/mark", "here");
        (void)sandbox.bind_root();
        (void)perform(sandbox.context, MountFilesystem{.type = "proc", .source = "proc", .target = "/proc"});
        const std::string moved = text_of(perform(sandbox.context, MoveRoot{}));
        const bool has_proc = !read_text("/proc/self/mountinfo").empty();
        return moved + " " + working_directory() + " " + read_text("/mark") +
               (has_proc ? " proc" : " no proc");
    });

    CHECK(seen == "done / here proc");
}

TEST_CASE("without pivot_root no complete proc or sysfs of the host is left to vouch for a new one") {
    const std::string seen = in_sandbox([](Sandbox& sandbox) {
        const std::string before = try_nested_mount("sysfs");
        (void)sandbox.bind_root();
        (void)perform(sandbox.context, MoveRoot{});
        return before + " " + try_nested_mount("proc") + " " + try_nested_mount("sysfs");
    });

    CHECK(seen.ends_with(" EPERM EPERM"));
}

TEST_CASE("without a mount namespace of its own the process changes its root") {
    const std::string seen = in_sandbox([](Sandbox& sandbox) {
        write_text(sandbox.rootfs() + "/mark", "here");
        (void)perform(sandbox.context, OpenRootfs{sandbox.rootfs()});
        const std::string changed = text_of(perform(sandbox.context, ChangeRoot{}));
        return changed + " " + working_directory() + " " + read_text("/mark");
    });

    CHECK(seen == "done / here");
}

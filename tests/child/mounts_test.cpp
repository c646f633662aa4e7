// Binds, trees and attributes, each at the place where the container will see it.
// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>
#include <fcntl.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include "child/sandbox.hpp"
#include "child/trees.hpp"
#include "kernel/syscalls.hpp"

using namespace rung;
using namespace rung::child;

namespace {

// A tree as the parent hands it over.
int open_tree_of(const std::string& path) {
    return kernel::open_tree(AT_FDCWD, path.c_str(), OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC | AT_RECURSIVE);
}

void mount_tmpfs(const std::string& path) {
    make_directory(path);
    (void)mount("tmpfs", path.c_str(), "tmpfs", 0, nullptr);
}

}  // namespace

TEST_CASE("a file is attached where a dangling symlink points inside the root") {
    const std::string seen = in_sandbox([](Sandbox& sandbox) {
        write_text(sandbox.outside() + "/hosts", "127.0.0.1 localhost");
        make_directory(sandbox.rootfs() + "/etc");
        make_symlink("/tmp/hosts", sandbox.rootfs() + "/etc/hosts");
        (void)sandbox.bind_root();
        int slots[] = {open_tree_of(sandbox.outside() + "/hosts")};
        sandbox.context.descriptors.slots = slots;
        const std::string attached =
            text_of(perform(sandbox.context, AttachTree{.tree = 0, .target = "/etc/hosts"}));
        return attached + " " + read_text(sandbox.rootfs() + "/tmp/hosts") +
               (slots[0] == -1 ? ", closed" : "");
    });

    CHECK(seen == "done 127.0.0.1 localhost, closed");
}

TEST_CASE("a directory is not attached to a file") {
    const std::string seen = in_sandbox([](Sandbox& sandbox) {
        write_text(sandbox.rootfs() + "/file", "");
        (void)sandbox.bind_root();
        int slots[] = {open_tree_of(sandbox.outside())};
        sandbox.context.descriptors.slots = slots;
        return text_of(perform(sandbox.context, AttachTree{.tree = 0, .target = "/file"}));
    });

    CHECK(seen == "ENOTDIR");
}

TEST_CASE("mounts at the same target lie on top of one another") {
    const std::string seen = in_sandbox([](Sandbox& sandbox) {
        make_directory(sandbox.outside() + "/first");
        make_directory(sandbox.outside() + "/second");
        write_text(sandbox.outside() + "/second/mark", "second");
        (void)sandbox.bind_root();
        (void)perform(sandbox.context,
                      BindHostPath{.source = sandbox.outside() + "/first", .target = "/data"});
        (void)perform(sandbox.context,
                      BindHostPath{.source = sandbox.outside() + "/second", .target = "/data"});
        return read_text(sandbox.rootfs() + "/data/mark");
    });

    CHECK(seen == "second");
}

TEST_CASE("a recursive host bind is read-only in its submounts as well") {
    const std::string seen = in_sandbox([](Sandbox& sandbox) {
        mount_tmpfs(sandbox.outside() + "/sub");
        (void)sandbox.bind_root();
        const std::string bound =
            text_of(perform(sandbox.context, BindHostPath{.source = sandbox.outside(),
                                                          .target = "/data",
                                                          .recursive = true,
                                                          .attributes = MOUNT_ATTR_RDONLY}));
        return bound + " " + try_write(sandbox.rootfs() + "/data/x") + " " +
               try_write(sandbox.rootfs() + "/data/sub/x") + " " + try_write(sandbox.outside() + "/sub/x");
    });

    CHECK(seen == "done EROFS EROFS done");
}

TEST_CASE("a missing source is said to be the source") {
    const std::string seen = in_sandbox([](Sandbox& sandbox) {
        (void)sandbox.bind_root();
        const BindHostPath step{.source = "/no/such/path", .target = "/data"};
        const Outcome outcome = perform(sandbox.context, step);
        return text_of(outcome) + (outcome.detail == Detail::source ? " source " : " ") + outcome.text;
    });

    CHECK(seen == "ENOENT source /no/such/path");
}

TEST_CASE("a remount changes attributes of the mount at its target, and nothing that is no mount") {
    const std::string seen = in_sandbox([](Sandbox& sandbox) {
        make_directory(sandbox.rootfs() + "/plain");
        (void)sandbox.bind_root();
        (void)perform(sandbox.context, MountFilesystem{.type = "tmpfs", .source = "t", .target = "/t"});
        std::string text =
            text_of(perform(sandbox.context, RemountTarget{.target = "/t", .set = MOUNT_ATTR_RDONLY}));
        text += " " + try_write(sandbox.rootfs() + "/t/x");
        text += " " + text_of(perform(sandbox.context, RemountTarget{.target = "/t",
                                                                     .set = MOUNT_ATTR_NOATIME,
                                                                     .clear = MOUNT_ATTR_RDONLY,
                                                                     .propagation = {MS_SHARED}}));
        text += " " + try_write(sandbox.rootfs() + "/t/x");
        return text + " " +
               text_of(perform(sandbox.context, RemountTarget{.target = "/plain", .set = MOUNT_ATTR_RDONLY}));
    });

    CHECK(seen == "done EROFS done done EINVAL");
}

TEST_CASE("a slice stays writable when the root becomes read-only, and is noexec") {
    const std::string seen = in_sandbox([](Sandbox& sandbox) {
        make_directory(sandbox.rootfs() + "/work");
        make_directory(sandbox.rootfs() + "/workshop");
        (void)sandbox.bind_root();
        const std::string bound = text_of(perform(
            sandbox.context, BindSlice{.path = "/work", .set = MOUNT_ATTR_NOEXEC | MOUNT_ATTR_NOSUID}));
        (void)perform(sandbox.context, PivotRoot{});
        (void)perform(sandbox.context, RemountRoot{.read_only = true});
        return bound + " " + try_write("/work/x") + " " + try_write("/workshop/x");
    });

    CHECK(seen == "done done EROFS");
}

TEST_CASE("a kept piece of a mount is put back writable after the mount became read-only") {
    const std::string seen = in_sandbox([](Sandbox& sandbox) {
        mount_tmpfs(sandbox.outside() + "/sub");
        make_directory(sandbox.outside() + "/piece");
        (void)sandbox.bind_root();
        (void)perform(sandbox.context,
                      BindHostPath{.source = sandbox.outside(), .target = "/data", .recursive = true});
        int slots[] = {-1};
        sandbox.context.descriptors.slots = slots;
        std::string text = text_of(
            perform(sandbox.context, KeepTree{.kept = 0, .path = "/data/piece", .set = MOUNT_ATTR_NOEXEC}));
        text += " " + text_of(perform(
                          sandbox.context,
                          RemountTarget{.target = "/data", .set = MOUNT_ATTR_RDONLY, .recursive = true}));
        text += " " + text_of(perform(sandbox.context, AttachTree{.tree = 0, .target = "/data/piece"}));
        const std::string data = sandbox.rootfs() + "/data";
        return text + ": " + try_write(data + "/x") + " " + try_write(data + "/sub/x") + " " +
               try_write(data + "/piece/x");
    });

    CHECK(seen == "done done done: EROFS EROFS done");
}

TEST_CASE("nothing covers a file of proc but what shows numbers, and nothing but a procfs the whole") {
    const std::string seen = in_sandbox(
        [](Sandbox& sandbox) {
            write_text(sandbox.outside() + "/meminfo", "MemTotal: 1 kB");
            make_symlink("/proc/self/attr", sandbox.rootfs() + "/volume");
            (void)sandbox.bind_root();
            const MountFilesystem proc{.type = "proc", .source = "proc", .target = "/proc"};
            const std::string mounted = text_of(perform(sandbox.context, proc));
            std::string text = mounted + " " + text_of(perform(sandbox.context, proc));
            const std::string file = sandbox.outside() + "/meminfo";
            for (const char* target : {"/proc/meminfo", "/proc/uptime", "/proc/version"})
                text +=
                    " " + text_of(perform(sandbox.context, BindHostPath{.source = file, .target = target}));
            for (const char* target : {"/volume", "/proc", "/proc/self"}) {
                const BindHostPath step{.source = sandbox.outside(), .target = target};
                const Outcome outcome = perform(sandbox.context, step);
                text += " " + text_of(outcome) + (outcome.detail == Detail::target_in_proc ? "!" : "");
            }
            const MountFilesystem tmpfs{.type = "tmpfs", .source = "t", .target = "/proc"};
            return text + " " + text_of(perform(sandbox.context, tmpfs));
        },
        CLONE_NEWPID);

    CHECK(seen == "done done done done EPERM EPERM! EPERM! EPERM! EPERM");
}

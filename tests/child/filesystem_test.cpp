// New file systems: their options, their targets, and the ways round what the kernel refuses.
// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>
#include <fcntl.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <algorithm>

#include "child/sandbox.hpp"
#include "kernel/syscalls.hpp"

using namespace rung;
using namespace rung::child;

TEST_CASE("a tmpfs takes the mode of the directory it covers") {
    const std::string seen = in_sandbox([](Sandbox& sandbox) {
        make_directory(sandbox.rootfs() + "/private", 0700);
        (void)sandbox.bind_root();
        (void)perform(
            sandbox.context,
            MountFilesystem{.type = "tmpfs", .source = "t", .target = "/private", .inherit_mode = true});
        (void)perform(
            sandbox.context,
            MountFilesystem{.type = "tmpfs", .source = "t", .target = "/new", .inherit_mode = true});
        (void)perform(
            sandbox.context,
            MountFilesystem{.type = "tmpfs", .source = "t", .target = "/own", .options = {{"mode", "750"}}});
        return look_at(sandbox.rootfs() + "/private") + ", " + look_at(sandbox.rootfs() + "/new") + ", " +
               look_at(sandbox.rootfs() + "/own");
    });

    CHECK(seen == "directory 0700, directory 1777, directory 0750");
}

TEST_CASE("attributes hold from the start") {
    const std::string seen = in_sandbox([](Sandbox& sandbox) {
        (void)sandbox.bind_root();
        const std::string mounted = text_of(
            perform(sandbox.context,
                    MountFilesystem{.type = "tmpfs",
                                    .source = "t",
                                    .target = "/t",
                                    .attributes = MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOEXEC | MOUNT_ATTR_NOATIME,
                                    .propagation = {MS_PRIVATE, MS_SHARED}}));
        return mounted + " " + try_write(sandbox.rootfs() + "/t/x");
    });

    CHECK(seen == "done EROFS");
}

TEST_CASE("an unknown type is ENODEV, and a bad option is named") {
    const std::string seen = in_sandbox([](Sandbox& sandbox) {
        (void)sandbox.bind_root();
        const MountFilesystem unknown{.type = "nosuchfs", .source = "x", .target = "/x"};
        const MountFilesystem bad{
            .type = "tmpfs", .source = "t", .target = "/t", .options = {{"colour", "red"}}};
        const Outcome outcome = perform(sandbox.context, bad);
        return text_of(perform(sandbox.context, unknown)) + " " + text_of(outcome) + " " + outcome.text;
    });

    CHECK(seen == "ENODEV EINVAL colour");
}

TEST_CASE("proc is mounted on an ordinary directory only") {
    const std::string seen = in_sandbox(
        [](Sandbox& sandbox) {
            make_directory(sandbox.rootfs() + "/real");
            make_symlink("real", sandbox.rootfs() + "/proc");
            make_symlink("nowhere", sandbox.rootfs() + "/dangling");
            write_text(sandbox.rootfs() + "/file", "");
            (void)sandbox.bind_root();
            std::string text;
            for (const char* target : {"/proc", "/dangling", "/file", "/new"}) {
                const MountFilesystem step{
                    .type = "proc", .source = "proc", .target = target, .must_be_plain_directory = true};
                const Outcome outcome = perform(sandbox.context, step);
                text += text_of(outcome) + (outcome.detail == Detail::target_is_symlink ? "! " : " ");
            }
            return text + look_at(sandbox.rootfs() + "/nowhere");
        },
        CLONE_NEWPID);

    CHECK(seen == "ELOOP! ELOOP! ENOTDIR! done ENOENT");
}

TEST_CASE("an option too long for fsconfig is mounted all the same") {
    const std::string seen = in_sandbox([](Sandbox& sandbox) {
        (void)mount("tmpfs", sandbox.outside().c_str(), "tmpfs", 0, nullptr);
        std::string lower;
        for (int layer = 0; layer < 8; ++layer) {
            const std::string directory =
                sandbox.outside() + "/a-layer-of-an-image-with-a-long-name-" + std::to_string(layer);
            make_directory(directory);
            write_text(directory + "/file" + std::to_string(layer), "");
            lower += (lower.empty() ? "" : ":") + directory;
        }
        make_symlink("file0", lower.substr(0, lower.find(':')) + "/link");
        (void)sandbox.bind_root();
        const MountFilesystem step{.type = "overlay",
                                   .source = "overlay",
                                   .target = "/merged",
                                   .options = {{"lowerdir", lower}},
                                   .attributes = MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOSYMFOLLOW};
        const std::string mounted = text_of(perform(sandbox.context, step));
        const std::string merged = sandbox.rootfs() + "/merged";
        return mounted + (lower.size() > 255 ? " long " : " short ") + read_text(merged + "/link") + " " +
               try_write(merged + "/x") + " " + names_in(merged);
    });

    CHECK(seen == "done long ELOOP EROFS file0 file1 file2 file3 file4 file5 file6 file7 link");
}

TEST_CASE("sysfs in a user namespace without a network namespace is the host's, read-only in depth") {
    const std::string seen = in_sandbox([](Sandbox& sandbox) {
        (void)kernel::unshare(CLONE_NEWUSER | CLONE_NEWNS);
        write_text("/proc/self/uid_map", "0 0 1");
        (void)sandbox.bind_root();
        const std::string mounted = text_of(
            perform(sandbox.context, MountFilesystem{.type = "sysfs",
                                                     .source = "sysfs",
                                                     .target = "/sys",
                                                     .attributes = MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOSUID |
                                                                   MOUNT_ATTR_NODEV | MOUNT_ATTR_NOEXEC}));
        const std::string kernel = look_at(sandbox.rootfs() + "/sys/kernel").substr(0, 9);
        return mounted + " " + kernel + " " + try_write(sandbox.rootfs() + "/sys/x") + " " +
               try_write(sandbox.rootfs() + "/sys/fs/cgroup/x");
    });

    CHECK(seen == "done directory EROFS EROFS");
}

TEST_CASE("copying up keeps modes, owners, links, nodes and attributes") {
    const std::string seen = in_sandbox([](Sandbox& sandbox) {
        const std::string data = sandbox.rootfs() + "/data";
        make_directory(data, 0751);
        make_directory(data + "/open", 01777);
        make_directory(data + "/open/deep", 02750);
        write_text(data + "/open/deep/file", "content");
        (void)!chown((data + "/open/deep/file").c_str(), 1000, 1001);
        (void)chmod((data + "/open/deep/file").c_str(), 04755);
        (void)setxattr((data + "/open/deep/file").c_str(), "trusted.mark", "x", 1, 0);
        make_symlink("/etc/../passwd", data + "/link");
        (void)mkfifo((data + "/fifo").c_str(), 0622);
        (void)mknod((data + "/null").c_str(), S_IFCHR | 0640, makedev(1, 3));
        (void)sandbox.bind_root();

        const std::string mounted =
            text_of(perform(sandbox.context, MountFilesystem{.type = "tmpfs",
                                                             .source = "tmpfs",
                                                             .target = "/data",
                                                             .attributes = MOUNT_ATTR_RDONLY,
                                                             .copy_up = true,
                                                             .inherit_mode = true}));

        const std::string file = data + "/open/deep/file";
        struct stat status {};
        (void)stat(file.c_str(), &status);
        char mark = '-';
        (void)getxattr(file.c_str(), "trusted.mark", &mark, 1);
        return mounted + "\n" + look_at(data) + "\n" + look_at(data + "/open") + "\n" +
               look_at(data + "/open/deep") + "\n" + look_at(file) + " of " + std::to_string(status.st_uid) +
               ":" + std::to_string(status.st_gid) + " " + mark + "\n" + read_text(file) + "\n" +
               look_at(data + "/link") + "\n" + look_at(data + "/fifo") + "\n" + look_at(data + "/null") +
               "\n" + try_write(data + "/new");
    });

    CHECK(seen ==
          "done\n"
          "directory 0751\n"
          "directory 1777\n"
          "directory 2750\n"
          "file 4755 of 1000:1001 x\n"
          "content\n"
          "symlink to /etc/../passwd\n"
          "fifo 0622\n"
          "char 1:3 0640\n"
          "EROFS");
}

TEST_CASE("copying up a directory with many entries misses none, and one nested too deep is refused") {
    const std::string seen = in_sandbox([](Sandbox& sandbox) {
        make_directory(sandbox.rootfs() + "/many");
        for (int number = 0; number < 500; ++number)
            write_text(sandbox.rootfs() + "/many/a-file-with-a-name-" + std::to_string(number), "");
        std::string deep = sandbox.rootfs() + "/deep";
        for (int level = 0; level < 40; ++level) {
            make_directory(deep);
            deep += "/d";
        }
        (void)sandbox.bind_root();
        (void)perform(
            sandbox.context,
            MountFilesystem{.type = "tmpfs", .source = "tmpfs", .target = "/many", .copy_up = true});
        const std::string names = names_in(sandbox.rootfs() + "/many");
        return std::to_string(std::count(names.begin(), names.end(), ' ') + 1) + " " +
               text_of(perform(
                   sandbox.context,
                   MountFilesystem{.type = "tmpfs", .source = "tmpfs", .target = "/deep", .copy_up = true}));
    });

    CHECK(seen == "500 ELOOP");
}

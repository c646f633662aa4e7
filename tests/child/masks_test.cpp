// Masked and read-only paths, in images that try to be masked with something else.
// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <vector>

#include "child/sandbox.hpp"

using namespace rung;
using namespace rung::child;

namespace {

// Binds the rootfs, pivots, and masks each of the paths.
std::string mask_after_pivot(Sandbox& sandbox, const std::vector<std::string>& paths) {
    for (const std::string& path : paths)
        sandbox.program.steps.emplace_back(MaskPath{path});
    std::string text = text_of(sandbox.bind_root());
    text += " " + text_of(perform(sandbox.context, PivotRoot{}));
    for (const std::string& path : paths)
        text += " " + text_of(perform(sandbox.context, MaskPath{path}));
    return text;
}

}  // namespace

TEST_CASE("a masked file is a null device, and a masked directory is empty and read-only") {
    const std::string seen = in_sandbox([](Sandbox& sandbox) {
        write_text(sandbox.rootfs() + "/secret", "text");
        write_text(sandbox.rootfs() + "/second", "text");
        make_directory(sandbox.rootfs() + "/private");
        write_text(sandbox.rootfs() + "/private/file", "text");
        const std::string masked =
            mask_after_pivot(sandbox, {"/secret", "/second", "/private", "/none", "/secret/below"});
        return masked + ": [" + read_text("/secret") + "] [" + read_text("/second") + "] [" +
               names_in("/private") + "] " + look_at("/secret").substr(0, 8) + " " + try_write("/private/x");
    });

    CHECK(seen == "done done done done done done done: [] [] [] char 1:3 EROFS");
}

TEST_CASE("a pinned directory can be written to, and neither moved nor removed; a symlink is not pinned") {
    const std::string seen = in_sandbox([](Sandbox& sandbox) {
        make_directory(sandbox.rootfs() + "/work");
        make_directory(sandbox.rootfs() + "/work/git");
        make_directory(sandbox.rootfs() + "/work/git/hooks");
        (void)symlink("git", (sandbox.rootfs() + "/work/link").c_str());
        std::string text = text_of(sandbox.bind_root());
        text += " " + text_of(perform(sandbox.context, PivotRoot{}));
        for (const char* path : {"/work/git", "/none/here", "/work/link", "/work/link/hooks"})
            text += " " + text_of(perform(sandbox.context, PinPath{path}));
        const bool moved = rename("/work/git", "/work/other") == 0 || rmdir("/work/git") == 0;
        return text + (moved ? ": moved " : ": in its place ") + try_write("/work/git/hooks/x");
    });

    CHECK(seen == "done done done done ELOOP ELOOP: in its place done");
}

TEST_CASE("many masked directories share one file system, and a path listed twice is masked once") {
    const std::string seen = in_sandbox([](Sandbox& sandbox) {
        std::vector<std::string> paths;
        for (int number = 0; number < 40; ++number) {
            paths.push_back("/d" + std::to_string(number));
            make_directory(sandbox.rootfs() + paths.back());
        }
        write_text(sandbox.rootfs() + "/file", "");
        paths.insert(paths.end(), {"/d0", "/d39", "/file", "/file"});
        (void)mask_after_pivot(sandbox, paths);
        struct stat first {};
        struct stat last {};
        (void)stat("/d0", &first);
        (void)stat("/d39", &last);
        const bool twice = umount2("/d0", UMOUNT_NOFOLLOW) == 0 && umount2("/d0", UMOUNT_NOFOLLOW) == 0;
        const bool file_twice =
            umount2("/file", UMOUNT_NOFOLLOW) == 0 && umount2("/file", UMOUNT_NOFOLLOW) == 0;
        return std::string{first.st_dev == last.st_dev ? "one" : "several"} + (twice ? " twice" : " once") +
               (file_twice ? " twice" : " once");
    });

    CHECK(seen == "one once once");
}

TEST_CASE("a /dev/null of the image's that leads to a file of proc masks nothing and opens nothing") {
    const std::string seen = in_sandbox(
        [](Sandbox& sandbox) {
            make_directory(sandbox.rootfs() + "/dev");
            make_symlink("/proc/sys/kernel/core_pattern", sandbox.rootfs() + "/dev/null");
            write_text(sandbox.rootfs() + "/secret", "text");
            sandbox.program.steps.emplace_back(MaskPath{"/secret"});
            (void)sandbox.bind_root();
            (void)perform(sandbox.context,
                          MountFilesystem{.type = "proc", .source = "proc", .target = "/proc"});
            (void)perform(sandbox.context, PivotRoot{});
            const std::string masked = text_of(perform(sandbox.context, MaskPath{"/secret"}));
            return masked + " " + look_at("/secret").substr(0, 8) + " [" + read_text("/secret") + "]";
        },
        CLONE_NEWPID);

    CHECK(seen == "done char 1:3 []");
}

TEST_CASE("a host without a null device gets one of the runtime's own") {
    const std::string seen = in_sandbox([](Sandbox& sandbox) {
        write_text(sandbox.rootfs() + "/secret", "text");
        write_text(sandbox.rootfs() + "/second", "text");
        (void)mount("tmpfs", "/dev", "tmpfs", 0, nullptr);
        write_text("/dev/null", "not a device");
        const std::string masked = mask_after_pivot(sandbox, {"/secret", "/second"});
        return masked + ": " + look_at("/secret") + " [" + read_text("/second") + "]";
    });

    // Cloning out of a detached mount: Linux 6.15.
    const bool is_possible = seen == "done done done done: char 1:3 0666 []";
    const bool is_refused = seen.starts_with("EINVAL");
    CHECK((is_possible || is_refused));
}

TEST_CASE("what a masked path's symlink points to is masked, inside the root") {
    const std::string seen = in_sandbox([](Sandbox& sandbox) {
        write_text(sandbox.rootfs() + "/secret", "text");
        make_symlink("../../../secret", sandbox.rootfs() + "/link");
        const std::string masked = mask_after_pivot(sandbox, {"/link"});
        return masked + " [" + read_text("/secret") + "]";
    });

    CHECK(seen == "done done done []");
}

TEST_CASE("a read-only path is read-only with everything mounted below it, and what is around it is not") {
    const std::string seen = in_sandbox([](Sandbox& sandbox) {
        make_directory(sandbox.rootfs() + "/a");
        make_directory(sandbox.rootfs() + "/a/plain");
        (void)sandbox.bind_root();
        (void)perform(sandbox.context, MountFilesystem{.type = "tmpfs", .source = "t", .target = "/a/sub"});
        (void)perform(sandbox.context, PivotRoot{});
        const std::string protected_ = text_of(perform(sandbox.context, ReadOnlyPath{"/a"}));
        const std::string missing = text_of(perform(sandbox.context, ReadOnlyPath{"/none"}));
        return protected_ + " " + missing + " " + try_write("/a/x") + " " + try_write("/a/plain/x") + " " +
               try_write("/a/sub/x") + " " + try_write("/x");
    });

    CHECK(seen == "done done EROFS EROFS EROFS done");
}

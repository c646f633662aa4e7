// Container paths, as images and containers bend them.
// SPDX-License-Identifier: Apache-2.0
#include "child/targets.hpp"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <climits>
#include <cstring>

#include "child/sandbox.hpp"
#include "kernel/syscalls.hpp"

using namespace rung;
using namespace rung::child;

namespace {

// Where a descriptor is, relative to the sandbox's base.
std::string place_of(const Sandbox& sandbox, int descriptor) {
    if (descriptor < 0) return text_of(descriptor);
    char path[PATH_MAX] = {};
    (void)!readlink(("/proc/self/fd/" + std::to_string(descriptor)).c_str(), path, sizeof path - 1);
    const std::string text{path};
    return text.starts_with(sandbox.base + "/") ? text.substr(sandbox.base.size() + 1) : text;
}

// Where `path` leads when it is made, with the descriptor of the unbound rootfs as root.
std::string made_place(Sandbox& sandbox, const char* path, TargetKind kind) {
    (void)perform(sandbox.context, OpenRootfs{sandbox.rootfs()});
    return place_of(sandbox, resolve_or_make(sandbox.context, path, kind));
}

}  // namespace

TEST_CASE("a missing target is made with parents of mode 0755") {
    const std::string seen = in_sandbox([](Sandbox& sandbox) {
        const std::string place = made_place(sandbox, "/a/b/c", TargetKind::file);
        return place + ", " + look_at(sandbox.rootfs() + "/a/b") + ", " +
               look_at(sandbox.rootfs() + "/a/b/c");
    });

    CHECK(seen == "rootfs/a/b/c, directory 0755, file 0755");
}

TEST_CASE("a relative target and one with trailing slashes are made below the root") {
    const std::string seen = in_sandbox([](Sandbox& sandbox) {
        return made_place(sandbox, "rel/x", TargetKind::file) + " " +
               made_place(sandbox, "//y//z//", TargetKind::directory);
    });

    CHECK(seen == "rootfs/rel/x rootfs/y/z");
}

TEST_CASE("a new directory inherits set-group-ID from its parent") {
    const std::string seen = in_sandbox([](Sandbox& sandbox) {
        make_directory(sandbox.rootfs() + "/shared", 02775);
        (void)made_place(sandbox, "/shared/new/target", TargetKind::directory);
        return look_at(sandbox.rootfs() + "/shared/new");
    });

    CHECK(seen == "directory 2755");
}

TEST_CASE("what a dangling symlink names is made inside the root") {
    const std::string seen = in_sandbox([](Sandbox& sandbox) {
        make_directory(sandbox.rootfs() + "/etc");
        make_symlink("/tmp/hosts", sandbox.rootfs() + "/etc/hosts");
        make_symlink("run/resolv.conf", sandbox.rootfs() + "/etc/resolv.conf");
        return made_place(sandbox, "/etc/hosts", TargetKind::file) + " " +
               made_place(sandbox, "/etc/resolv.conf", TargetKind::file);
    });

    CHECK(seen == "rootfs/tmp/hosts rootfs/etc/run/resolv.conf");
}

TEST_CASE("a dangling symlink in the middle of a target is followed inside the root") {
    const std::string seen = in_sandbox([](Sandbox& sandbox) {
        make_symlink("/data/deep/", sandbox.rootfs() + "/link");
        make_symlink("link", sandbox.rootfs() + "/second");
        return made_place(sandbox, "/second/x/y", TargetKind::directory);
    });

    CHECK(seen == "rootfs/data/deep/x/y");
}

TEST_CASE("neither .. nor a symlink with many of them leaves the root") {
    const std::string seen = in_sandbox([](Sandbox& sandbox) {
        make_symlink("../../../../outside/file", sandbox.rootfs() + "/up");
        make_symlink(sandbox.outside(), sandbox.rootfs() + "/host");
        const std::string places = made_place(sandbox, "/../../outside/x", TargetKind::file) + " " +
                                   made_place(sandbox, "/up", TargetKind::file) + " " +
                                   made_place(sandbox, "/host/y", TargetKind::file).substr(0, 11);
        return places + " [" + names_in(sandbox.outside()) + "]";
    });

    CHECK(seen == "rootfs/outside/x rootfs/outside/file rootfs/tmp/ []");
}

TEST_CASE("symlinks that go round in circles end in ELOOP") {
    const std::string seen = in_sandbox([](Sandbox& sandbox) {
        make_symlink("b/x", sandbox.rootfs() + "/a");
        make_symlink("a/x", sandbox.rootfs() + "/b");
        return made_place(sandbox, "/a/target", TargetKind::directory);
    });

    CHECK(seen == "ELOOP");
}

TEST_CASE("a target below a file is refused") {
    const std::string seen = in_sandbox([](Sandbox& sandbox) {
        write_text(sandbox.rootfs() + "/file", "");
        return made_place(sandbox, "/file/below", TargetKind::directory);
    });

    CHECK(seen == "ENOTDIR");
}

TEST_CASE("a path or a symlink's expansion longer than the kernel takes is refused") {
    const std::string seen = in_sandbox([](Sandbox& sandbox) {
        std::string longest;
        for (int part = 0; part < 20; ++part)
            longest += "/" + std::string(200, 'x');
        make_symlink(longest.substr(1), sandbox.rootfs() + "/link");
        return made_place(sandbox, (longest + longest).c_str(), TargetKind::file) + " " +
               made_place(sandbox, ("/link" + longest).c_str(), TargetKind::file);
    });

    CHECK(seen == "ENAMETOOLONG ENAMETOOLONG");
}

TEST_CASE("the parent of a target is made, and the last component is left to the caller") {
    const std::string seen = in_sandbox([](Sandbox& sandbox) {
        (void)perform(sandbox.context, OpenRootfs{sandbox.rootfs()});
        const char* name = nullptr;
        const std::string place = place_of(sandbox, resolve_parent(sandbox.context, "/dev/net/tun", name));
        const char* none = nullptr;
        return place + " " + name + " " + text_of(resolve_parent(sandbox.context, "/dev/..", none));
    });

    CHECK(seen == "rootfs/dev/net tun EINVAL");
}

TEST_CASE("a plain directory is not reached through a symlink") {
    const std::string seen = in_sandbox([](Sandbox& sandbox) {
        (void)perform(sandbox.context, OpenRootfs{sandbox.rootfs()});
        make_directory(sandbox.rootfs() + "/real");
        make_symlink("real", sandbox.rootfs() + "/link");
        write_text(sandbox.rootfs() + "/file", "");
        return text_of(resolve_plain_directory(sandbox.context, "/real")) + " " +
               text_of(resolve_plain_directory(sandbox.context, "/link")) + " " +
               text_of(resolve_plain_directory(sandbox.context, "/file"));
    });

    CHECK(seen == "done ELOOP ENOTDIR");
}

namespace {

// Swaps a directory and a symlink to the outside, until it is killed.
pid_t start_swapping(const std::string& one, const std::string& other) {
    const pid_t pid = fork();
    if (pid != 0) return pid;
    for (;;)
        (void)renameat2(AT_FDCWD, one.c_str(), AT_FDCWD, other.c_str(), RENAME_EXCHANGE);
}

}  // namespace

TEST_CASE("no target leaves the root while another process swaps symlinks in its path") {
    const std::string seen = in_sandbox([](Sandbox& sandbox) {
        (void)perform(sandbox.context, OpenRootfs{sandbox.rootfs()});
        make_directory(sandbox.rootfs() + "/swap");
        make_symlink("../../../../.." + sandbox.outside(), sandbox.rootfs() + "/other");
        const pid_t swapper = start_swapping(sandbox.rootfs() + "/swap", sandbox.rootfs() + "/other");
        int escaped = 0;
        int made = 0;
        for (int round = 0; round < 2000; ++round) {
            const std::string path = "/swap/a" + std::to_string(round) + "/../b/file";
            const int target = resolve_or_make(sandbox.context, path.c_str(), TargetKind::file);
            if (target < 0) continue;
            ++made;
            if (!place_of(sandbox, target).starts_with("rootfs/")) ++escaped;
            (void)close(target);
        }
        (void)kill(swapper, SIGKILL);
        (void)waitpid(swapper, nullptr, 0);
        return std::to_string(escaped) + " escaped, " + (made > 100 ? "many" : std::to_string(made)) +
               " made, [" + names_in(sandbox.outside()) + "] outside";
    });

    CHECK(seen == "0 escaped, many made, [] outside");
}

// /dev: nodes and links, with the modes asked for and never outside the root.
// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <tuple>

#include "child/sandbox.hpp"
#include "kernel/syscalls.hpp"

using namespace rung;
using namespace rung::child;
using config::Device;
using config::DeviceType;

TEST_CASE("a missing /dev is made and gets its links") {
    const std::string seen = in_sandbox([](Sandbox& sandbox) {
        (void)sandbox.bind_root();
        const std::string prepared = text_of(perform(sandbox.context, PrepareDev{}));
        const std::string dev = sandbox.rootfs() + "/dev";
        return prepared + " " + names_in(dev) + ", " + look_at(dev + "/fd") + ", " + look_at(dev + "/ptmx");
    });

    CHECK(seen == "done fd ptmx stderr stdin stdout, symlink to /proc/self/fd, symlink to pts/ptmx");
}

TEST_CASE("links that are there stay, and an image's ptmx is replaced") {
    const std::string seen = in_sandbox([](Sandbox& sandbox) {
        const std::string dev = sandbox.rootfs() + "/dev";
        make_directory(dev);
        make_symlink("elsewhere", dev + "/stdin");
        (void)mknod((dev + "/ptmx").c_str(), S_IFCHR | 0666, makedev(5, 2));
        (void)sandbox.bind_root();
        const std::string first = text_of(perform(sandbox.context, PrepareDev{}));
        const std::string second = text_of(perform(sandbox.context, PrepareDev{}));
        return first + " " + second + " " + look_at(dev + "/stdin") + ", " + look_at(dev + "/ptmx");
    });

    CHECK(seen == "done done symlink to elsewhere, symlink to pts/ptmx");
}

TEST_CASE("a /dev that is a symlink or a file is refused, and nothing is made where it leads") {
    const std::string seen = in_sandbox([](Sandbox& sandbox) {
        make_symlink("../outside", sandbox.rootfs() + "/dev");
        (void)sandbox.bind_root();
        const Outcome symlink = perform(sandbox.context, PrepareDev{});
        (void)unlink((sandbox.rootfs() + "/dev").c_str());
        write_text(sandbox.rootfs() + "/dev", "");
        const Outcome file = perform(sandbox.context, PrepareDev{});
        const bool both_unsafe = symlink.detail == Detail::unsafe_dev && file.detail == Detail::unsafe_dev;
        return text_of(symlink) + " " + text_of(file) + (both_unsafe ? " unsafe [" : " [") +
               names_in(sandbox.outside()) + "]";
    });

    CHECK(seen == "ELOOP ENOTDIR unsafe []");
}

TEST_CASE("a node has exactly the mode and owner asked for, whatever the umask") {
    const std::string seen = in_sandbox([](Sandbox& sandbox) {
        (void)sandbox.bind_root();
        umask(077);
        const Device zero{.path = "/dev/zero", .type = DeviceType::character, .major = 1, .minor = 5};
        const Device loop{.path = "/dev/net/loop",
                          .type = DeviceType::block,
                          .major = 7,
                          .minor = 0,
                          .mode = 0640,
                          .uid = 1,
                          .gid = 2};
        const Device fifo{
            .path = "/dev/fifo", .type = DeviceType::fifo, .major = 9, .minor = 9, .mode = 0622};
        std::string text;
        for (const Device& device : {zero, loop, fifo}) {
            text += text_of(perform(sandbox.context, MakeDevice{device}));
            text += " " + look_at(sandbox.rootfs() + device.path) + ", ";
        }
        struct stat status {};
        (void)stat((sandbox.rootfs() + "/dev/net/loop").c_str(), &status);
        return text + std::to_string(status.st_uid) + ":" + std::to_string(status.st_gid);
    });

    CHECK(seen == "done char 1:5 0666, done block 7:0 0640, done fifo 0622, 1:2");
}

TEST_CASE("a node that the image brought is taken, and any other file of its name is not") {
    const std::string seen = in_sandbox([](Sandbox& sandbox) {
        const std::string dev = sandbox.rootfs() + "/dev";
        make_directory(dev);
        (void)mknod((dev + "/zero").c_str(), S_IFCHR | 0600, makedev(1, 5));
        (void)mknod((dev + "/full").c_str(), S_IFCHR | 0600, makedev(1, 3));
        write_text(dev + "/random", "");
        write_text(sandbox.outside() + "/victim", "");
        make_symlink(sandbox.outside() + "/victim", dev + "/tty");
        (void)sandbox.bind_root();
        std::string text;
        for (const auto& [path, major, minor] : {std::tuple{"/dev/zero", 1U, 5U},
                                                 {"/dev/full", 1U, 7U},
                                                 {"/dev/random", 1U, 8U},
                                                 {"/dev/tty", 5U, 0U}}) {
            text += text_of(perform(sandbox.context,
                                    MakeDevice{{.path = path, .major = major, .minor = minor}})) +
                    " ";
        }
        return text + look_at(dev + "/zero") + ", " + look_at(sandbox.outside() + "/victim");
    });

    CHECK(seen == "done EEXIST EEXIST EEXIST char 1:5 0666, file 0666");
}

TEST_CASE("where nodes cannot be made the host's are bound") {
    const std::string seen = in_sandbox([](Sandbox& sandbox) {
        (void)kernel::unshare(CLONE_NEWUSER | CLONE_NEWNS);
        write_text("/proc/self/uid_map", "0 0 1");
        (void)sandbox.bind_root();
        const std::string bound = text_of(perform(sandbox.context, BindDevice{"/dev/zero"}));
        const Outcome no_device = perform(sandbox.context, BindDevice{"/dev/fd"});
        return bound + " " + look_at(sandbox.rootfs() + "/dev/zero").substr(0, 8) + " " +
               try_write(sandbox.rootfs() + "/dev/zero") + " " + text_of(no_device) +
               (no_device.detail == Detail::source ? " source" : "");
    });

    CHECK(seen == "done char 1:5 done ENODEV source");
}

TEST_CASE("a symlink is made with its parents, and one that is there stays") {
    const std::string seen = in_sandbox([](Sandbox& sandbox) {
        (void)sandbox.bind_root();
        const MakeSymlink first{.content = "cpu,cpuacct", .path = "/sys/fs/cgroup/cpu"};
        const MakeSymlink second{.content = "other", .path = "/sys/fs/cgroup/cpu"};
        std::string text = text_of(perform(sandbox.context, first));
        text += " " + text_of(perform(sandbox.context, second));
        return text + " " + look_at(sandbox.rootfs() + "/sys/fs/cgroup/cpu");
    });

    CHECK(seen == "done done symlink to cpu,cpuacct");
}

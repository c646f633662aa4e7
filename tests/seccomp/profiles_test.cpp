// The built-in profiles, call by call, through the evaluator.
// SPDX-License-Identifier: Apache-2.0
#include "seccomp/profiles.hpp"

#include <doctest/doctest.h>
#include <linux/audit.h>
#include <linux/tiocl.h>
#include <sched.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include <cerrno>
#include <initializer_list>

#include "config/parse.hpp"
#include "seccomp/compile.hpp"
#include "seccomp/docker_profile.hpp"
#include "seccomp/evaluate.hpp"

using namespace rung;
using namespace rung::seccomp::test;

namespace {

using Values = std::initializer_list<uint64_t>;

constexpr uint64_t kHighBit = uint64_t{1} << 32;

seccomp::Compiled built_in(std::string_view name) {
    const auto profile = config::parse_seccomp(seccomp::profile_text(name));
    REQUIRE(profile);
    auto compiled = seccomp::compile(*profile);
    REQUIRE(compiled);
    return *std::move(compiled);
}

uint32_t decide(const seccomp::Compiled& compiled, long number, std::array<uint64_t, 6> args = {}) {
    return evaluate(compiled.instructions,
                    {.architecture = AUDIT_ARCH_X86_64, .number = static_cast<int>(number), .args = args})
        .action;
}

bool lets_through(const seccomp::Compiled& compiled, int number, std::array<uint64_t, 6> args) {
    return decide(compiled, number, args) == kAllow;
}

// The first call that `narrow` allows and `wide` does not, over argument values on both sides of every rule.
std::string call_beyond(const seccomp::Compiled& narrow, const seccomp::Compiled& wide) {
    constexpr uint64_t values[] = {
        0,       1,          2,          8,        10,           16,         17,
        38,      40,         0x1000,     0x5401,   0x5412,       0x541c,     0x5413,
        0x8000,  0x8912,     0x6000,     0x20000,  0x20008,      0xc000,     0xffff,
        0x80000, 0x10000000, 0x7e020000, kHighBit, kHighBit + 1, 0xffffffff, ~uint64_t{0}};
    for (int number = 0; number < 512; number++) {
        for (const uint64_t first : values) {
            for (const uint64_t second : values) {
                for (const uint64_t third : {uint64_t{0}, uint64_t{9}}) {
                    const std::array<uint64_t, 6> args = {first, second, third};
                    if (!lets_through(narrow, number, args) || lets_through(wide, number, args)) continue;
                    return "call " + std::to_string(number) + " with " + std::to_string(first) + ", " +
                           std::to_string(second);
                }
            }
        }
    }
    return {};
}

}  // namespace

TEST_CASE("the built-in profiles have these names, and no other name has a text") {
    CHECK(seccomp::profile_names() ==
          std::vector<std::string_view>{"build", "default", "no-memfd", "node", "python", "strict"});
    CHECK(seccomp::profile_text("Default").empty());
    CHECK(seccomp::profile_text("").empty());
}

TEST_CASE("every name in the built-in profiles is known") {
    for (const std::string_view name : seccomp::profile_names()) {
        CAPTURE(name);
        CHECK(built_in(name).warnings.empty());
        CHECK(built_in(name).flags == 0);
    }
}

TEST_CASE("default allows nothing that Docker's profile does not, the others nothing that default does not") {
    const auto docker = seccomp::compile(docker_profile());
    REQUIRE(docker);

    CHECK(call_beyond(built_in("default"), *docker) == "");
    for (const std::string_view name : {"strict", "python", "node", "build"}) {
        CAPTURE(name);
        CHECK(call_beyond(built_in(name), built_in("default")) == "");
    }
    CHECK(call_beyond(*docker, built_in("default")) != "");
}

TEST_CASE("default closes the calls that reach around the other controls") {
    const auto profile = built_in("default");
    const long closed[] = {
        SYS_add_key,
        SYS_keyctl,
        SYS_request_key,
        SYS_io_uring_setup,
        SYS_io_uring_enter,
        SYS_io_uring_register,
        SYS_userfaultfd,
        SYS_ptrace,
        SYS_process_vm_readv,
        SYS_process_vm_writev,
        SYS_kcmp,
        SYS_pidfd_getfd,
        SYS_bpf,
        SYS_perf_event_open,
        SYS_mount,
        SYS_umount2,
        SYS_pivot_root,
        SYS_chroot,
        SYS_fsopen,
        SYS_fsconfig,
        SYS_fsmount,
        SYS_fspick,
        SYS_open_tree,
        SYS_move_mount,
        SYS_mount_setattr,
        SYS_unshare,
        SYS_setns,
        SYS_memfd_secret,
        SYS_kexec_load,
        SYS_kexec_file_load,
        SYS_init_module,
        SYS_finit_module,
        SYS_delete_module,
        SYS_open_by_handle_at,
        SYS_name_to_handle_at,
        SYS_fanotify_init,
        SYS_quotactl,
        SYS_swapon,
        SYS_reboot,
        SYS_settimeofday,
        SYS_clock_settime,
        SYS_iopl,
        SYS_ioperm,
        SYS_syslog,
        SYS_acct,
        SYS_modify_ldt,
        SYS_vhangup,
        SYS_lookup_dcookie,
        SYS_move_pages,
    };

    for (const long number : closed) {
        CAPTURE(number);
        CHECK(decide(profile, number) == refused_with(EPERM));
    }
}

TEST_CASE("default opens internet, unix and routing sockets and no other") {
    const auto profile = built_in("default");

    for (const uint64_t domain : Values{AF_UNIX, AF_INET, AF_INET6}) {
        CHECK(decide(profile, SYS_socket, {domain, SOCK_STREAM, 0}) == kAllow);
        CHECK(decide(profile, SYS_socket, {domain + kHighBit, SOCK_STREAM, 0}) == kAllow);
    }
    CHECK(decide(profile, SYS_socket, {AF_NETLINK, SOCK_RAW, 0}) == kAllow);
    CHECK(decide(profile, SYS_socket, {AF_NETLINK, SOCK_RAW, 12}) == refused_with(EPERM));
    for (const uint64_t domain :
         Values{AF_PACKET, AF_VSOCK, AF_ALG, AF_BLUETOOTH, AF_CAN, AF_TIPC, AF_KEY, AF_XDP}) {
        CAPTURE(domain);
        CHECK(decide(profile, SYS_socket, {domain, SOCK_RAW, 0}) == refused_with(EPERM));
        CHECK(decide(profile, SYS_socket, {domain + kHighBit, SOCK_RAW, 0}) == refused_with(EPERM));
    }
    CHECK(decide(profile, SYS_socketpair, {AF_UNIX, SOCK_STREAM}) == kAllow);
    CHECK(decide(profile, SYS_socketpair, {AF_TIPC, SOCK_STREAM}) == refused_with(EPERM));
}

TEST_CASE("default makes threads and processes, never a namespace") {
    const auto profile = built_in("default");
    constexpr uint64_t thread = CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD |
                                CLONE_SYSVSEM | CLONE_SETTLS | CLONE_PARENT_SETTID | CLONE_CHILD_CLEARTID;

    CHECK(decide(profile, SYS_clone, {thread}) == kAllow);
    CHECK(decide(profile, SYS_clone, {SIGCHLD}) == kAllow);
    for (const uint64_t flag : Values{CLONE_NEWNS, CLONE_NEWCGROUP, CLONE_NEWUTS, CLONE_NEWIPC, CLONE_NEWUSER,
                                      CLONE_NEWPID, CLONE_NEWNET}) {
        CAPTURE(flag);
        CHECK(decide(profile, SYS_clone, {flag | SIGCHLD}) == refused_with(EPERM));
        CHECK(decide(profile, SYS_clone, {flag | SIGCHLD | kHighBit}) == refused_with(EPERM));
    }
    CHECK(decide(profile, SYS_clone3) == refused_with(ENOSYS));
}

TEST_CASE("default keeps a terminal usable and its input out of reach, high bits or not") {
    const auto profile = built_in("default");

    for (const uint64_t request :
         Values{TCGETS, TCSETSW, TIOCGWINSZ, TIOCSWINSZ, TIOCSCTTY, TIOCGPGRP, TIOCSPGRP, TIOCNOTTY, FIONREAD,
                FIONBIO, FIOCLEX, FIONCLEX, FIOASYNC, TIOCGSID}) {
        CAPTURE(request);
        CHECK(decide(profile, SYS_ioctl, {0, request}) == kAllow);
        CHECK(decide(profile, SYS_ioctl, {0, request + kHighBit}) == kAllow);
    }
    for (const uint64_t request : Values{TIOCGPTN, TIOCSPTLCK, TIOCGPTPEER, 0x8912}) {
        CAPTURE(request);
        CHECK(decide(profile, SYS_ioctl, {0, request}) == kAllow);
    }
    for (const uint64_t request : Values{TIOCSTI, TIOCLINUX, TIOCSETD, TIOCCONS}) {
        CAPTURE(request);
        CHECK(decide(profile, SYS_ioctl, {0, request}) == refused_with(EPERM));
        CHECK(decide(profile, SYS_ioctl, {0, request + kHighBit}) == refused_with(EPERM));
        CHECK(decide(profile, SYS_ioctl, {0, request + (~uint64_t{0} << 32)}) == refused_with(EPERM));
    }
}

TEST_CASE("default makes FIFOs, files and sockets with mknod, never a device") {
    const auto profile = built_in("default");

    for (const uint64_t type : Values{0, S_IFIFO, S_IFREG, S_IFSOCK}) {
        CHECK(decide(profile, SYS_mknod, {0, type | 0644}) == kAllow);
        CHECK(decide(profile, SYS_mknodat, {0, 0, type | 0644}) == kAllow);
    }
    for (const uint64_t type : Values{S_IFCHR, S_IFBLK}) {
        CHECK(decide(profile, SYS_mknod, {0, type | 0644}) == refused_with(EPERM));
        CHECK(decide(profile, SYS_mknodat, {0, 0, type | 0644}) == refused_with(EPERM));
    }
}

TEST_CASE("default takes the personalities that Docker takes") {
    const auto profile = built_in("default");

    for (const uint64_t persona : Values{0, 8, 0x20000, 0x20008, 0xffffffff}) {
        CHECK(decide(profile, SYS_personality, {persona}) == kAllow);
    }
    CHECK(decide(profile, SYS_personality, {0x40000}) == refused_with(EPERM));  // no address randomisation
    CHECK(decide(profile, SYS_personality, {kHighBit}) == refused_with(EPERM));
}

TEST_CASE("every closed profile answers ENOSYS to what came after it, and kills other ABIs") {
    for (const std::string_view name : {"default", "strict", "python", "node", "build"}) {
        CAPTURE(name);
        const auto profile = built_in(name);
        CHECK(decide(profile, 500) == refused_with(ENOSYS));
        CHECK(decide(profile, 0x40000000 + SYS_read) == kKill);
        CHECK(evaluate(profile.instructions, {.architecture = AUDIT_ARCH_I386, .number = 3}).action == kKill);
        CHECK(evaluate(profile.instructions, {.architecture = AUDIT_ARCH_I386, .number = 102}).action ==
              kKill);
    }
}

TEST_CASE("strict has no sockets, no other process's memory, no devices and no ownership") {
    const auto profile = built_in("strict");
    const long closed[] = {SYS_socket,   SYS_socketpair, SYS_connect,      SYS_bind,
                           SYS_accept4,  SYS_sendto,     SYS_sendmsg,      SYS_ptrace,
                           SYS_mount,    SYS_setns,      SYS_memfd_create, SYS_execveat,
                           SYS_chmod,    SYS_chown,      SYS_mknod,        SYS_setuid,
                           SYS_capset,   SYS_link,       SYS_symlink,      SYS_shmget,
                           SYS_msgget,   SYS_mq_open,    SYS_io_setup,     SYS_inotify_init1,
                           SYS_setxattr, SYS_splice,     SYS_pidfd_open,   SYS_sched_setscheduler};

    for (const long number : closed) {
        CAPTURE(number);
        CHECK(decide(profile, number) == refused_with(EPERM));
    }
    CHECK(decide(profile, SYS_clone, {CLONE_NEWUSER | SIGCHLD}) == refused_with(EPERM));
    CHECK(decide(profile, SYS_clone, {SIGCHLD}) == kAllow);
    CHECK(decide(profile, SYS_seccomp, {}) ==
          kAllow);  // the engine's own filter is loaded after it, and can only refuse more
    CHECK(decide(profile, SYS_ioctl, {0, TCGETS}) == kAllow);
    CHECK(decide(profile, SYS_ioctl, {0, TCSETS}) == refused_with(EPERM));
    CHECK(decide(profile, SYS_ioctl, {0, TIOCSTI}) == refused_with(EPERM));
    CHECK(decide(profile, SYS_prctl, {15}) == kAllow);
    CHECK(decide(profile, SYS_prctl, {22}) == refused_with(EPERM));
}

TEST_CASE("python, node and build change nobody's identity, and only what needs it has a network or keys") {
    for (const std::string_view name : {"python", "node", "build"}) {
        CAPTURE(name);
        const auto profile = built_in(name);
        for (const long number : {SYS_setuid, SYS_setgroups, SYS_capset, SYS_shmget, SYS_msgget, SYS_mq_open,
                                  SYS_io_setup, SYS_memfd_create, SYS_execveat, SYS_sched_setscheduler,
                                  SYS_landlock_create_ruleset, SYS_clock_adjtime}) {
            CAPTURE(number);
            CHECK(decide(profile, number) == refused_with(EPERM));
        }
        CHECK(decide(profile, SYS_socket, {AF_UNIX, SOCK_STREAM}) == kAllow);
        CHECK(decide(profile, SYS_chmod) == kAllow);
    }
    CHECK(decide(built_in("python"), SYS_socket, {AF_INET, SOCK_STREAM}) == kAllow);
    CHECK(decide(built_in("node"), SYS_socket, {AF_INET6, SOCK_STREAM}) == kAllow);
    CHECK(decide(built_in("build"), SYS_socket, {AF_INET, SOCK_STREAM}) == refused_with(EPERM));
    CHECK(decide(built_in("build"), SYS_socket, {AF_NETLINK, SOCK_RAW}) == refused_with(EPERM));
    CHECK(decide(built_in("node"), SYS_pkey_alloc) == kAllow);
    CHECK(decide(built_in("python"), SYS_pkey_alloc) == refused_with(EPERM));
}

TEST_CASE("no-memfd closes memory files and nothing else") {
    const auto profile = built_in("no-memfd");

    for (int number = 0; number < 512; number++) {
        CAPTURE(number);
        const bool closed = number == SYS_memfd_create || number == SYS_memfd_secret;
        CHECK(decide(profile, number) == (closed ? refused_with(EPERM) : kAllow));
    }
    CHECK(evaluate(profile.instructions, {.architecture = AUDIT_ARCH_I386, .number = 356}).action == kKill);
    CHECK(decide(profile, 0x40000000 + SYS_memfd_create) == kKill);
}

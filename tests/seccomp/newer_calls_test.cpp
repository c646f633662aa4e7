// System calls that the profile's author could not know, and calls through another ABI.
// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>
#include <linux/audit.h>
#include <sys/syscall.h>

#include <cerrno>

#include "seccomp/compile.hpp"
#include "seccomp/evaluate.hpp"

using namespace rung;
using namespace rung::seccomp::test;
using config::SeccompAction;

namespace {

constexpr int kX32 = 0x40000000;
constexpr int kI386Read = 3;
constexpr int kI386Socketcall = 102;
constexpr int kI386FutexWaitv = 449;

uint32_t decide(const seccomp::Compiled& compiled, uint32_t architecture, int number) {
    return evaluate(compiled.instructions, {.architecture = architecture, .number = number}).action;
}

}  // namespace

TEST_CASE("a call above the newest one named gets ENOSYS, one below gets the default errno") {
    const config::Seccomp profile{.default_action = SeccompAction::error,
                                  .rules = {{.names = {"read"}}, {.names = {"futex_waitv"}}}};

    const auto compiled = seccomp::compile(profile);

    REQUIRE(compiled);
    CHECK(decide(*compiled, AUDIT_ARCH_X86_64, SYS_futex_waitv) == kAllow);
    CHECK(decide(*compiled, AUDIT_ARCH_X86_64, SYS_futex_waitv - 1) == refused_with(EPERM));
    CHECK(decide(*compiled, AUDIT_ARCH_X86_64, SYS_futex_waitv + 1) == refused_with(ENOSYS));
    CHECK(decide(*compiled, AUDIT_ARCH_X86_64, 100000) == refused_with(ENOSYS));
}

TEST_CASE("the newest call counts even where its rule is skipped as equal to the default") {
    const config::Seccomp profile{
        .default_action = SeccompAction::error,
        .rules = {{.names = {"read"}}, {.names = {"io_uring_setup"}, .action = SeccompAction::error}}};

    const auto compiled = seccomp::compile(profile);

    REQUIRE(compiled);
    CHECK(decide(*compiled, AUDIT_ARCH_X86_64, SYS_io_uring_setup) == refused_with(EPERM));
    CHECK(decide(*compiled, AUDIT_ARCH_X86_64, SYS_io_uring_setup + 1) == refused_with(ENOSYS));
}

TEST_CASE("a default that kills spares unknown calls, a default that lets through is left alone") {
    config::Seccomp profile{.default_action = SeccompAction::kill_process, .rules = {{.names = {"read"}}}};
    const auto killing = seccomp::compile(profile);
    profile = {.default_action = SeccompAction::log, .rules = {{.names = {"read"}}}};
    const auto logging = seccomp::compile(profile);

    REQUIRE(killing);
    REQUIRE(logging);
    CHECK(decide(*killing, AUDIT_ARCH_X86_64, 1000) == refused_with(ENOSYS));
    CHECK(decide(*logging, AUDIT_ARCH_X86_64, 1000) == SECCOMP_RET_LOG);
}

TEST_CASE("an ABI that is not listed is killed, whatever the call and the default") {
    const config::Seccomp refusing{.default_action = SeccompAction::error, .rules = {{.names = {"read"}}}};
    const config::Seccomp allowing{.default_action = SeccompAction::allow,
                                   .rules = {{.names = {"bpf"}, .action = SeccompAction::error}}};

    const auto refused = seccomp::compile(refusing);
    const auto allowed = seccomp::compile(allowing);

    REQUIRE(refused);
    REQUIRE(allowed);
    CHECK(decide(*refused, AUDIT_ARCH_I386, kI386Read) == kKill);
    CHECK(decide(*refused, AUDIT_ARCH_X86_64, kX32 + SYS_read) == kKill);
    CHECK(decide(*refused, AUDIT_ARCH_AARCH64, 63) == kKill);
    CHECK(decide(*allowed, AUDIT_ARCH_I386, kI386Socketcall) == kKill);
    CHECK(decide(*allowed, AUDIT_ARCH_X86_64, kX32 + SYS_read) == kKill);
}

TEST_CASE("each listed ABI has its own newest call") {
    const config::Seccomp profile{.default_action = SeccompAction::error,
                                  .architectures = {"SCMP_ARCH_X86_64", "SCMP_ARCH_X86", "SCMP_ARCH_X32"},
                                  .rules = {{.names = {"read", "futex_waitv", "waitpid"}}}};

    const auto compiled = seccomp::compile(profile);

    REQUIRE(compiled);
    CHECK(decide(*compiled, AUDIT_ARCH_X86_64, SYS_read) == kAllow);
    CHECK(decide(*compiled, AUDIT_ARCH_I386, kI386Read) == kAllow);
    CHECK(decide(*compiled, AUDIT_ARCH_X86_64, kX32 + SYS_read) == kAllow);
    CHECK(decide(*compiled, AUDIT_ARCH_X86_64, kX32 + SYS_futex_waitv) == kAllow);
    CHECK(decide(*compiled, AUDIT_ARCH_I386, kI386FutexWaitv + 1) == refused_with(ENOSYS));
    CHECK(decide(*compiled, AUDIT_ARCH_X86_64, SYS_futex_waitv + 1) == refused_with(ENOSYS));
    CHECK(decide(*compiled, AUDIT_ARCH_X86_64, kX32 + 2000) == refused_with(ENOSYS));
    CHECK(decide(*compiled, AUDIT_ARCH_I386, kI386Socketcall) == refused_with(EPERM));
    CHECK(decide(*compiled, AUDIT_ARCH_AARCH64, 63) == kKill);
}

TEST_CASE("the native ABI is there although only a foreign one is listed") {
    const config::Seccomp profile{.default_action = SeccompAction::error,
                                  .architectures = {"SCMP_ARCH_X86"},
                                  .rules = {{.names = {"read"}}}};

    const auto compiled = seccomp::compile(profile);

    REQUIRE(compiled);
    CHECK(decide(*compiled, AUDIT_ARCH_X86_64, SYS_read) == kAllow);
    CHECK(decide(*compiled, AUDIT_ARCH_X86_64, 1000) == refused_with(ENOSYS));
    CHECK(decide(*compiled, AUDIT_ARCH_I386, kI386Read) == kAllow);
}

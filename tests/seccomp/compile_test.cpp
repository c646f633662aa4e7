// compile(): what one rule, one action and one argument comparison become.
// SPDX-License-Identifier: Apache-2.0
#include "seccomp/compile.hpp"

#include <doctest/doctest.h>
#include <linux/audit.h>
#include <sys/syscall.h>

#include <cerrno>

#include "seccomp/evaluate.hpp"

using namespace rung;
using namespace rung::seccomp::test;
using config::SeccompAction;
using config::SeccompOperator;

namespace {

uint32_t decide(const seccomp::Compiled& compiled, long number, std::array<uint64_t, 6> args = {}) {
    return evaluate(compiled.instructions,
                    {.architecture = AUDIT_ARCH_X86_64, .number = static_cast<int>(number), .args = args})
        .action;
}

// keyctl is allowed where its first argument meets `arg`; everything else gets EPERM.
seccomp::Compiled keyctl_when(const std::vector<config::SeccompArg>& args) {
    const config::Seccomp profile{
        .default_action = SeccompAction::error,
        .rules = {{.names = {"keyctl"}, .args = args}, {.names = {"landlock_restrict_self"}}}};
    auto compiled = seccomp::compile(profile);
    REQUIRE(compiled);
    return *std::move(compiled);
}

}  // namespace

TEST_CASE("each action becomes the kernel's return value") {
    const config::Seccomp profile{
        .default_action = SeccompAction::allow,
        .rules = {{.names = {"acct"}, .action = SeccompAction::kill_thread},
                  {.names = {"bpf"}, .action = SeccompAction::kill_process},
                  {.names = {"chroot"}, .action = SeccompAction::trap},
                  {.names = {"keyctl"}, .action = SeccompAction::error},
                  {.names = {"mount"}, .action = SeccompAction::error, .errno_ret = 38},
                  {.names = {"ptrace"}, .action = SeccompAction::trace, .errno_ret = 7},
                  {.names = {"swapon"}, .action = SeccompAction::trace},
                  {.names = {"setns"}, .action = SeccompAction::log}}};

    const auto compiled = seccomp::compile(profile);

    REQUIRE(compiled);
    CHECK(decide(*compiled, SYS_acct) == SECCOMP_RET_KILL_THREAD);
    CHECK(decide(*compiled, SYS_bpf) == SECCOMP_RET_KILL_PROCESS);
    CHECK(decide(*compiled, SYS_chroot) == SECCOMP_RET_TRAP);
    CHECK(decide(*compiled, SYS_keyctl) == refused_with(EPERM));
    CHECK(decide(*compiled, SYS_mount) == refused_with(ENOSYS));
    CHECK(decide(*compiled, SYS_ptrace) == (SECCOMP_RET_TRACE | 7));
    CHECK(decide(*compiled, SYS_swapon) == (SECCOMP_RET_TRACE | EPERM));
    CHECK(decide(*compiled, SYS_setns) == SECCOMP_RET_LOG);
    CHECK(decide(*compiled, SYS_read) == SECCOMP_RET_ALLOW);
}

TEST_CASE("the default errno is EPERM when absent and exactly the one given otherwise") {
    config::Seccomp profile{.default_action = SeccompAction::error, .rules = {{.names = {"futex_waitv"}}}};
    const auto absent = seccomp::compile(profile);
    profile.default_errno_ret = EACCES;
    const auto given = seccomp::compile(profile);
    profile.default_errno_ret = 0;
    const auto zero = seccomp::compile(profile);

    REQUIRE(absent);
    REQUIRE(given);
    REQUIRE(zero);
    CHECK(decide(*absent, SYS_read) == refused_with(EPERM));
    CHECK(decide(*given, SYS_read) == refused_with(EACCES));
    CHECK(decide(*zero, SYS_read) == refused_with(0));
}

TEST_CASE("a comparison looks at all 64 bits of the argument") {
    const uint64_t high = uint64_t{1} << 32;
    const auto equal = keyctl_when({{.index = 0, .value = high + 5, .op = SeccompOperator::equal}});
    const auto not_equal = keyctl_when({{.index = 0, .value = 5, .op = SeccompOperator::not_equal}});
    const auto less = keyctl_when({{.index = 0, .value = high, .op = SeccompOperator::less}});
    const auto less_equal = keyctl_when({{.index = 0, .value = high, .op = SeccompOperator::less_equal}});
    const auto greater = keyctl_when({{.index = 0, .value = high, .op = SeccompOperator::greater}});
    const auto greater_equal =
        keyctl_when({{.index = 0, .value = high, .op = SeccompOperator::greater_equal}});

    CHECK(decide(equal, SYS_keyctl, {high + 5}) == kAllow);
    CHECK(decide(equal, SYS_keyctl, {5}) == refused_with(EPERM));
    CHECK(decide(not_equal, SYS_keyctl, {5}) == refused_with(EPERM));
    CHECK(decide(not_equal, SYS_keyctl, {high + 5}) == kAllow);
    CHECK(decide(less, SYS_keyctl, {high - 1}) == kAllow);
    CHECK(decide(less, SYS_keyctl, {high}) == refused_with(EPERM));
    CHECK(decide(less_equal, SYS_keyctl, {high}) == kAllow);
    CHECK(decide(less_equal, SYS_keyctl, {high + 1}) == refused_with(EPERM));
    CHECK(decide(greater, SYS_keyctl, {high + 1}) == kAllow);
    CHECK(decide(greater, SYS_keyctl, {high}) == refused_with(EPERM));
    CHECK(decide(greater_equal, SYS_keyctl, {high}) == kAllow);
    CHECK(decide(greater_equal, SYS_keyctl, {high - 1}) == refused_with(EPERM));
}

TEST_CASE("a masked comparison takes value for the mask and value_two for what is compared") {
    const auto masked = keyctl_when(
        {{.index = 0, .value = 0xffffffff, .value_two = 0x5412, .op = SeccompOperator::masked_equal}});

    CHECK(decide(masked, SYS_keyctl, {0x5412}) == kAllow);
    CHECK(decide(masked, SYS_keyctl, {0x100005412}) == kAllow);
    CHECK(decide(masked, SYS_keyctl, {0x5413}) == refused_with(EPERM));
}

TEST_CASE("conditions on different arguments hold together") {
    const auto both = keyctl_when({{.index = 0, .value = 1}, {.index = 1, .value = 2}});

    CHECK(decide(both, SYS_keyctl, {1, 2}) == kAllow);
    CHECK(decide(both, SYS_keyctl, {1, 3}) == refused_with(EPERM));
    CHECK(decide(both, SYS_keyctl, {0, 2}) == refused_with(EPERM));
}

TEST_CASE(
    "conditions on one argument twice make every condition of the rule an alternative, as runc reads it") {
    const auto any =
        keyctl_when({{.index = 0, .value = 1}, {.index = 0, .value = 2}, {.index = 1, .value = 9}});

    CHECK(decide(any, SYS_keyctl, {1, 0}) == kAllow);
    CHECK(decide(any, SYS_keyctl, {2, 0}) == kAllow);
    CHECK(decide(any, SYS_keyctl, {7, 9}) == kAllow);
    CHECK(decide(any, SYS_keyctl, {7, 0}) == refused_with(EPERM));
}

TEST_CASE("a rule that says what the default says is skipped") {
    const config::Seccomp profile{
        .default_action = SeccompAction::error,
        .default_errno_ret = EACCES,
        .rules = {{.names = {"read"}, .action = SeccompAction::error, .errno_ret = EACCES},
                  {.names = {"keyctl"}, .action = SeccompAction::error, .errno_ret = EPERM}}};

    const auto compiled = seccomp::compile(profile);

    REQUIRE(compiled);
    CHECK(decide(*compiled, SYS_read) == refused_with(EACCES));
    CHECK(decide(*compiled, SYS_keyctl) == refused_with(EPERM));
}

TEST_CASE("a profile without rules, a rule without names and a rule said twice are all fine") {
    const config::Seccomp empty{.default_action = SeccompAction::allow};
    const config::Seccomp nameless{.default_action = SeccompAction::error, .rules = {{.names = {}}}};
    const config::Seccomp twice{.default_action = SeccompAction::error,
                                .rules = {{.names = {"read", "read"}}, {.names = {"read"}}}};

    const auto from_empty = seccomp::compile(empty);
    const auto from_nameless = seccomp::compile(nameless);
    const auto from_twice = seccomp::compile(twice);

    REQUIRE(from_empty);
    REQUIRE(from_nameless);
    REQUIRE(from_twice);
    CHECK(decide(*from_empty, SYS_keyctl) == kAllow);
    CHECK(decide(*from_nameless, SYS_read) == refused_with(EPERM));
    CHECK(decide(*from_twice, SYS_read) == kAllow);
}

TEST_CASE("names that repeat very many times cost no more than once") {
    const std::vector<std::string> many(200000, "keyctl");
    std::vector<std::string> unknown(200000, "not_invented");
    const config::Seccomp once{.default_action = SeccompAction::allow,
                               .rules = {{.names = {"keyctl"}, .action = SeccompAction::error}}};
    const config::Seccomp often{
        .default_action = SeccompAction::allow,
        .rules = {{.names = many, .action = SeccompAction::error},
                  {.names = unknown, .action = SeccompAction::error},
                  {.names = many, .action = SeccompAction::error, .args = {{.index = 0, .value = 1}}}}};

    const auto short_way = seccomp::compile(once, seccomp::Layout::linear);
    const auto long_way = seccomp::compile(often, seccomp::Layout::linear);

    REQUIRE(short_way);
    REQUIRE(long_way);
    CHECK(long_way->instructions.size() == short_way->instructions.size());
    CHECK(long_way->warnings == std::vector<std::string>{"not_invented"});
}

TEST_CASE("rules beyond what a program can hold are refused before they take time") {
    config::Seccomp profile{.default_action = SeccompAction::allow};
    for (uint64_t value = 0; value < 100000; ++value) {
        profile.rules.push_back(
            {.names = {"keyctl"}, .action = SeccompAction::error, .args = {{.index = 0, .value = value}}});
    }

    const auto refused = seccomp::compile(profile);

    REQUIRE_FALSE(refused);
    CHECK(refused.error().message ==
          "the seccomp profile has more than 4096 different rules, and the kernel takes at most as many "
          "instructions");
}

TEST_CASE("unknown system call names are skipped and named in the warnings") {
    const config::Seccomp profile{.default_action = SeccompAction::error,
                                  .rules = {{.names = {"read", "no_such_call", "write"}}}};

    const auto compiled = seccomp::compile(profile);

    REQUIRE(compiled);
    CHECK(compiled->warnings == std::vector<std::string>{"no_such_call"});
    CHECK(decide(*compiled, SYS_write) == kAllow);
}

TEST_CASE("flags become the bits of seccomp(2)") {
    config::Seccomp profile{.flags = {"SECCOMP_FILTER_FLAG_TSYNC", "SECCOMP_FILTER_FLAG_LOG",
                                      "SECCOMP_FILTER_FLAG_SPEC_ALLOW",
                                      "SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV"}};
    const auto plain = seccomp::compile(profile);
    profile.rules = {{.names = {"mkdir"}, .action = SeccompAction::notify}};
    const auto notifying = seccomp::compile(profile);

    REQUIRE(plain);
    REQUIRE(notifying);
    CHECK(plain->flags == (SECCOMP_FILTER_FLAG_LOG | SECCOMP_FILTER_FLAG_SPEC_ALLOW));
    CHECK_FALSE(plain->notify);
    CHECK(notifying->flags == (SECCOMP_FILTER_FLAG_LOG | SECCOMP_FILTER_FLAG_SPEC_ALLOW | 32));
    CHECK(notifying->notify);
    CHECK(decide(*notifying, SYS_mkdir) == SECCOMP_RET_USER_NOTIF);
}

TEST_CASE("what cannot be meant is an error that names it") {
    const auto message = [](const config::Seccomp& profile) {
        const auto compiled = seccomp::compile(profile);
        return compiled ? std::string() : compiled.error().message;
    };

    CHECK(message({.flags = {"SECCOMP_FILTER_FLAG_NONE"}}) ==
          "seccomp flag SECCOMP_FILTER_FLAG_NONE is not known");
    CHECK(message({.architectures = {"SCMP_ARCH_PDP11"}}) ==
          "seccomp architecture SCMP_ARCH_PDP11 is not known");
    CHECK(message({.architectures = {"x86"}}) == "seccomp architecture x86 is not known");
    CHECK(message({.default_action = SeccompAction::notify}) ==
          "SCMP_ACT_NOTIFY cannot be used as default action");
    CHECK(message({.rules = {{.names = {"read", "write"}, .action = SeccompAction::notify}}}) ==
          "SCMP_ACT_NOTIFY cannot be used for the write syscall");
    CHECK(
        message({.rules = {{.names = {"mount"}, .action = SeccompAction::error, .args = {{.index = 6}}}}}) ==
        "a seccomp rule names argument 6, and a system call has arguments 0 to 5");
}

TEST_CASE("a filter longer than the kernel takes is refused") {
    config::Seccomp profile{.default_action = SeccompAction::error};
    for (uint64_t value = 0; value < 2000; value++) {
        profile.rules.push_back({.names = {"keyctl"}, .args = {{.index = 0, .value = value << 32 | value}}});
    }

    const auto compiled = seccomp::compile(profile);

    REQUIRE_FALSE(compiled);
    CHECK(compiled.error().message.find("the kernel takes at most 4096") != std::string::npos);
}

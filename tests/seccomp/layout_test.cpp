// The search tree is an optimisation of libseccomp's: it must decide every call as the plain list of comparisons does.
// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>
#include <linux/audit.h>

#include <string>

#include "config/parse.hpp"
#include "seccomp/compile.hpp"
#include "seccomp/docker_profile.hpp"
#include "seccomp/evaluate.hpp"
#include "seccomp/profiles.hpp"

using namespace rung;
using namespace rung::seccomp::test;
using seccomp::Layout;

namespace {

struct Comparison {
    size_t disagreements = 0;
    std::string first = {};
};

void compare(const config::Seccomp& profile, Comparison& comparison, uint32_t architecture, uint32_t base) {
    const auto linear = seccomp::compile(profile, Layout::linear);
    const auto tree = seccomp::compile(profile, Layout::tree);
    REQUIRE(linear);
    REQUIRE(tree);
    constexpr uint64_t arguments[] = {0,           1,      8,          16,         40,          0x5412,
                                      0x100005412, 0x8000, 0x7e020000, 0xffffffff, ~uint64_t{0}};
    for (const uint64_t argument : arguments) {
        for (uint32_t number = 0; number < 600; number++) {
            const Call call{.architecture = architecture,
                            .number = static_cast<int>(base + number),
                            .args = {argument, argument, argument, argument, argument, argument}};
            if (evaluate(linear->instructions, call).action == evaluate(tree->instructions, call).action)
                continue;
            comparison.disagreements++;
            if (comparison.first.empty()) comparison.first = "call " + std::to_string(call.number);
        }
    }
}

Comparison compare_everywhere(const config::Seccomp& profile) {
    constexpr uint32_t x32 = 0x40000000;
    Comparison comparison = {};
    compare(profile, comparison, AUDIT_ARCH_X86_64, 0);
    compare(profile, comparison, AUDIT_ARCH_X86_64, x32);
    compare(profile, comparison, AUDIT_ARCH_I386, 0);
    compare(profile, comparison, AUDIT_ARCH_AARCH64, 0);
    return comparison;
}

}  // namespace

TEST_CASE("both layouts of every built-in profile decide alike") {
    for (const std::string_view name : seccomp::profile_names()) {
        CAPTURE(name);
        const auto profile = config::parse_seccomp(seccomp::profile_text(name));
        REQUIRE(profile);

        const Comparison comparison = compare_everywhere(*profile);

        CAPTURE(comparison.first);
        CHECK(comparison.disagreements == 0);
    }
}

TEST_CASE("both layouts of an engine's profile for three ABIs decide alike") {
    config::Seccomp profile = docker_profile();
    profile.architectures = {"SCMP_ARCH_X86_64", "SCMP_ARCH_X86", "SCMP_ARCH_X32"};

    const Comparison comparison = compare_everywhere(profile);

    CAPTURE(comparison.first);
    CHECK(comparison.disagreements == 0);
}

TEST_CASE("both layouts of short lists decide alike") {
    const std::vector<std::string> names = {"read",   "write", "open",       "keyctl",
                                            "socket", "bpf",   "futex_waitv"};
    for (size_t count = 1; count <= names.size(); count++) {
        CAPTURE(count);
        config::Seccomp profile{.default_action = config::SeccompAction::error,
                                .architectures = {"SCMP_ARCH_X86_64", "SCMP_ARCH_X86", "SCMP_ARCH_X32"}};
        profile.rules.push_back(
            {.names = {names.begin(), names.begin() + static_cast<std::ptrdiff_t>(count)}});

        const Comparison comparison = compare_everywhere(profile);

        CAPTURE(comparison.first);
        CHECK(comparison.disagreements == 0);
    }
}

TEST_CASE("the tree answers an engine's profile in a tenth of the steps") {
    const auto linear = seccomp::compile(docker_profile(), Layout::linear);
    const auto chosen = seccomp::compile(docker_profile());
    REQUIRE(linear);
    REQUIRE(chosen);

    size_t linear_steps = 0;
    size_t chosen_steps = 0;
    for (int number = 0; number < 450; number++) {
        const Call call{.architecture = AUDIT_ARCH_X86_64, .number = number};
        linear_steps += evaluate(linear->instructions, call).steps;
        chosen_steps += evaluate(chosen->instructions, call).steps;
    }

    CHECK(chosen_steps * 9 < linear_steps);
}

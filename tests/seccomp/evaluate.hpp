// What the kernel would decide: a pure evaluator of the BPF that seccomp(2) takes.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <linux/filter.h>
#include <linux/seccomp.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace rung::seccomp::test {

struct Call {
    uint32_t architecture = 0;  // AUDIT_ARCH_*
    int number = 0;
    std::array<uint64_t, 6> args = {};
};

struct Verdict {
    uint32_t action = 0;  // SECCOMP_RET_*, with its data in the low 16 bits
    size_t steps = 0;     // instructions executed
};

// Throws std::runtime_error for a program that the kernel would refuse.
Verdict evaluate(const std::vector<sock_filter>& program, const Call& call);

constexpr uint32_t kAllow = SECCOMP_RET_ALLOW;
constexpr uint32_t kKill = SECCOMP_RET_KILL_THREAD;
constexpr uint32_t refused_with(int errno_value) {
    return SECCOMP_RET_ERRNO | static_cast<uint32_t>(errno_value);
}

}  // namespace rung::seccomp::test

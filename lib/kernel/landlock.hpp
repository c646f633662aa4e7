// Landlock's rights and calls as of ABI 7, landlock(7): the C library's headers may be older than the running kernel.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "kernel/syscalls.hpp"

namespace rung::kernel {

// LANDLOCK_ACCESS_FS_*, from <linux/landlock.h>.
namespace landlock {
constexpr uint64_t kExecute = 1ULL << 0;
constexpr uint64_t kWriteFile = 1ULL << 1;
constexpr uint64_t kReadFile = 1ULL << 2;
constexpr uint64_t kReadDirectory = 1ULL << 3;
constexpr uint64_t kRemoveDirectory = 1ULL << 4;
constexpr uint64_t kRemoveFile = 1ULL << 5;
constexpr uint64_t kMakeCharacterDevice = 1ULL << 6;
constexpr uint64_t kMakeDirectory = 1ULL << 7;
constexpr uint64_t kMakeFile = 1ULL << 8;
constexpr uint64_t kMakeSocket = 1ULL << 9;
constexpr uint64_t kMakeFifo = 1ULL << 10;
constexpr uint64_t kMakeBlockDevice = 1ULL << 11;
constexpr uint64_t kMakeSymlink = 1ULL << 12;
constexpr uint64_t kRefer = 1ULL << 13;          // ABI 2, Linux 5.19
constexpr uint64_t kTruncate = 1ULL << 14;       // ABI 3, Linux 6.2
constexpr uint64_t kIoctlOnDevice = 1ULL << 15;  // ABI 5, Linux 6.10

// What a rule on something other than a directory may name.
constexpr uint64_t kOnFiles = kExecute | kWriteFile | kReadFile | kTruncate | kIoctlOnDevice;

constexpr uint64_t kScopeAbstractSockets = 1ULL << 0;  // LANDLOCK_SCOPE_*, ABI 6, Linux 6.12
constexpr uint64_t kScopeSignals = 1ULL << 1;

struct RulesetAttributes {
    uint64_t handled_access_fs = 0;
    uint64_t handled_access_net = 0;  // ABI 4
    uint64_t scoped = 0;              // ABI 6
};

struct PathBeneathAttributes {
    uint64_t allowed_access = 0;
    int32_t parent_fd = -1;
} __attribute__((packed));
}  // namespace landlock

// A kernel that is older than the structure takes it as long as what it does not know is zero.
inline int landlock_create_ruleset(const landlock::RulesetAttributes& attributes) {
    return checked(::syscall(SYS_landlock_create_ruleset, &attributes, sizeof attributes, 0));
}
inline int landlock_add_path(int ruleset, const landlock::PathBeneathAttributes& attributes) {
    constexpr int kRulePathBeneath = 1;  // LANDLOCK_RULE_PATH_BENEATH
    return checked(::syscall(SYS_landlock_add_rule, ruleset, kRulePathBeneath, &attributes, 0));
}
inline int landlock_restrict_self(int ruleset, unsigned int flags) {
    return checked(::syscall(SYS_landlock_restrict_self, ruleset, flags));
}

}  // namespace rung::kernel

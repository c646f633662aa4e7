// From an OCI seccomp object to the BPF program that seccomp(2) loads; done in the parent, before the clone.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <linux/filter.h>

#include <string>
#include <vector>

#include "base/result.hpp"
#include "config/seccomp.hpp"

namespace rung::seccomp {

struct Compiled {
    std::vector<sock_filter> instructions = {};
    unsigned int flags = 0;                  // SECCOMP_FILTER_FLAG_*
    bool notify = false;                     // a rule notifies: the filter needs a listener
    std::vector<std::string> warnings = {};  // system call names that this build does not know, skipped
};

// How the program finds the rule of a system call: one comparison after the other, or a search tree. Both decide alike.
enum class Layout { linear, tree };

// Native architecture always included; foreign ones are killed unless listed. System calls newer than the newest one
// named get ENOSYS unless the default action lets calls through (runc#3474); a rule equal to the default action is skipped
// (podman#11029). Conditions of one rule on the same argument are alternatives, as in runc. An unknown flag, operator or
// architecture is an error, and so is a program that the kernel would not take.
Result<Compiled> compile(const config::Seccomp& profile);
Result<Compiled> compile(const config::Seccomp& profile, Layout layout);

// compile(), remembered in `cache_directory` (0700, made on demand, at most 64 entries). An entry holds its whole input
// and is used only when that is byte for byte the same; anything odd about the cache is a miss, never an error. Empty
// directory name: no cache.
Result<Compiled> compile_cached(const config::Seccomp& profile, const std::string& cache_directory);

}  // namespace rung::seccomp

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
    std::vector<sock_filter> instructions = {};  // empty: nothing to load
    unsigned int flags = 0;                      // SECCOMP_FILTER_FLAG_*
    bool notify = false;                         // the filter needs a listener
    std::vector<std::string> warnings = {};      // unknown system call names skipped
};

// Native architecture always included; foreign ones denied unless listed; system calls newer than the newest one named get
// ENOSYS where the default action would be an errno (case G2); a rule equal to the default action is skipped (case G4).
// An unknown flag, operator or architecture is an error.
Result<Compiled> compile(const config::Seccomp& profile);

// compile(), remembered in `cache_directory` (0700, made on demand, at most 64 entries). An entry holds its whole input and is used only when
// that is byte for byte the same; anything odd about the cache is a miss, never an error. Empty directory name: no cache.
Result<Compiled> compile_cached(const config::Seccomp& profile, const std::string& cache_directory);

}  // namespace rung::seccomp

// The head of a filter that answers ENOSYS to system calls the profile's author could not know.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <linux/filter.h>

#include <cstdint>
#include <vector>

#include "config/seccomp.hpp"

namespace rung::seccomp {

// Instructions to put before the filter proper: on each of `architectures` (SCMP_ARCH_* tokens) a number above the highest
// one that `profile` names there returns ENOSYS, and everything else goes on to the filter. Empty when the default action
// lets unknown calls through.
std::vector<sock_filter> refuse_newer_calls(const config::Seccomp& profile,
                                            const std::vector<uint32_t>& architectures);

}  // namespace rung::seccomp

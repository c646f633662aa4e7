// Lists of CPUs or memory nodes as the kernel writes them, "0-3,7": cpuset(7), "List format".
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"

namespace rung::config {

// A bit for each member, in words of 64, without zero words at the end: what sched_setaffinity(2) and set_mempolicy(2) take. Empty for an
// empty text. Blanks around members and empty members are passed over, as runc does.
Result<std::vector<uint64_t>> parse_id_list(std::string_view text);

// How many bits are set.
size_t count_ids(const std::vector<uint64_t>& mask);

// "0x3", as the kernel and runc print a mask.
std::string hexadecimal_mask(const std::vector<uint64_t>& mask);

}  // namespace rung::config

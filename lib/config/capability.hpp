// Capability names and numbers (capabilities(7), linux/capability.h).
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace rung::config {

// "CAP_KILL" -> 5; nothing for a name that this build does not know. Case matters.
std::optional<int> capability_number(std::string_view name);
std::string capability_name(int number);                  // "CAP_KILL"
std::vector<std::string> capability_names(uint64_t set);  // by number
int last_capability();                                    // highest number this build knows

}  // namespace rung::config

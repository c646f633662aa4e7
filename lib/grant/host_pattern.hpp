// Host patterns of egress rules: "api.example.com", "*.example.com" (one label), "**.example.com" (one label
// or more).
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/result.hpp"

namespace rung::grant {

// Fails with host_pattern_invalid or host_pattern_too_broad; the message has no field name yet.
Status check_host_pattern(std::string_view pattern);

// True when every name that `narrower` (a pattern, or a name) stands for is one of `wider`'s. Both are valid.
bool host_covers(std::string_view wider, std::string_view narrower);

// The pattern for what both stand for: always the narrower of the two, or nothing.
std::optional<std::string> meet_hosts(const std::string& left, const std::string& right);

}  // namespace rung::grant

// Durations as Go writes them: "1m30s", "100ms", "1.5h".
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <optional>
#include <string_view>

namespace rung::cli {

std::optional<std::chrono::nanoseconds> parse_duration(std::string_view text);

}  // namespace rung::cli

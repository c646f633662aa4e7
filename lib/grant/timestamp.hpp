// RFC 3339 times.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace rung::grant {

enum class Rounding { down, up };  // of a fraction of a second

// "2027-01-01T00:00:00Z", "2027-01-01T01:30:00.250+01:30" -> seconds since the epoch. Upper-case T and Z, no
// leap seconds.
std::optional<int64_t> parse_timestamp(std::string_view text, Rounding rounding);
// "2027-01-01T00:00:00Z".
std::string timestamp_text(int64_t seconds);

}  // namespace rung::grant

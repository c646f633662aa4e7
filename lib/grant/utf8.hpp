// Strict UTF-8 (RFC 3629).
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

namespace rung::grant {

// Where the first byte stands that does not belong: stray, overlong, a surrogate, or above U+10FFFF.
std::optional<std::size_t> invalid_utf8_at(std::string_view text);

std::size_t count_characters(std::string_view valid_utf8);

}  // namespace rung::grant

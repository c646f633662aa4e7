// What a test says about a text that is refused.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "grant/parse.hpp"

namespace rung::grant {

// The error's reason, "accepted" when there is none.
inline std::string reason_of(std::string_view text) {
    const auto grant = parse_grant(text);
    return grant ? "accepted" : grant.error().reason;
}

inline std::string message_of(std::string_view text) {
    const auto grant = parse_grant(text);
    return grant ? "accepted" : grant.error().message;
}

// The reason of version 1 with one more YAML line.
inline std::string reason_with(std::string_view line) {
    return reason_of("grantVersion: \"1\"\n" + std::string{line} + "\n");
}

}  // namespace rung::grant

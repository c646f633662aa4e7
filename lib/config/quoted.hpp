// Text from a configuration as an error message shows it: in quotes, and never long.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace rung::config {

inline std::string quoted(std::string_view text) {
    constexpr size_t kShown = 64;
    std::string shown = "\"";
    shown += text.substr(0, kShown);
    shown += text.size() > kShown ? "...\"" : "\"";
    return shown;
}

}  // namespace rung::config

// Tables of words that config.json uses for numbers: "RLIMIT_NOFILE", "SCHED_FIFO", "SCMP_ACT_ERRNO".
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <span>
#include <string_view>

namespace rung::config {

struct NamedValue {
    std::string_view name = {};
    int value = 0;
};

inline std::optional<int> find_value(std::span<const NamedValue> table, std::string_view name) {
    for (const NamedValue& entry : table) {
        if (entry.name == name) return entry.value;
    }
    return {};
}

}  // namespace rung::config

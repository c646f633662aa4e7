// Look-ups in the embedded list: sorted lines, each a name with its labels in reverse ("uk.co"), so that what lies beneath a name follows it.
// "ck.*" stands for every name of one label beneath ck, and "ck.www!" is an exception to that.
// SPDX-License-Identifier: Apache-2.0
#include "grant/public_suffix.hpp"

#include <algorithm>

#include "grant/public_suffix_lines.hpp"

namespace rung::grant {

namespace {

std::string reversed(std::string_view name) {
    std::string result;
    while (!name.empty()) {
        const std::size_t dot = name.rfind('.');
        const std::size_t start = dot == std::string_view::npos ? 0 : dot + 1;
        result += (result.empty() ? "" : ".") + std::string{name.substr(start)};
        name = name.substr(0, start == 0 ? 0 : dot);
    }
    return result;
}

std::string_view line_at(std::string_view lines, std::size_t start) {
    return lines.substr(start, lines.find('\n', start) - start);
}

// Where the first line starts that does not come before `key`.
std::size_t lower_bound(std::string_view lines, std::string_view key) {
    std::size_t low = 0;
    std::size_t high = lines.size();
    while (low < high) {
        const std::size_t middle = low + (high - low) / 2;
        const std::size_t before = lines.substr(0, middle).rfind('\n');
        const std::size_t start = before == std::string_view::npos ? 0 : before + 1;
        const std::string_view line = line_at(lines, start);
        if (line < key) {
            low = start + line.size() + 1;
        } else {
            high = start;
        }
    }
    return low;
}

bool has_line(std::string_view key) {
    const std::size_t start = lower_bound(public_suffix_lines(), key);
    return start < public_suffix_lines().size() && line_at(public_suffix_lines(), start) == key;
}

}  // namespace

bool is_public_suffix(std::string_view name) {
    if (name.find('.') == std::string_view::npos) return true;
    const std::string key = reversed(name);
    if (has_line(key + "!")) return false;
    return has_line(key) || has_line(key.substr(0, key.rfind('.')) + ".*");
}

std::optional<std::string> public_suffix_beneath(std::string_view name) {
    const std::string_view lines = public_suffix_lines();
    const std::string prefix = reversed(name) + ".";
    for (std::size_t start = lower_bound(lines, prefix); start < lines.size();) {
        const std::string_view line = line_at(lines, start);
        if (!line.starts_with(prefix)) return std::nullopt;
        if (!line.ends_with('!')) return reversed(line);
        start += line.size() + 1;
    }
    return std::nullopt;
}

}  // namespace rung::grant

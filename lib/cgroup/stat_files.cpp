// Parsing of statistics files, and reading those that may be absent.
// SPDX-License-Identifier: Apache-2.0
#include "cgroup/stat_files.hpp"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <limits>

#include "cgroup/directories.hpp"
#include "kernel/files.hpp"

namespace rung::cgroup {

namespace {

template <typename Number>
Number number_or_zero(std::string_view text) {
    Number number = 0;
    (void)std::from_chars(text.data(), text.data() + text.size(), number);
    return number;
}

std::pair<std::string_view, std::string_view> split(std::string_view text, char at) {
    const size_t place = text.find(at);
    if (place == std::string_view::npos) return {text, {}};
    return {text.substr(0, place), text.substr(place + 1)};
}

Pressure parse_pressure(const std::vector<std::string_view>& words) {
    Pressure pressure;
    for (const std::string_view word : words) {
        const auto [name, value] = split(word, '=');
        if (name == "avg10") pressure.avg10 = number_or_zero<double>(value);
        if (name == "avg60") pressure.avg60 = number_or_zero<double>(value);
        if (name == "avg300") pressure.avg300 = number_or_zero<double>(value);
        if (name == "total") pressure.total = number_or_zero<uint64_t>(value);
    }
    return pressure;
}

}  // namespace

std::vector<std::string_view> words_of(std::string_view text, std::string_view separators) {
    std::vector<std::string_view> words;
    for (size_t at = text.find_first_not_of(separators); at != std::string_view::npos;) {
        const size_t end = std::min(text.find_first_of(separators, at), text.size());
        words.push_back(text.substr(at, end - at));
        at = text.find_first_not_of(separators, end);
    }
    return words;
}

std::vector<std::string_view> lines_of(std::string_view text) {
    return words_of(text, "\n");
}

Result<uint64_t> parse_count(std::string_view text) {
    const std::vector<std::string_view> words = words_of(text);
    const std::string_view word = words.empty() ? std::string_view{} : words.front();
    if (word == "max") return std::numeric_limits<uint64_t>::max();
    // A limit of the cgroup's own that is less than none: -1 in v1's quota files.
    if (word.starts_with('-')) return uint64_t{0};
    uint64_t number = 0;
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), number);
    if (error != std::errc{} || end != word.data() + word.size())
        return Error{.message = "\"" + std::string{word} + "\" is not a number"};
    return number;
}

std::map<std::string, uint64_t> parse_counts(std::string_view text) {
    std::map<std::string, uint64_t> counts;
    for (const std::string_view line : lines_of(text)) {
        const std::vector<std::string_view> words = words_of(line);
        if (words.size() != 2) continue;
        if (const auto count = parse_count(words[1])) counts[std::string{words[0]}] = *count;
    }
    return counts;
}

std::vector<uint16_t> parse_list(std::string_view text) {
    std::vector<uint16_t> numbers;
    for (const std::string_view part : words_of(text, ",\n")) {
        const auto [first, last] = split(part, '-');
        const auto from = number_or_zero<uint32_t>(first);
        const auto to = last.empty() ? from : number_or_zero<uint32_t>(last);
        for (uint32_t number = from; number <= std::min<uint32_t>(to, UINT16_MAX); ++number)
            numbers.push_back(static_cast<uint16_t>(number));
    }
    return numbers;
}

Pressures parse_pressures(std::string_view text) {
    Pressures pressures;
    for (const std::string_view line : lines_of(text)) {
        const std::vector<std::string_view> words = words_of(line);
        if (words.empty()) continue;
        if (words[0] == "some") pressures.some = parse_pressure(words);
        if (words[0] == "full") pressures.full = parse_pressure(words);
    }
    return pressures;
}

std::vector<IoEntry> parse_block_io(std::string_view text) {
    std::vector<IoEntry> entries;
    for (const std::string_view line : lines_of(text)) {
        const std::vector<std::string_view> words = words_of(line, " :");
        if (words.size() < 3) continue;
        entries.push_back({.major = number_or_zero<uint64_t>(words[0]),
                           .minor = number_or_zero<uint64_t>(words[1]),
                           .operation = words.size() > 3 ? std::string{words[2]} : std::string{},
                           .value = number_or_zero<uint64_t>(words.back())});
    }
    return entries;
}

std::map<std::string, std::vector<IoEntry>> parse_io(std::string_view text) {
    std::map<std::string, std::vector<IoEntry>> tables;
    for (const std::string_view line : lines_of(text)) {
        const std::vector<std::string_view> words = words_of(line);
        if (words.empty()) continue;
        const auto [major, minor] = split(words[0], ':');
        for (const std::string_view word : words) {
            const auto [name, value] = split(word, '=');
            const bool is_bytes = name == "rbytes" || name == "wbytes";
            if (!is_bytes && name != "rios" && name != "wios") continue;
            tables[is_bytes ? "io_service_bytes" : "io_serviced"].push_back(
                {.major = number_or_zero<uint64_t>(major),
                 .minor = number_or_zero<uint64_t>(minor),
                 .operation = name[0] == 'r' ? "Read" : "Write",
                 .value = number_or_zero<uint64_t>(value)});
        }
    }
    return tables;
}

Result<std::string> read_text(const std::string& path) {
    Result<std::string> text = kernel::read_file(path);
    // Pressure files of a kernel that does not count it exist and cannot be read.
    if (!text && (is_gone(text.error()) || text.error().errno_value == EOPNOTSUPP)) return std::string{};
    return text;
}

Result<uint64_t> read_count(const std::string& path) {
    const std::string text = TRY(read_text(path));
    if (text.empty()) return uint64_t{0};
    return parse_count(text).context(path);
}

Result<Stats> read_stats(const Cgroup& cgroup) {
    Stats stats;
    if (cgroup.layout == kernel::CgroupLayout::v1) TRY(read_v1_stats(cgroup, stats));
    if (cgroup.layout == kernel::CgroupLayout::v2 && !cgroup.unified.empty())
        TRY(read_v2_stats(cgroup.unified, stats));
    return stats;
}

}  // namespace rung::cgroup

// One range after the other, each set bit by bit. The bound keeps a mistyped number from becoming a mask of gigabytes.
// SPDX-License-Identifier: Apache-2.0
#include "config/id_list.hpp"

#include <algorithm>
#include <charconv>

#include "config/quoted.hpp"

namespace rung::config {
namespace {

constexpr uint64_t kMostId = 64 * 1024;
constexpr uint64_t kBits = 64;

std::string_view trim(std::string_view text) {
    const size_t first = text.find_first_not_of(" \t\n");
    if (first == std::string_view::npos) return {};
    return text.substr(first, text.find_last_not_of(" \t\n") - first + 1);
}

Result<uint64_t> parse_id(std::string_view text) {
    uint64_t id = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), id);
    if (text.empty() || error == std::errc::invalid_argument || end != text.data() + text.size()) {
        return Error{.message = quoted(text) + " is not a number"};
    }
    if (error != std::errc{} || id > kMostId) {
        return Error{.message = "values larger than " + std::to_string(kMostId) + " are not supported"};
    }
    return id;
}

Status add_range(std::vector<uint64_t>& mask, std::string_view range) {
    const size_t dash = range.find('-');
    const uint64_t first = TRY(parse_id(range.substr(0, dash)));
    const uint64_t last = dash == std::string_view::npos ? first : TRY(parse_id(range.substr(dash + 1)));
    if (first > last) return Error{.message = "invalid range: " + quoted(range)};
    if (mask.size() <= last / kBits) mask.resize(last / kBits + 1);
    for (uint64_t id = first; id <= last; ++id)
        mask[id / kBits] |= uint64_t{1} << (id % kBits);
    return {};
}

}  // namespace

Result<std::vector<uint64_t>> parse_id_list(std::string_view text) {
    std::vector<uint64_t> mask;
    for (std::string_view rest = text; !rest.empty();) {
        const size_t comma = std::min(rest.find(','), rest.size());
        const std::string_view member = trim(rest.substr(0, comma));
        if (!member.empty()) TRY(add_range(mask, member));
        rest.remove_prefix(std::min(comma + 1, rest.size()));
    }
    if (mask.empty() && !text.empty()) return Error{.message = "no members found in " + quoted(text)};
    return mask;
}

size_t count_ids(const std::vector<uint64_t>& mask) {
    size_t count = 0;
    for (uint64_t word : mask) {
        for (; word != 0; word &= word - 1)
            ++count;
    }
    return count;
}

std::string hexadecimal_mask(const std::vector<uint64_t>& mask) {
    constexpr std::string_view kDigits = "0123456789abcdef";
    std::string text;
    for (auto word = mask.rbegin(); word != mask.rend(); ++word) {
        for (int shift = 60; shift >= 0; shift -= 4)
            text += kDigits[(*word >> shift) & 15];
    }
    const size_t first = std::min(text.find_first_not_of('0'), text.empty() ? 0 : text.size() - 1);
    return "0x" + (text.empty() ? "0" : text.substr(first));
}

}  // namespace rung::config

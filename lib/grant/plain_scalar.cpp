// What an unquoted YAML scalar is: YAML 1.2's core schema where YAML 1.1 agrees, `unclear` where it does not.
// SPDX-License-Identifier: Apache-2.0
#include "grant/plain_scalar.hpp"

#include <algorithm>
#include <array>
#include <string>

namespace rung::grant {

namespace {

constexpr std::string_view kDigits = "0123456789";

bool consists_of(std::string_view text, std::string_view characters) {
    return text.find_first_not_of(characters) == std::string_view::npos;
}

// Octal, hexadecimal, exponents, 1_000, 1:30, .5, +1, dates.
bool looks_numeric(std::string_view text) {
    if (text.starts_with('+') || text.starts_with('-')) text.remove_prefix(1);
    if (text.empty() || !(text.starts_with('.') || kDigits.find(text[0]) != std::string_view::npos))
        return false;
    if (text.size() > 2 && text[0] == '0' &&
        std::string_view{"xXoObB"}.find(text[1]) != std::string_view::npos) {
        return consists_of(text.substr(2), "0123456789abcdefABCDEF_");
    }
    // Two dots are a version or an address, and those are strings to everybody.
    return consists_of(text, "0123456789_.:eE+-") && text.find_first_of(kDigits) != std::string_view::npos &&
           std::count(text.begin(), text.end(), '.') <= 1;
}

bool is_special_word(std::string_view text) {
    constexpr std::array kWords = {"y",    "n",     "yes",  "no",    "on",    "off",  "true",
                                   "null", "false", ".inf", "+.inf", "-.inf", ".nan", "~"};
    std::string lower{text};
    std::transform(lower.begin(), lower.end(), lower.begin(), [](char character) {
        return character >= 'A' && character <= 'Z' ? static_cast<char>(character - 'A' + 'a') : character;
    });
    return std::find(kWords.begin(), kWords.end(), lower) != kWords.end();
}

}  // namespace

bool is_plain_decimal(std::string_view text) {
    if (text.starts_with('-')) text.remove_prefix(1);
    const std::size_t dot = text.find('.');
    const std::string_view whole = text.substr(0, dot);
    if (whole.empty() || !consists_of(whole, kDigits) || (whole.size() > 1 && whole[0] == '0')) return false;
    if (dot == std::string_view::npos) return true;
    const std::string_view fraction = text.substr(dot + 1);
    return !fraction.empty() && consists_of(fraction, kDigits);
}

Kind plain_scalar_kind(std::string_view text) {
    if (is_plain_decimal(text)) return Kind::number;
    if (text == "true" || text == "false") return Kind::boolean;
    if (looks_numeric(text) || is_special_word(text)) return Kind::unclear;
    return Kind::string;
}

}  // namespace rung::grant

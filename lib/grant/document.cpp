// What is checked before either reader sees the text, and how refusals are worded.
// SPDX-License-Identifier: Apache-2.0
#include "grant/document.hpp"

#include <algorithm>
#include <charconv>
#include <optional>

#include "grant/tree_builder.hpp"
#include "grant/utf8.hpp"

namespace rung::grant {

namespace {

constexpr std::size_t kMaxQuoted = 80;
constexpr std::size_t kMaxFieldName = 160;
constexpr std::string_view kLine = " (line ";
constexpr std::string_view kColumn = ", column ";

// Printable ASCII only: a grant's author must not be able to move a terminal's cursor or add lines to a log.
std::string escaped(std::string_view text, std::size_t most) {
    constexpr std::string_view kDigits = "0123456789abcdef";
    std::string result;
    for (const char character : text.substr(0, most)) {
        const auto byte = static_cast<unsigned char>(character);
        if (byte >= 0x20 && byte < 0x7f) {
            result += character;
            continue;
        }
        result += "\\x";
        result += kDigits[byte >> 4];
        result += kDigits[byte & 15];
    }
    if (text.size() > most) result += "...";
    return result;
}

// No real field's name has a colon, so the first one behind a field ends it.
std::string field_text(std::string_view field) {
    std::string text;
    for (const char character : escaped(field, kMaxFieldName))
        text += character == ':' ? std::string{"\\x3a"} : std::string{character};
    return text;
}

Mark mark_at(std::string_view text, std::size_t offset) {
    const std::string_view before = text.substr(0, offset);
    const auto lines = static_cast<std::size_t>(std::count(before.begin(), before.end(), '\n'));
    const std::size_t line_start = before.rfind('\n') + 1;  // npos + 1 is 0: the first line
    return Mark{.line = lines + 1, .column = offset - line_start + 1};
}

std::optional<std::size_t> forbidden_control_at(std::string_view text) {
    const auto found = std::find_if(text.begin(), text.end(), [](char character) {
        const auto byte = static_cast<unsigned char>(character);
        return (byte < 0x20 && byte != '\t' && byte != '\n' && byte != '\r') || byte == 0x7f;
    });
    if (found == text.end()) return std::nullopt;
    return static_cast<std::size_t>(found - text.begin());
}

// A rule on the first two characters and not "JSON, else YAML": one text has one reading, whatever is wrong
// with it.
bool opens_like_json(std::string_view text) {
    const auto next = [&](std::size_t from) { return text.find_first_not_of(" \t\r\n", from); };
    const std::size_t brace = next(0);
    if (brace == std::string_view::npos || text[brace] != '{') return false;
    const std::size_t after = next(brace + 1);
    return after != std::string_view::npos && (text[after] == '"' || text[after] == '}');
}

}  // namespace

Error refusal(std::string_view code, std::string_view field, std::string_view what, Mark mark) {
    std::string message = std::string{code} + ": " + field_text(field) + ": " + escaped(what, 4 * kMaxQuoted);
    if (mark.line != 0) {
        message += std::string{kLine} + std::to_string(mark.line) + std::string{kColumn} +
                   std::to_string(mark.column) + ")";
    }
    return Error{.message = std::move(message), .reason = std::string{code}};
}

Place place_of(const Error& refusal) {
    std::string_view rest = refusal.message;
    rest.remove_prefix(std::min(rest.size(), refusal.reason.size() + 2));
    const std::size_t colon = std::min(rest.find(": "), rest.size());
    Place place{.field = std::string{rest.substr(0, colon)}};
    rest.remove_prefix(std::min(rest.size(), colon + 2));
    const std::size_t line = rest.rfind(kLine);
    const std::size_t column = rest.rfind(kColumn);
    if (rest.ends_with(')') && line != std::string_view::npos && column != std::string_view::npos) {
        // Digits up to what follows them: from_chars stops there.
        std::from_chars(rest.data() + line + kLine.size(), rest.data() + rest.size(), place.mark.line);
        std::from_chars(rest.data() + column + kColumn.size(), rest.data() + rest.size(), place.mark.column);
        rest = rest.substr(0, line);
    }
    place.what = std::string{rest};
    return place;
}

std::string quoted(std::string_view text) {
    return "'" + escaped(text, kMaxQuoted) + "'";
}

Result<Node> read_document(std::string_view text, const DocumentLimits& limits) {
    if (text.size() > limits.size) {
        return refusal("grant_too_large", limits.name,
                       "has " + std::to_string(text.size()) + " bytes, at most " +
                           std::to_string(limits.size) + " are accepted",
                       {});
    }
    if (const auto offset = invalid_utf8_at(text)) {
        return refusal("grant_parse_error", limits.name, "is not valid UTF-8", mark_at(text, *offset));
    }
    if (text.starts_with("\xef\xbb\xbf")) {
        return refusal("grant_parse_error", limits.name, "starts with a byte order mark: save it without one",
                       {});
    }
    if (const auto offset = forbidden_control_at(text)) {
        return refusal("grant_parse_error", limits.name, "holds a control character", mark_at(text, *offset));
    }
    return opens_like_json(text) ? read_json(text, limits) : read_yaml(text, limits);
}

}  // namespace rung::grant

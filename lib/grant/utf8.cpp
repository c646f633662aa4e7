// Strict UTF-8: RFC 3629's table of well-formed sequences, nothing else.
// SPDX-License-Identifier: Apache-2.0
#include "grant/utf8.hpp"

#include <algorithm>

namespace rung::grant {

namespace {

struct Lead {
    std::size_t length = 0;  // 0 = no sequence starts with this byte
    // What the second byte may be: narrower than 80..bf where that excludes overlong forms, surrogates and >
    // U+10FFFF.
    unsigned char second_least = 0x80;
    unsigned char second_most = 0xbf;
};

Lead lead_of(unsigned char byte) {
    if (byte < 0x80) return {.length = 1};
    if (byte < 0xc2) return {};
    if (byte < 0xe0) return {.length = 2};
    if (byte == 0xe0) return {.length = 3, .second_least = 0xa0};
    if (byte == 0xed) return {.length = 3, .second_most = 0x9f};
    if (byte < 0xf0) return {.length = 3};
    if (byte == 0xf0) return {.length = 4, .second_least = 0x90};
    if (byte < 0xf4) return {.length = 4};
    if (byte == 0xf4) return {.length = 4, .second_most = 0x8f};
    return {};
}

}  // namespace

std::optional<std::size_t> invalid_utf8_at(std::string_view text) {
    const auto byte_at = [&](std::size_t index) { return static_cast<unsigned char>(text[index]); };
    for (std::size_t index = 0; index < text.size();) {
        const Lead lead = lead_of(byte_at(index));
        if (lead.length == 0 || lead.length > text.size() - index) return index;
        if (lead.length > 1) {
            const unsigned char second = byte_at(index + 1);
            if (second < lead.second_least || second > lead.second_most) return index;
        }
        for (std::size_t rest = 2; rest < lead.length; ++rest) {
            if ((byte_at(index + rest) & 0xc0) != 0x80) return index;
        }
        index += lead.length;
    }
    return std::nullopt;
}

std::size_t count_characters(std::string_view valid_utf8) {
    return static_cast<std::size_t>(std::count_if(valid_utf8.begin(), valid_utf8.end(), [](char character) {
        return (static_cast<unsigned char>(character) & 0xc0) != 0x80;
    }));
}

}  // namespace rung::grant

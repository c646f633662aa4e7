// SHA-256 as text. libmd because it is small, static and does nothing else.
// SPDX-License-Identifier: Apache-2.0
#include "base/sha256.hpp"

#include <sha2.h>

#include <array>

namespace rung {

std::string sha256_hex(std::string_view bytes) {
    SHA2_CTX context = {};
    std::array<uint8_t, SHA256_DIGEST_LENGTH> digest = {};
    SHA256Init(&context);
    SHA256Update(&context, reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size());
    SHA256Final(digest.data(), &context);

    constexpr std::string_view kDigits = "0123456789abcdef";
    std::string text;
    for (const uint8_t byte : digest) {
        text += kDigits[byte >> 4];
        text += kDigits[byte & 15];
    }
    return text;
}

}  // namespace rung

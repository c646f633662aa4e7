// Cidr: an IPv4 or IPv6 prefix such as 10.20.0.0/16.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.hpp"

namespace rung::grant {

struct Cidr {
    std::array<uint8_t, 16> address = {};  // IPv4 uses the first four
    int bits = 32;                         // 32 or 128
    int prefix = 0;
    auto operator<=>(const Cidr&) const = default;
};

// Strict: lower case, no leading zeros, no bits beyond the prefix. The message has no field name yet.
Result<Cidr> parse_cidr(std::string_view text);
std::string cidr_text(const Cidr& cidr);

// Two prefixes are disjoint, or one covers the other.
bool cidr_covers(const Cidr& wider, const Cidr& narrower);

bool is_private(const Cidr& cidr);
// Within a range that no grant opens: loopback, link-local (and with it metadata services), multicast,
// reserved, the addresses that rung hands out inside, and IPv6 forms that carry an IPv4 address.
bool is_blocked(const Cidr& cidr);

}  // namespace rung::grant

// IPv4 and IPv6 prefixes and the special ranges of RFC 6890 that concern egress.
// SPDX-License-Identifier: Apache-2.0
#include "grant/cidr.hpp"

#include <arpa/inet.h>

#include <algorithm>

#include "grant/document.hpp"

namespace rung::grant {

namespace {

Error malformed(std::string_view text, std::string_view what) {
    return Error{.message = quoted(text) + " " + std::string{what}, .reason = "grant_parse_error"};
}

bool has_bit(const Cidr& cidr, int bit) {
    return (cidr.address[static_cast<std::size_t>(bit / 8)] >> (7 - bit % 8) & 1) != 0;
}

// -1 for anything but a decimal of at most three digits without leading zeros.
int parse_prefix(std::string_view text) {
    if (text.empty() || text.size() > 3 || (text.size() > 1 && text[0] == '0')) return -1;
    int value = 0;
    for (const char character : text) {
        if (character < '0' || character > '9') return -1;
        value = value * 10 + (character - '0');
    }
    return value;
}

// The literals below are well-formed.
bool is_within_one_of(const Cidr& cidr, std::initializer_list<std::string_view> ranges) {
    return std::any_of(ranges.begin(), ranges.end(), [&](std::string_view range) {
        const auto parsed = parse_cidr(range);
        return parsed && cidr_covers(*parsed, cidr);
    });
}

}  // namespace

Result<Cidr> parse_cidr(std::string_view text) {
    constexpr std::string_view kWanted = "must be an address, '/' and a prefix length, such as 10.20.0.0/16";
    const std::size_t slash = text.find('/');
    if (slash == std::string_view::npos ||
        text.find_first_not_of("0123456789abcdef.:/") != std::string_view::npos) {
        return malformed(text, kWanted);
    }
    const std::string address{text.substr(0, slash)};
    Cidr cidr{.prefix = parse_prefix(text.substr(slash + 1))};
    const bool ipv6 = address.find(':') != std::string::npos;
    if (ipv6) cidr.bits = 128;
    if (inet_pton(ipv6 ? AF_INET6 : AF_INET, address.c_str(), cidr.address.data()) != 1 || cidr.prefix < 0 ||
        cidr.prefix > cidr.bits) {
        return malformed(text, kWanted);
    }
    for (int bit = cidr.prefix; bit < cidr.bits; ++bit) {
        if (has_bit(cidr, bit)) return malformed(text, "has bits set beyond its prefix length");
    }
    return cidr;
}

std::string cidr_text(const Cidr& cidr) {
    std::array<char, INET6_ADDRSTRLEN> text = {};
    const int family = cidr.bits == 32 ? AF_INET : AF_INET6;
    // It cannot fail: the family is known and the buffer large enough.
    (void)inet_ntop(family, cidr.address.data(), text.data(), static_cast<socklen_t>(text.size()));
    return std::string{text.data()} + "/" + std::to_string(cidr.prefix);
}

bool cidr_covers(const Cidr& wider, const Cidr& narrower) {
    if (wider.bits != narrower.bits || wider.prefix > narrower.prefix) return false;
    for (int bit = 0; bit < wider.prefix; ++bit) {
        if (has_bit(wider, bit) != has_bit(narrower, bit)) return false;
    }
    return true;
}

bool is_private(const Cidr& cidr) {
    return is_within_one_of(cidr,
                            {"10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "100.64.0.0/10", "fc00::/7"});
}

bool is_blocked(const Cidr& cidr) {
    return is_within_one_of(cidr, {"0.0.0.0/8", "127.0.0.0/8", "169.254.0.0/16", "198.18.0.0/15",
                                   "224.0.0.0/4", "240.0.0.0/4", "::/96", "::ffff:0:0/96", "64:ff9b::/96",
                                   "64:ff9b:1::/48", "2002::/16", "fe80::/10", "ff00::/8"});
}

}  // namespace rung::grant

// Host patterns: lower-case A-labels with at most one wildcard, in front.
// SPDX-License-Identifier: Apache-2.0
#include "grant/host_pattern.hpp"

#include <algorithm>

#include "grant/document.hpp"
#include "grant/public_suffix.hpp"

namespace rung::grant {

namespace {

constexpr std::size_t kMaxName = 253;
constexpr std::size_t kMaxLabel = 63;

Error invalid(std::string_view pattern, std::string_view what) {
    return Error{.message = quoted(pattern) + " " + std::string{what}, .reason = "host_pattern_invalid"};
}

Error too_broad(std::string_view pattern, std::string_view what) {
    return Error{.message = quoted(pattern) + " " + std::string{what}, .reason = "host_pattern_too_broad"};
}

bool is_lower(char character) {
    return character >= 'a' && character <= 'z';
}
bool is_digit(char character) {
    return character >= '0' && character <= '9';
}

bool is_label(std::string_view label) {
    if (label.empty() || label.size() > kMaxLabel) return false;
    const auto fits = [](char character) {
        return is_lower(character) || is_digit(character) || character == '-' || character == '_';
    };
    const char last = label.back();
    return std::all_of(label.begin(), label.end(), fits) && label.front() != '-' && last != '-' &&
           last != '_';
}

bool is_top_level_label(std::string_view label) {
    return is_label(label) && label.size() >= 2 && is_lower(label.front()) &&
           label.find('_') == std::string_view::npos;
}

// Everything that is a name's syntax; `name` has no wildcard in front any more.
Status check_name(std::string_view pattern, std::string_view name) {
    if (name.size() > kMaxName) return invalid(pattern, "is longer than 253 characters");
    for (std::size_t start = 0;;) {
        const std::size_t dot = name.find('.', start);
        const std::string_view label = name.substr(start, dot == std::string_view::npos ? dot : dot - start);
        if (dot == std::string_view::npos) {
            if (is_top_level_label(label)) return {};
            return invalid(pattern, "must end in a top-level domain; addresses and numbers are not names");
        }
        if (!is_label(label)) return invalid(pattern, "must consist of labels of a-z, 0-9, '-' and '_'");
        start = dot + 1;
    }
}

struct Parts {
    std::string_view wildcard = {};  // "", "*" or "**"
    std::string_view name = {};
};

Parts split(std::string_view pattern) {
    if (pattern.starts_with("**.")) return {.wildcard = "**", .name = pattern.substr(3)};
    if (pattern.starts_with("*.")) return {.wildcard = "*", .name = pattern.substr(2)};
    return {.name = pattern};
}

bool is_beneath(std::string_view name, std::string_view suffix) {
    return name.size() > suffix.size() + 1 && name.ends_with(suffix) &&
           name[name.size() - suffix.size() - 1] == '.';
}

}  // namespace

Status check_host_pattern(std::string_view pattern) {
    if (pattern == "*" || pattern == "**") return too_broad(pattern, "stands for every host");
    if (pattern.find("//") != std::string_view::npos)
        return invalid(pattern, "is a URL: give the host name alone");
    if (pattern.find('/') != std::string_view::npos) return invalid(pattern, "holds a path or prefix length");
    if (pattern.find(':') != std::string_view::npos)
        return invalid(pattern, "holds a port or an address: ports go under 'ports'");
    const auto byte_is = [&](auto test) { return std::any_of(pattern.begin(), pattern.end(), test); };
    if (byte_is([](char character) { return character >= 'A' && character <= 'Z'; })) {
        return invalid(pattern, "must be in lower case");
    }
    if (byte_is([](char character) { return static_cast<unsigned char>(character) >= 0x80; })) {
        return invalid(pattern, "must be in its ASCII form (xn--...)");
    }
    const auto [wildcard, name] = split(pattern);
    if (name.find('*') != std::string_view::npos)
        return invalid(pattern, "may have one '*.' or '**.' in front only");
    TRY(check_name(pattern, name));
    const bool single = name.find('.') == std::string_view::npos;
    if (single && wildcard.empty()) return invalid(pattern, "is a single label");
    if (wildcard.empty()) return {};
    if (is_public_suffix(name))
        return too_broad(pattern, "is a wildcard over a public suffix: strangers have names there");
    if (wildcard != "**") return {};
    if (const auto suffix = public_suffix_beneath(name)) {
        return too_broad(pattern, "stands for names beneath " + *suffix + " too, where strangers have names");
    }
    return {};
}

bool host_covers(std::string_view wider, std::string_view narrower) {
    if (wider == narrower) return true;
    const auto [wildcard, suffix] = split(wider);
    const auto [inner_wildcard, name] = split(narrower);
    if (wildcard == "**") return is_beneath(name, suffix) || (name == suffix && !inner_wildcard.empty());
    if (wildcard != "*" || !inner_wildcard.empty()) return false;
    return is_beneath(name, suffix) && name.find('.') == name.size() - suffix.size() - 1;
}

std::optional<std::string> meet_hosts(const std::string& left, const std::string& right) {
    if (host_covers(left, right)) return right;
    if (host_covers(right, left)) return left;
    return std::nullopt;
}

}  // namespace rung::grant

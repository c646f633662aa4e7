// Names come from libc's own table, so that every architecture has its numbers.
// SPDX-License-Identifier: Apache-2.0
#include "runtime/signal_name.hpp"

#include <charconv>
#include <csignal>
#include <cstring>
#include <optional>
#include <string_view>

namespace rung::runtime {

namespace {

std::optional<int> parse_number(std::string_view text) {
    int number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc{} || end != text.data() + text.size() || number < 0) return {};
    return number;
}

// "RTMIN+3" and "RTMAX-3"; signal(7) says that real-time signals are named so.
std::optional<int> parse_real_time(std::string_view name) {
    const bool from_least = name.starts_with("RTMIN");
    if (!from_least && !name.starts_with("RTMAX")) return {};
    const int base = from_least ? SIGRTMIN : SIGRTMAX;
    name.remove_prefix(5);
    if (name.empty()) return base;
    if (name[0] != (from_least ? '+' : '-')) return {};
    const auto distance = parse_number(name.substr(1));
    if (!distance || *distance > SIGRTMAX - SIGRTMIN) return {};
    return from_least ? base + *distance : base - *distance;
}

std::optional<int> parse_name(std::string_view name) {
    if (name == "IOT") return SIGABRT;
    if (name == "CLD") return SIGCHLD;
    if (name == "POLL") return SIGPOLL;
    for (int number = 1; number < SIGRTMIN; ++number) {
        const char* known = sigabbrev_np(number);
        if (known != nullptr && name == known) return number;
    }
    return parse_real_time(name);
}

}  // namespace

Result<int> parse_signal(const std::string& text) {
    std::string name = text;
    for (char& character : name) {
        if (character >= 'a' && character <= 'z') character = static_cast<char>(character - 'a' + 'A');
    }
    const auto number = parse_number(name);
    if (number && *number <= SIGRTMAX) return *number;
    if (const auto named = parse_name(name.starts_with("SIG") ? name.substr(3) : name)) return *named;
    return Error{.message = "unknown signal \"" + text + "\""};
}

std::string signal_text(int number) {
    const char* description = sigdescr_np(number);
    std::string text = description != nullptr ? description : std::to_string(number);
    if (text[0] >= 'A' && text[0] <= 'Z') text[0] = static_cast<char>(text[0] - 'A' + 'a');
    return text;
}

}  // namespace rung::runtime

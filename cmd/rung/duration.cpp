// One or more numbers, each with its unit.
// SPDX-License-Identifier: Apache-2.0
#include "duration.hpp"

#include <array>
#include <charconv>
#include <utility>

namespace rung::cli {

namespace {

using namespace std::chrono_literals;

constexpr double kMostNanoseconds = 9.2e18;  // some 290 years

// "ms" before "m": the longer name is tried first.
constexpr std::array<std::pair<std::string_view, std::chrono::nanoseconds>, 6> kUnits = {
    {{"ns", 1ns}, {"us", 1us}, {"ms", 1ms}, {"s", 1s}, {"m", 1min}, {"h", 1h}}};

// Takes the unit from the front of `text`; 0 when there is none.
double take_unit(std::string_view& text) {
    for (const auto& [name, length] : kUnits) {
        if (!text.starts_with(name)) continue;
        text.remove_prefix(name.size());
        return static_cast<double>(length.count());
    }
    return 0;
}

}  // namespace

std::optional<std::chrono::nanoseconds> parse_duration(std::string_view text) {
    const bool negative = text.starts_with('-');
    if (negative || text.starts_with('+')) text.remove_prefix(1);
    if (text == "0") return 0ns;
    if (text.empty()) return {};
    double total = 0;
    while (!text.empty()) {
        double number = 0;
        const auto [end, error] =
            std::from_chars(text.data(), text.data() + text.size(), number, std::chars_format::fixed);
        if (error != std::errc{} || number < 0) return {};
        text.remove_prefix(static_cast<size_t>(end - text.data()));
        const double unit = take_unit(text);
        if (unit == 0) return {};
        total += number * unit;
        if (!(total < kMostNanoseconds)) return {};
    }
    return std::chrono::nanoseconds{static_cast<int64_t>(negative ? -total : total)};
}

}  // namespace rung::cli

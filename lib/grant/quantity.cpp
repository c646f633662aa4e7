// Kubernetes quantities, as far as the schema admits them: no exponents, no fractions of a byte.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <limits>
#include <utility>

#include "grant/document.hpp"
#include "grant/parse.hpp"

namespace rung::grant {

namespace {

constexpr uint64_t kMostBytes = std::numeric_limits<int64_t>::max();  // what every kernel file takes
constexpr uint64_t kMostCpus = 1'000'000;

Error malformed(std::string_view text, std::string_view wanted) {
    return Error{.message = quoted(text) + " must be " + std::string{wanted}, .reason = "grant_parse_error"};
}

// Nothing when `text` is not 1 to 18 digits: what fits is then far below overflow.
std::optional<uint64_t> digits(std::string_view text) {
    if (text.empty() || text.size() > 18) return std::nullopt;
    uint64_t value = 0;
    for (const char character : text) {
        if (character < '0' || character > '9') return std::nullopt;
        value = value * 10 + static_cast<uint64_t>(character - '0');
    }
    return value;
}

std::optional<uint64_t> unit(std::string_view suffix) {
    constexpr std::array<std::pair<std::string_view, uint64_t>, 9> kUnits = {{{"", 1},
                                                                              {"k", 1000},
                                                                              {"M", 1000'000},
                                                                              {"G", 1000'000'000},
                                                                              {"T", 1000'000'000'000},
                                                                              {"Ki", 1ull << 10},
                                                                              {"Mi", 1ull << 20},
                                                                              {"Gi", 1ull << 30},
                                                                              {"Ti", 1ull << 40}}};
    for (const auto& [name, size] : kUnits) {
        if (name == suffix) return size;
    }
    return std::nullopt;
}

}  // namespace

Result<uint64_t> parse_bytes(std::string_view text) {
    constexpr std::string_view kWanted = "a whole number from 1, with Ki, Mi, Gi, Ti, k, M, G, T or no unit";
    const std::size_t end = std::min(text.find_first_not_of("0123456789"), text.size());
    const auto number = digits(text.substr(0, end));
    const auto size = unit(text.substr(end));
    if (!number || !size || text.starts_with('0')) return malformed(text, kWanted);
    if (*number > kMostBytes / *size) return malformed(text, "less than 8 EiB");
    return *number * *size;
}

Result<uint64_t> parse_cpu_milli(std::string_view text) {
    constexpr std::string_view kWanted = "a number of CPUs such as 500m, 2 or 0.5, to the thousandth";
    if (text.ends_with('m')) {
        const auto milli = digits(text.substr(0, text.size() - 1));
        if (!milli || text.starts_with('0')) return malformed(text, kWanted);
        if (*milli > kMostCpus * 1000) return malformed(text, "at most a million CPUs");
        return *milli;
    }
    const std::size_t dot = std::min(text.find('.'), text.size());
    std::string fraction = dot == text.size() ? "0" : std::string{text.substr(dot + 1)};
    if (fraction.empty() || fraction.size() > 3) return malformed(text, kWanted);
    fraction.resize(3, '0');
    const auto whole = digits(text.substr(0, dot));
    const auto thousandths = digits(fraction);
    if (!whole || !thousandths) return malformed(text, kWanted);
    if (*whole > kMostCpus) return malformed(text, "at most a million CPUs");
    if (*whole == 0 && *thousandths == 0) return malformed(text, "more than 0");
    return *whole * 1000 + *thousandths;
}

}  // namespace rung::grant

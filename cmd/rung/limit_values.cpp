// Errors are worded as runc words them, since its tests look for the flag's name.
// SPDX-License-Identifier: Apache-2.0
#include "limit_values.hpp"

#include <charconv>
#include <limits>
#include <optional>
#include <string_view>

namespace rung::cli {

namespace {

// The flags that were given, read one after the other; the first mistake is kept.
class Reader {
  public:
    explicit Reader(const std::map<std::string, std::string>& limits) : limits_(limits) {}

    template <typename Number>
    std::optional<Number> number(const std::string& name) {
        const std::string* text = find(name);
        if (text == nullptr) return {};
        Number value = 0;
        const auto [end, error] = std::from_chars(text->data(), text->data() + text->size(), value);
        if (error == std::errc{} && end == text->data() + text->size()) return value;
        refuse(name, "\"" + *text + "\" is not a number that it can be");
        return {};
    }

    std::optional<int64_t> bytes(const std::string& name) {
        const std::string* text = find(name);
        if (text == nullptr) return {};
        const auto value = parse_bytes(*text);
        if (value) return *value;
        refuse(name, value.error().message);
        return {};
    }

    std::string text(const std::string& name) const {
        const std::string* found = find(name);
        return found != nullptr ? *found : std::string{};
    }

    const Status& status() const { return status_; }

  private:
    const std::string* find(const std::string& name) const {
        const auto found = limits_.find(name);
        return found == limits_.end() ? nullptr : &found->second;
    }
    void refuse(const std::string& name, const std::string& why) {
        if (status_) status_ = Error{.message = "invalid value for " + name + ": " + why};
    }

    const std::map<std::string, std::string>& limits_;
    Status status_ = {};
};

char in_lower_case(char letter) {
    return letter >= 'A' && letter <= 'Z' ? static_cast<char>(letter - 'A' + 'a') : letter;
}

// 1 for bytes; nothing for what is no unit.
std::optional<double> unit_of(std::string_view text) {
    std::string unit;
    for (const char letter : text)
        unit += in_lower_case(letter);
    if (unit.empty() || unit == "b") return 1;
    const size_t power = std::string_view{"kmgtp"}.find(unit[0]);
    const std::string_view rest = std::string_view{unit}.substr(1);
    if (power == std::string_view::npos || (!rest.empty() && rest != "b" && rest != "ib")) return {};
    double factor = 1;
    for (size_t times = 0; times <= power; ++times)
        factor *= 1024;
    return factor;
}

}  // namespace

Result<int64_t> parse_bytes(const std::string& text) {
    if (text == "-1") return int64_t{-1};
    const Error wrong{.message = "invalid size: '" + text + "'"};
    double number = 0;
    const char* const whole_end = text.data() + text.size();
    const auto [end, error] = std::from_chars(text.data(), whole_end, number, std::chars_format::fixed);
    if (error != std::errc{} || number < 0) return wrong;
    std::string_view rest{end, static_cast<size_t>(whole_end - end)};
    if (rest.starts_with(' ')) rest.remove_prefix(1);
    const auto unit = unit_of(rest);
    constexpr auto kTooMany = static_cast<double>(std::numeric_limits<int64_t>::max());
    if (!unit || !(number * *unit < kTooMany)) return wrong;
    return static_cast<int64_t>(number * *unit);
}

Result<config::Resources> resources_of(const std::map<std::string, std::string>& limits) {
    Reader reader{limits};
    config::Resources resources;
    resources.block_io.weight = reader.number<uint16_t>("blkio-weight");
    resources.cpu = {.shares = reader.number<uint64_t>("cpu-share"),
                     .quota = reader.number<int64_t>("cpu-quota"),
                     .burst = reader.number<uint64_t>("cpu-burst"),
                     .period = reader.number<uint64_t>("cpu-period"),
                     .realtime_runtime = reader.number<int64_t>("cpu-rt-runtime"),
                     .realtime_period = reader.number<uint64_t>("cpu-rt-period"),
                     .cpus = reader.text("cpuset-cpus"),
                     .mems = reader.text("cpuset-mems"),
                     .idle = reader.number<int64_t>("cpu-idle")};
    resources.memory.limit = reader.bytes("memory");
    resources.memory.reservation = reader.bytes("memory-reservation");
    resources.memory.swap = reader.bytes("memory-swap");
    resources.memory.kernel = reader.bytes("kernel-memory");
    resources.memory.kernel_tcp = reader.bytes("kernel-memory-tcp");
    resources.pids_limit = reader.number<int64_t>("pids-limit");
    if (!reader.status()) return reader.status().error();
    return resources;
}

}  // namespace rung::cli

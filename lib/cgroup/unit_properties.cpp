// Limits and device rules as properties of a unit; systemd.resource-control(5), org.freedesktop.systemd1(5).
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <charconv>
#include <limits>
#include <string_view>

#include "cgroup/unit.hpp"

namespace rung::cgroup {

namespace {

constexpr uint64_t kInfinity = std::numeric_limits<uint64_t>::max();
constexpr uint64_t kDefaultPeriod = 100'000;
constexpr uint64_t kPercent = 10'000;  // microseconds of processor time a second

std::optional<uint64_t> number(std::string_view text) {
    uint64_t value = 0;
    const auto parsed = std::from_chars(text.data(), text.data() + text.size(), value);
    if (parsed.ec != std::errc{} || parsed.ptr != text.data() + text.size()) return {};
    return value;
}

std::optional<uint64_t> number_or_infinity(std::string_view text) {
    return text == "max" || text == "-1" ? kInfinity : number(text);
}

struct Named {
    std::string_view file;
    const char* property;
};

// One number, or none for "no limit".
constexpr std::array kNumbers = {
    Named{"memory.max", "MemoryMax"}, Named{"memory.high", "MemoryHigh"},
    Named{"memory.low", "MemoryLow"}, Named{"memory.min", "MemoryMin"},
    Named{"pids.max", "TasksMax"},    Named{"memory.swap.max", "MemorySwapMax"},
    Named{"cpu.weight", "CPUWeight"}, Named{"memory.limit_in_bytes", "MemoryLimit"},
    Named{"cpu.shares", "CPUShares"}, Named{"blkio.weight", "BlockIOWeight"},
};
constexpr std::array kSets = {
    Named{"cpuset.cpus", "AllowedCPUs"},
    Named{"cpuset.mems", "AllowedMemoryNodes"},
};

// "0-2,7" as bytes with bits 0, 1, 2 and 7 set, which is how systemd takes it; none for any other text.
std::vector<std::string> bits_of_list(std::string_view list) {
    constexpr uint64_t kMost = 8192;  // more processors than Linux can be built for
    std::vector<unsigned> bytes;
    while (!list.empty()) {
        const size_t comma = list.find(',');
        const std::string_view range = list.substr(0, comma);
        list.remove_prefix(comma == std::string_view::npos ? list.size() : comma + 1);
        const size_t dash = range.find('-');
        const auto first = number(range.substr(0, dash));
        const auto last = dash == std::string_view::npos ? first : number(range.substr(dash + 1));
        if (!first || !last || *first > *last || *last >= kMost) return {};
        if (bytes.size() <= *last / 8) bytes.resize(*last / 8 + 1);
        for (uint64_t bit = *first; bit <= *last; ++bit)
            bytes[bit / 8] |= 1U << (bit % 8);
    }
    std::vector<std::string> texts;
    for (const unsigned byte : bytes)
        texts.push_back(std::to_string(byte));
    return texts;
}

class Properties {
  public:
    void set(const char* name, const char* type, std::vector<std::string> values) {
        std::erase_if(all_, [&](const UnitProperty& known) { return known.name == name; });
        all_.push_back({.name = name, .type = type, .values = std::move(values)});
    }
    void set(const char* name, uint64_t value) { set(name, "t", {std::to_string(value)}); }
    std::vector<UnitProperty> take() { return std::move(all_); }

  private:
    std::vector<UnitProperty> all_ = {};
};

// systemd keeps a quota as whole percents of one processor; rounded up, so that what is below the cgroup gets what it was promised.
void set_quota(Properties& properties, std::optional<uint64_t> quota, std::optional<uint64_t> period) {
    if (period) properties.set("CPUQuotaPeriodUSec", *period);
    if (!quota) return;
    const uint64_t per = period.value_or(kDefaultPeriod);
    if (*quota == kInfinity || per == 0) return properties.set("CPUQuotaPerSecUSec", kInfinity);
    const uint64_t each_second = *quota * 1'000'000 / per;
    properties.set("CPUQuotaPerSecUSec", (each_second + kPercent - 1) / kPercent * kPercent);
}

std::string node_of(const config::DeviceRule& rule) {
    const std::string kind = rule.type == 'b' ? "block" : "char";
    if (rule.major.value_or(-1) < 0) return kind + "-*";
    const std::string major = std::to_string(*rule.major);
    if (rule.minor.value_or(-1) < 0) return kind + "-" + major;
    return "/dev/" + kind + "/" + major + ":" + std::to_string(*rule.minor);
}

}  // namespace

std::vector<UnitProperty> properties_of_writes(const std::vector<Write>& writes) {
    Properties properties;
    std::optional<uint64_t> quota;
    std::optional<uint64_t> period;
    for (const Write& write : writes) {
        const auto& [file, value] = write.spelling;
        for (const Named& named : kNumbers) {
            const auto limit = number_or_infinity(value);
            if (named.file == file && limit) properties.set(named.property, *limit);
        }
        for (const Named& named : kSets) {
            if (named.file == file) properties.set(named.property, "ay", bits_of_list(value));
        }
        // An idle group is one without weight: systemd 252. One that is woken has the usual weight, which stands for none given.
        if (file == "cpu.idle") properties.set("CPUWeight", value == "1" ? 0 : kInfinity);
        if (file == "cpu.cfs_period_us") period = number(value);
        if (file == "cpu.cfs_quota_us") quota = number_or_infinity(value);
        if (file == "cpu.max") {
            const size_t space = value.find(' ');
            quota = number_or_infinity(std::string_view{value}.substr(0, space));
            if (space != std::string::npos) period = number(std::string_view{value}.substr(space + 1));
        }
    }
    set_quota(properties, quota, period);
    return properties.take();
}

std::vector<std::string> files_of_properties() {
    std::vector<std::string> files{"cpu.max", "cpu.cfs_period_us", "cpu.cfs_quota_us", "cpu.idle",
                                   "blkio.bfq.weight"};  // of BlockIOWeight, on a scale of systemd's own
    for (const Named& named : kNumbers)
        files.emplace_back(named.file);
    for (const Named& named : kSets)
        files.emplace_back(named.file);
    return files;
}

std::vector<UnitProperty> properties_of_devices(const DevicePolicy& policy) {
    // systemd knows no rule that denies: these stay with the files, and the unit denies nothing.
    if (policy.allow_by_default) {
        return {{.name = "DevicePolicy", .type = "s", .values = {"auto"}}};
    }
    UnitProperty allowed{.name = "DeviceAllow", .type = "a(ss)"};
    for (const config::DeviceRule& rule : policy.exceptions) {
        const bool is_expressible = rule.major.value_or(-1) >= 0 || rule.minor.value_or(-1) < 0;
        if (!is_expressible) continue;
        allowed.values.push_back(node_of(rule));
        allowed.values.push_back(rule.access);
    }
    return {{.name = "DevicePolicy", .type = "s", .values = {"strict"}}, std::move(allowed)};
}

}  // namespace rung::cgroup

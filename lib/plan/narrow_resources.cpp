// Devices and limits: the minimum of config.json and the grant, written where the cgroup layer reads it.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <charconv>
#include <limits>

#include "plan/narrow.hpp"

namespace rung::plan {
namespace {

using config::Device;
using config::DeviceRule;
using config::Resources;

struct Node {
    const char* path;
    int64_t major;
    int64_t minor;
};

constexpr int64_t kAnyMinor = -1;

// runtime-spec config-linux.md, "Default Devices", with the terminal's own: console, ptmx and the ptys.
constexpr std::array<Node, 9> kDefaultNodes = {{{"/dev/null", 1, 3},
                                                {"/dev/zero", 1, 5},
                                                {"/dev/full", 1, 7},
                                                {"/dev/random", 1, 8},
                                                {"/dev/urandom", 1, 9},
                                                {"/dev/tty", 5, 0},
                                                {"/dev/console", 5, 1},
                                                {"/dev/ptmx", 5, 2},
                                                {"/dev/pts", 136, kAnyMinor}}};

std::vector<DeviceRule> default_rules() {
    std::vector<DeviceRule> rules = {{.allow = false, .type = 'a', .access = "rwm"}};
    for (const Node& node : kDefaultNodes) {
        rules.push_back({.allow = true, .type = 'c', .major = node.major, .access = "rwm"});
        if (node.minor != kAnyMinor) rules.back().minor = node.minor;
    }
    return rules;
}

bool is_default(const Device& device) {
    return device.type == config::DeviceType::character &&
           std::any_of(kDefaultNodes.begin(), kDefaultNodes.end(), [&](const Node& node) {
               return device.path == node.path && device.major == node.major && device.minor == node.minor;
           });
}

std::string number_text(const std::optional<int64_t>& number) {
    return number && *number >= 0 ? std::to_string(*number) : "*";
}

// "c 10:200 rwm", for the rules that let through what the defaults do not.
std::vector<std::string> extra_rules(const std::vector<DeviceRule>& rules) {
    const std::vector<DeviceRule> defaults = default_rules();
    std::vector<std::string> texts;
    for (const DeviceRule& rule : rules) {
        const bool known = std::any_of(defaults.begin(), defaults.end(), [&](const DeviceRule& other) {
            return other.allow && other.type == rule.type && other.major == rule.major &&
                   other.minor == rule.minor;
        });
        if (!rule.allow || known) continue;
        texts.push_back(std::string(1, rule.type) + " " + number_text(rule.major) + ":" +
                        number_text(rule.minor) + " " + rule.access);
    }
    return texts;
}

// A limit where -1 and absence both mean none.
uint64_t bound(const std::optional<int64_t>& limit) {
    return limit && *limit >= 0 ? static_cast<uint64_t>(*limit) : std::numeric_limits<uint64_t>::max();
}

std::string bound_text(uint64_t limit) {
    return limit == std::numeric_limits<uint64_t>::max() ? "unlimited" : std::to_string(limit);
}

std::optional<int64_t> parse_number(std::string_view text) {
    int64_t number = 0;
    const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc{} || rest != text.data() + text.size() || number < 0) return {};
    return number;
}

// Takes a v2 entry out of `unified`, which would be written after the limit and replace it.
std::string take_unified(Resources& resources, const std::string& file) {
    const auto found = resources.unified.find(file);
    if (found == resources.unified.end()) return {};
    std::string value = std::move(found->second);
    resources.unified.erase(found);
    return value;
}

int64_t to_signed(uint64_t value) {
    return static_cast<int64_t>(std::min<uint64_t>(value, std::numeric_limits<int64_t>::max()));
}

void narrow_memory(SandboxPlan& plan, uint64_t limit) {
    config::MemoryResources& memory = plan.spec.linux_.resources.memory;
    const std::string unified = take_unified(plan.spec.linux_.resources, "memory.max");
    take_unified(plan.spec.linux_.resources, "memory.swap.max");
    // Engines write 0 for a memory limit that nobody asked for.
    if (memory.limit == 0) memory.limit.reset();
    const uint64_t asked = std::min(bound(memory.limit), bound(parse_number(unified)));
    const uint64_t effective = std::min(asked, limit);
    memory.limit = to_signed(effective);
    memory.swap = memory.limit;  // memory and swap together: no swap
    memory.forbids_swap = true;
    if (effective != asked) {
        plan.narrowings.push_back({.field = "linux.resources.memory.limit",
                                   .asked = bound_text(asked),
                                   .effective = std::to_string(effective) + ", without swap",
                                   .layer = "grant",
                                   .reason = "limits.memory"});
    }
}

struct CpuShare {
    int64_t quota = 0;
    uint64_t period = 100000;  // the kernel's default, in microseconds
};

bool is_at_most(const CpuShare& share, uint64_t milli) {
    return static_cast<double>(share.quota) / static_cast<double>(share.period) <=
           static_cast<double>(milli) / 1000;
}

// The kernel takes periods up to a second and no quota below a millisecond; a long period makes room for a small share.
CpuShare share_of(uint64_t milli, uint64_t period) {
    constexpr uint64_t kLeastQuota = 1000;
    constexpr uint64_t kLongestPeriod = 1000000;
    constexpr uint64_t kMillionCpus = 1000000000;
    milli = std::min(milli, kMillionCpus);
    period = std::min(period, kLongestPeriod);
    if (milli * period / 1000 < kLeastQuota) period = kLongestPeriod;
    return {.quota = to_signed(milli * period / 1000), .period = period};
}

std::optional<CpuShare> asked_share(const config::CpuResources& cpu, const std::string& unified) {
    if (!unified.empty()) {
        const size_t space = unified.find(' ');
        const auto quota = parse_number(std::string_view(unified).substr(0, space));
        const auto period = space == std::string::npos
                                ? std::optional<int64_t>{100000}
                                : parse_number(std::string_view(unified).substr(space + 1));
        if (quota && period && *period > 0) return CpuShare{*quota, static_cast<uint64_t>(*period)};
        return {};
    }
    if (!cpu.quota || *cpu.quota <= 0) return {};
    return CpuShare{*cpu.quota, cpu.period.value_or(100000)};
}

void narrow_cpu(SandboxPlan& plan, uint64_t milli) {
    Resources& resources = plan.spec.linux_.resources;
    config::CpuResources& cpu = resources.cpu;
    const std::optional<CpuShare> asked = asked_share(cpu, take_unified(resources, "cpu.max"));
    take_unified(resources, "cpu.max.burst");
    const uint64_t asked_period = cpu.period.value_or(100000);
    const bool kept = asked && is_at_most(*asked, milli);
    const CpuShare effective = kept ? *asked : share_of(milli, asked_period == 0 ? 100000 : asked_period);
    cpu.quota = effective.quota;
    cpu.period = effective.period;
    // A burst lets a group exceed its quota for a while.
    cpu.burst.reset();
    if (kept) return;
    plan.narrowings.push_back(
        {.field = "linux.resources.cpu",
         .asked = asked ? std::to_string(asked->quota) + " of " + std::to_string(asked->period) + " us"
                        : "unlimited",
         .effective = std::to_string(effective.quota) + " of " + std::to_string(effective.period) + " us",
         .layer = "grant",
         .reason = "limits.cpu"});
}

void narrow_pids(SandboxPlan& plan, uint64_t limit) {
    Resources& resources = plan.spec.linux_.resources;
    const std::string unified = take_unified(resources, "pids.max");
    const uint64_t asked = std::min(bound(resources.pids_limit), bound(parse_number(unified)));
    resources.pids_limit = to_signed(std::min(asked, limit));
    if (limit >= asked) return;
    plan.narrowings.push_back({.field = "linux.resources.pids.limit",
                               .asked = bound_text(asked),
                               .effective = std::to_string(limit),
                               .layer = "grant",
                               .reason = "limits.pids"});
}

}  // namespace

void narrow_devices(SandboxPlan& plan) {
    std::vector<Device>& devices = plan.spec.linux_.devices;
    for (const Device& device : devices) {
        if (is_default(device)) continue;
        plan.narrowings.push_back({.field = "linux.devices[" + device.path + "]",
                                   .asked = "present",
                                   .effective = "absent",
                                   .layer = "grant",
                                   .reason = "the grant has no devices"});
    }
    devices.erase(
        std::remove_if(devices.begin(), devices.end(), [](const Device& each) { return !is_default(each); }),
        devices.end());

    std::vector<DeviceRule>& rules = plan.spec.linux_.resources.devices;
    if (const std::vector<std::string> extra = extra_rules(rules); !extra.empty()) {
        plan.narrowings.push_back({.field = "linux.resources.devices",
                                   .asked = list_text(extra),
                                   .effective = "the default devices",
                                   .layer = "grant",
                                   .reason = "the grant has no devices"});
    }
    rules = default_rules();
    plan.spec.linux_.resources.devices_are_complete = true;
}

void narrow_limits(SandboxPlan& plan, const grant::Limits& limits) {
    std::optional<bool>& oom_killer_off = plan.spec.linux_.resources.memory.disable_oom_killer;
    if (oom_killer_off.value_or(false)) {
        oom_killer_off.reset();
        plan.narrowings.push_back({.field = "linux.resources.memory.disableOOMKiller",
                                   .asked = "true",
                                   .effective = "false",
                                   .layer = "builtin",
                                   .reason = "a task that is out of memory ends instead of hanging"});
    }
    if (limits.memory) narrow_memory(plan, *limits.memory);
    if (limits.cpu_milli) narrow_cpu(plan, *limits.cpu_milli);
    if (limits.pids) narrow_pids(plan, *limits.pids);
}

}  // namespace rung::plan

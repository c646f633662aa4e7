// Random grants: only values that a grant's text can express.
// SPDX-License-Identifier: Apache-2.0
#include "property/random_grant.hpp"

#include <array>
#include <cstddef>
#include <string>
#include <vector>

namespace rung::property {

namespace {

using grant::Grant;

constexpr std::array kPaths = {"/usr",       "/usr/bin",  "/usr/bin/git", "/work",  "/work/in",
                               "/work/in/a", "/workshop", "/tmp",         "/tmp/x", "/etc"};
constexpr std::array kHosts = {"a.example.com",  "b.example.com",    "x.a.example.com", "*.example.com",
                               "**.example.com", "**.a.example.com", "example.org",     "*.a.example.com"};
constexpr std::array kCidrs = {"203.0.113.0/24", "203.0.113.0/25", "203.0.113.128/26",
                               "10.0.0.0/8",     "10.20.0.0/16",   "2001:db8::/32"};
constexpr std::array kHoles = {"203.0.113.0/26", "203.0.113.192/27", "10.20.30.0/24", "2001:db8:1::/48"};
constexpr std::array kPrivate = {"10.0.0.0/8", "10.20.0.0/16", "192.168.0.0/16"};

class Dice {
  public:
    explicit Dice(std::mt19937& random) : random_(random) {}

    std::size_t below(std::size_t count) { return random_() % count; }
    bool chance(std::size_t one_in) { return below(one_in) == 0; }

    template <typename Values>
    std::string pick(const Values& values) {
        return values[below(values.size())];
    }

    template <typename Values>
    std::vector<std::string> some(const Values& values, std::size_t most) {
        std::vector<std::string> chosen;
        for (std::size_t count = below(most + 1); count > 0; --count)
            chosen.push_back(pick(values));
        return chosen;
    }

    std::optional<uint64_t> maybe_number(uint64_t most) {
        if (chance(2)) return std::nullopt;
        return 1 + below(most);
    }

  private:
    std::mt19937& random_;
};

grant::Filesystem random_filesystem(Dice& dice) {
    grant::Filesystem filesystem{
        .rootfs = dice.chance(3) ? grant::RootfsAccess::read_only : grant::RootfsAccess::none,
        .read_only = dice.some(kPaths, 4),
        .read_write = dice.some(kPaths, 3),
        .hidden = dice.some(kPaths, 1)};
    if (dice.chance(6)) filesystem.read_only.push_back("/");
    for (const std::string& path : dice.some(kPaths, 2)) {
        filesystem.tmpfs.push_back({.path = path, .size = 1 + dice.below(4)});
    }
    return filesystem;
}

std::vector<grant::Tool> random_tools(Dice& dice) {
    std::vector<grant::Tool> tools;
    for (const std::string& path : dice.some(kPaths, 4)) {
        tools.push_back(
            {.path = path, .sha256 = dice.chance(3) ? std::string(64, dice.chance(2) ? 'a' : 'b') : ""});
    }
    if (dice.chance(6)) tools.push_back({.path = "/"});
    return tools;
}

grant::EgressRule random_rule(Dice& dice) {
    grant::EgressRule rule{.allow_private = dice.some(kPrivate, 2)};
    if (dice.chance(3)) {
        rule.cidr = dice.pick(kCidrs);
        rule.except = dice.some(kHoles, 2);
    } else {
        rule.host = dice.pick(kHosts);
    }
    if (dice.chance(2)) {
        rule.ports.clear();
        for (std::size_t count = 1 + dice.below(2); count > 0; --count) {
            const auto first = static_cast<uint16_t>(440 + dice.below(6));
            rule.ports.push_back({.first = first, .last = static_cast<uint16_t>(first + dice.below(4))});
        }
    }
    constexpr std::array kMethods = {"GET", "POST", "ANY"};
    constexpr std::array kHttpPaths = {"/a", "/b/**"};
    if (!rule.host.empty() && dice.chance(3)) {
        for (std::size_t count = 1 + dice.below(2); count > 0; --count) {
            rule.http.push_back(
                {.methods = {dice.pick(kMethods), dice.pick(kMethods)}, .path = dice.pick(kHttpPaths)});
        }
    }
    return rule;
}

grant::Network random_network(Dice& dice) {
    grant::Network network;
    for (std::size_t count = dice.below(5); count > 0; --count)
        network.egress.push_back(random_rule(dice));
    for (std::size_t count = dice.below(3); count > 0; --count) {
        network.ingress_ports.push_back(static_cast<uint16_t>(8080 + dice.below(3)));
    }
    return network;
}

grant::Metadata random_metadata(Dice& dice) {
    constexpr std::array kNames = {"", "first", "second"};
    grant::Metadata metadata{
        .name = dice.pick(kNames), .task_id = dice.pick(kNames), .subject = dice.pick(kNames)};
    if (dice.chance(2)) metadata.not_before = static_cast<int64_t>(dice.below(100));
    if (dice.chance(2)) metadata.expires_at = static_cast<int64_t>(dice.below(100));
    if (dice.chance(2)) metadata.labels[dice.pick(kNames)] = dice.pick(kNames);
    return metadata;
}

void add_conditions(Grant& grant, Dice& dice) {
    grant.limits = {.memory = dice.maybe_number(9),
                    .cpu_milli = dice.maybe_number(9),
                    .pids = dice.maybe_number(9),
                    .open_files = dice.maybe_number(9),
                    .ephemeral_storage = dice.maybe_number(9)};
    constexpr std::array kOps = {"exec", "connect", "session"};
    if (dice.chance(2)) {
        grant.budgets = grant::Budgets{.active_deadline_seconds = dice.maybe_number(9),
                                       .max_ops = dice.maybe_number(9),
                                       .counted_ops = dice.some(kOps, 2),
                                       .max_output_bytes = dice.maybe_number(9),
                                       .max_egress_bytes = dice.maybe_number(9)};
    }
    grant.termination_grace_seconds = dice.maybe_number(9);
    constexpr std::array kLevels = {grant::Isolation::container, grant::Isolation::gvisor,
                                    grant::Isolation::microvm};
    grant.isolation = kLevels[dice.below(3)];
    if (dice.chance(2)) {
        grant.audit_level = dice.chance(2) ? grant::AuditLevel::denials : grant::AuditLevel::decisions;
    }
    if (dice.chance(2)) grant.audit_feedback = dice.chance(2);
    constexpr std::array kProfiles = {"default", "strict"};
    grant.seccomp_profiles = dice.some(kProfiles, 1);
}

}  // namespace

Grant random_grant(std::mt19937& random) {
    Dice dice{random};
    Grant grant{.metadata = random_metadata(dice)};
    constexpr std::array kDevices = {"vendor.com/gpu=0", "vendor.com/gpu=1"};
    constexpr std::array kHeaders = {"Authorization", "X-Key"};
    if (!dice.chance(8)) grant.filesystem = random_filesystem(dice);
    if (!dice.chance(8)) grant.tools = random_tools(dice);
    if (!dice.chance(8)) grant.network = random_network(dice);
    if (!dice.chance(4)) grant.capabilities = dice.below(16);
    if (!dice.chance(4)) grant.devices = dice.some(kDevices, 2);
    if (dice.chance(2)) {
        grant.secrets = {{.name = "token", .hosts = dice.some(kHosts, 3), .header = dice.pick(kHeaders)},
                         {.name = "token", .hosts = dice.some(kHosts, 3)}};
    }
    add_conditions(grant, dice);
    return grant;
}

}  // namespace rung::property

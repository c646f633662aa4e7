// From the kernel's two tables of cgroups, /proc/self/mountinfo and /proc/self/cgroup, to CgroupFacts: pure.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <optional>
#include <utility>

#include "kernel/probe.hpp"

namespace rung::kernel {

namespace {

constexpr std::string_view kUsualMountPoint = "/sys/fs/cgroup";

std::vector<std::string_view> split(std::string_view text, char separator) {
    std::vector<std::string_view> parts;
    while (!text.empty()) {
        const size_t end = text.find(separator);
        parts.push_back(text.substr(0, end));
        if (end == std::string_view::npos) break;
        text.remove_prefix(end + 1);
    }
    return parts;
}

bool is_octal(std::string_view digits) {
    return digits.size() == 3 && digits[0] <= '3' &&
           std::all_of(digits.begin(), digits.end(), [](char digit) { return digit >= '0' && digit <= '7'; });
}

// The kernel writes space, tab, newline and backslash as \040, \011, \012 and \134; proc_pid_mountinfo(5).
std::string unescape(std::string_view text) {
    std::string plain;
    for (size_t at = 0; at < text.size(); ++at) {
        const std::string_view digits = text.substr(std::min(at + 1, text.size()), 3);
        if (text[at] != '\\' || !is_octal(digits)) {
            plain += text[at];
            continue;
        }
        plain += static_cast<char>((digits[0] - '0') * 64 + (digits[1] - '0') * 8 + (digits[2] - '0'));
        at += 3;
    }
    return plain;
}

struct MountLine {
    std::string root = {};
    std::string mount_point = {};
    std::string_view type = {};
    std::vector<std::string_view> options = {};  // the file system's own
};

// "31 30 0:28 ROOT MOUNT_POINT rw shared:1 - TYPE SOURCE rw,cpu": the optional fields end with "-".
std::optional<MountLine> parse_mount_line(std::string_view line) {
    const std::vector<std::string_view> fields = split(line, ' ');
    const auto dash = std::find(fields.begin(), fields.end(), "-");
    if (dash - fields.begin() < 6 || fields.end() - dash < 4) return std::nullopt;
    return MountLine{.root = unescape(fields[3]),
                     .mount_point = unescape(fields[4]),
                     .type = dash[1],
                     .options = split(dash[3], ',')};
}

struct Membership {
    std::vector<std::string_view> controllers = {};  // none: the cgroup2 hierarchy
    std::string_view path = {};
};

// "4:memory:/a/b". The path may hold further colons.
std::vector<Membership> parse_memberships(std::string_view self_cgroup) {
    std::vector<Membership> memberships;
    for (const std::string_view line : split(self_cgroup, '\n')) {
        const size_t first = line.find(':');
        if (first == std::string_view::npos) continue;
        const size_t second = line.find(':', first + 1);
        if (second == std::string_view::npos) continue;
        memberships.push_back({.controllers = split(line.substr(first + 1, second - first - 1), ','),
                               .path = line.substr(second + 1)});
    }
    return memberships;
}

// Which hierarchy a v1 mount shows is told by its options; they also hold words that are no controllers
// ("xattr"), so the list of controllers itself is taken from the membership.
bool shows(const MountLine& mount, const Membership& membership) {
    if (mount.type == "cgroup2") return membership.controllers.empty();
    return !membership.controllers.empty() &&
           std::find(mount.options.begin(), mount.options.end(), membership.controllers.front()) !=
               mount.options.end();
}

CgroupMount describe(const MountLine& mount, const std::vector<Membership>& memberships) {
    CgroupMount described{.mount_point = mount.mount_point, .root = mount.root};
    for (const Membership& membership : memberships) {
        if (!shows(mount, membership)) continue;
        described.controllers.assign(membership.controllers.begin(), membership.controllers.end());
        described.own_path = membership.path;
    }
    return described;
}

bool is_known(const std::vector<CgroupMount>& mounts, const CgroupMount& candidate) {
    return std::any_of(mounts.begin(), mounts.end(),
                       [&](const CgroupMount& mount) { return mount.controllers == candidate.controllers; });
}

}  // namespace

CgroupFacts parse_cgroup_facts(std::string_view mountinfo, std::string_view self_cgroup) {
    const std::vector<Membership> memberships = parse_memberships(self_cgroup);
    CgroupFacts facts;
    bool usual_place_is_v2 = false;
    for (const std::string_view line : split(mountinfo, '\n')) {
        const std::optional<MountLine> mount = parse_mount_line(line);
        if (!mount) continue;
        const bool is_usual_place = mount->mount_point == kUsualMountPoint;
        // A later mount covers an earlier one.
        if (is_usual_place) usual_place_is_v2 = mount->type == "cgroup2";
        if (mount->type != "cgroup" && mount->type != "cgroup2") continue;

        CgroupMount described = describe(*mount, memberships);
        if (mount->type == "cgroup2") {
            if (facts.unified.empty() || is_usual_place) facts.unified = {std::move(described)};
        } else if (!described.controllers.empty() && !is_known(facts.hierarchies, described)) {
            facts.hierarchies.push_back(std::move(described));
        }
    }
    if (usual_place_is_v2) facts.hierarchies.clear();
    if (!facts.hierarchies.empty()) {
        facts.layout = CgroupLayout::v1;
    } else if (!facts.unified.empty()) {
        facts.layout = CgroupLayout::v2;
    }
    return facts;
}

}  // namespace rung::kernel

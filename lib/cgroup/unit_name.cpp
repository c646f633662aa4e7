// Names of slices and scopes; systemd.slice(5), systemd.unit(5).
// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <string_view>

#include "base/path.hpp"
#include "cgroup/unit.hpp"

namespace rung::cgroup {

namespace {

constexpr std::string_view kSliceEnd = ".slice";
constexpr size_t kMostUnitName = 255;

std::vector<std::string> split(std::string_view text, char separator) {
    std::vector<std::string> parts;
    size_t start = 0;
    for (size_t end = text.find(separator); end != std::string_view::npos;
         end = text.find(separator, start)) {
        parts.emplace_back(text.substr(start, end - start));
        start = end + 1;
    }
    parts.emplace_back(text.substr(start));
    return parts;
}

bool is_plain(char letter) {
    return (letter >= 'a' && letter <= 'z') || (letter >= 'A' && letter <= 'Z') ||
           (letter >= '0' && letter <= '9') || letter == '-' || letter == '_' || letter == '.' ||
           letter == ':' || letter == '@' || letter == '\\';
}

// As systemd-escape(1) writes what a unit's name may not hold: "\x2b".
std::string escape(std::string_view text) {
    constexpr std::string_view kDigits = "0123456789abcdef";
    std::string escaped;
    for (const char letter : text) {
        if (is_plain(letter)) {
            escaped += letter;
            continue;
        }
        const auto byte = static_cast<unsigned char>(letter);
        escaped += "\\x";
        escaped += kDigits[byte >> 4];
        escaped += kDigits[byte & 15];
    }
    return escaped;
}

Error wrong_path(const std::string& why) {
    return Error{.message = "linux.cgroupsPath: " + why};
}

}  // namespace

Result<Unit> name_unit(const std::string& cgroups_path, const std::string& id, UnitOwner owner) {
    const std::string given = cgroups_path.empty() ? ":rung:" + id : cgroups_path;
    const std::vector<std::string> parts = split(given, ':');
    if (parts.size() != 3) {
        return wrong_path(
            "expected cgroupsPath to be of format \"slice:prefix:name\" for systemd cgroups, got \"" +
            cgroups_path + "\" instead");
    }
    const auto& [slice, prefix, name] = std::array{parts[0], parts[1], parts[2]};
    if (name.empty()) return wrong_path("\"" + cgroups_path + "\" has no name in it");
    if (name.ends_with(kSliceEnd))
        return wrong_path("a container is a scope, and \"" + name + "\" is a slice");
    Unit unit{.owner = owner};
    unit.slice = !slice.empty() ? slice : owner == UnitOwner::user ? "user.slice" : "system.slice";
    unit.name = escape((prefix.empty() ? "" : prefix + "-") + name) + ".scope";
    if (unit.name.size() > kMostUnitName)
        return wrong_path("the unit's name is longer than 255 bytes: " + unit.name);
    (void)TRY(path_of_slice(unit.slice));
    return unit;
}

Result<std::string> path_of_slice(const std::string& slice) {
    const Error invalid = wrong_path("invalid slice name: " + slice);
    if (!slice.ends_with(kSliceEnd) || slice.find('/') != std::string::npos) return invalid;
    const std::string name = slice.substr(0, slice.size() - kSliceEnd.size());
    if (name == "-") return std::string{"/"};
    std::string path;
    std::string prefix;
    for (const std::string& part : split(name, '-')) {
        if (part.empty()) return invalid;
        prefix += (prefix.empty() ? "" : "-") + part;
        path += "/" + prefix + std::string{kSliceEnd};
    }
    return path;
}

Result<Cgroup> locate_unit(const kernel::CgroupFacts& host, const Unit& unit,
                           const std::string& manager_group) {
    const std::string path = path::clean(manager_group + TRY(path_of_slice(unit.slice)) + "/" + unit.name);
    Cgroup cgroup{.manager = Manager::systemd, .layout = host.layout, .unit = unit};
    for (const kernel::CgroupMount& mount : host.hierarchies) {
        cgroup.v1.push_back({.controllers = mount.controllers,
                             .path = mount.mount_point + path,
                             .mount_point = mount.mount_point});
    }
    if (!host.unified.empty()) {
        cgroup.unified = host.unified.front().mount_point + path;
        cgroup.unified_mount_point = host.unified.front().mount_point;
    }
    return cgroup;
}

}  // namespace rung::cgroup

// Under a grant the task reaches the image and what it was granted. A volume of the host's that nobody has granted is not even mounted.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>

#include "base/path.hpp"
#include "plan/mount_kind.hpp"
#include "plan/narrow.hpp"

namespace rung::plan {
namespace {

using config::Mount;

// What engines put into every container, about the container itself.
constexpr std::array<std::string_view, 6> kOfTheEngine = {
    "/etc/hostname", "/etc/hosts", "/etc/resolv.conf", "/run/.containerenv", "/.dockerenv", "/etc/localtime"};
constexpr std::array<std::string_view, 3> kKernelPlaces = {"/dev", "/proc", "/sys"};

bool touches(const std::string& granted, const std::string& destination) {
    return path::covers(granted, destination) || path::covers(destination, granted);
}

bool is_named(const grant::Grant& grant, const grant::Filesystem& files, const std::string& destination) {
    const auto touches_it = [&](const std::string& path) { return touches(path, destination); };
    if (std::any_of(files.read_only.begin(), files.read_only.end(), touches_it)) return true;
    if (std::any_of(files.read_write.begin(), files.read_write.end(), touches_it)) return true;
    if (grants_every_program(grant)) return false;
    return std::any_of(grant.tools->begin(), grant.tools->end(),
                       [&](const grant::Tool& tool) { return touches(tool.path, destination); });
}

bool is_of_the_engine(const config::Spec& spec, const std::string& destination) {
    if (std::find(kOfTheEngine.begin(), kOfTheEngine.end(), destination) != kOfTheEngine.end()) return true;
    // An init that the engine puts before the program.
    if (!spec.process.args.empty() && spec.process.args.front() == destination) return true;
    return std::any_of(kKernelPlaces.begin(), kKernelPlaces.end(),
                       [&](std::string_view place) { return path::covers(place, destination); });
}

}  // namespace

void leave_out_mounts(SandboxPlan& plan, const grant::Grant& grant) {
    const grant::Filesystem files = grant.filesystem.value_or(grant::Filesystem{});
    std::vector<Mount> kept;
    for (Mount& mount : plan.spec.mounts) {
        const std::string destination = path::clean(mount.destination);
        const bool holds_files_of_the_host = kind_of(mount) == MountKind::bind || mount.type == "overlay";
        if (!holds_files_of_the_host || is_named(grant, files, destination) ||
            is_of_the_engine(plan.spec, destination)) {
            kept.push_back(std::move(mount));
            continue;
        }
        plan.narrowings.push_back({.field = "mounts[" + mount.destination + "]",
                                   .asked = mount.source,
                                   .effective = "left out",
                                   .layer = "grant",
                                   .reason = "no path of the grant names it"});
    }
    plan.spec.mounts = std::move(kept);
}

}  // namespace rung::plan

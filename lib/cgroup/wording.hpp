// The texts about cgroups that engines and conformance suites match letter by letter, each with who needs it.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

namespace rung::cgroup::wording {

// runc's tests, exec --cgroup.
inline constexpr std::string_view kBadSubCgroup = "bad sub cgroup path";
// runc's tests, create in a cgroup that somebody uses; engines show them.
inline constexpr std::string_view kNotEmpty = "container's cgroup is not empty";
inline constexpr std::string_view kFrozen = "container's cgroup unexpectedly frozen";
// runc's tests, limits of a user who may make no cgroup.
inline constexpr std::string_view kRootlessNeedsNoLimits =
    "rootless needs no limits + no cgrouppath when no permission is granted for cgroups";
// crun's tests: `cannot set pids limit: container could not join or create cgroup`.
inline constexpr std::string_view kNoCgroup = "container could not join or create cgroup";

}  // namespace rung::cgroup::wording

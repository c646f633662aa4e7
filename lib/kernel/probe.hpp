// Reading HostFacts from the running kernel, once per call of rung.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include "base/result.hpp"
#include "kernel/host_facts.hpp"

namespace rung::kernel {

// Fails only when /proc cannot be read: what is missing on the host is a fact, not an error.
Result<HostFacts> probe();

// The pure part: /proc/self/mountinfo and /proc/self/cgroup (proc(5), cgroups(7)) to CgroupFacts.
CgroupFacts parse_cgroup_facts(std::string_view mountinfo, std::string_view self_cgroup);

// Whether this process is outside the initial user namespace.
bool in_user_namespace();

}  // namespace rung::kernel

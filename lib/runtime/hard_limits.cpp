// prlimit(2) on the container's process. Only hard limits, and only upwards: a low limit would already hold while the process sets itself up.
// SPDX-License-Identifier: Apache-2.0
#include "runtime/hard_limits.hpp"

#include <sys/resource.h>

namespace rung::runtime {

void make_room_for(pid_t pid, const std::vector<config::Rlimit>& limits) {
    for (const config::Rlimit& limit : limits) {
        const auto resource = static_cast<__rlimit_resource>(limit.resource);
        rlimit present{};
        if (prlimit(pid, resource, nullptr, &present) < 0 || present.rlim_max >= limit.hard) continue;
        present.rlim_max = limit.hard;
        (void)prlimit(pid, resource, &present, nullptr);
    }
}

}  // namespace rung::runtime

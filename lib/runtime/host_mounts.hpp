// The mounts of a container that has no mount namespace of its own: on the host, upon one mount that can be taken away.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "base/result.hpp"
#include "runtime/state.hpp"

namespace rung::runtime {

// The id of the mount that shows what lies at `path`.
Result<uint64_t> mount_showing(const std::string& path);

// Takes away the container's own, and with it all that was mounted on it; nothing when there is none.
Status remove_host_mounts(const State& state);

}  // namespace rung::runtime

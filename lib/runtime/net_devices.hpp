// linux.netDevices: interfaces of the host that go into the container's network namespace before its program runs.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <map>
#include <string>

#include "base/result.hpp"

namespace rung::runtime {

// Moves each device, under the name it maps to, into the network namespace of `pid`, gives it back its lasting addresses of global scope, and
// brings it up. What does not get there stays as it was.
Status move_net_devices(const std::map<std::string, std::string>& devices, pid_t pid);

}  // namespace rung::runtime

// Kernel settings by name, and the namespace that confines each: sysctl(8), namespaces(7).
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "base/result.hpp"
#include "config/spec.hpp"

namespace rung::config {

// Beneath /proc/sys: "net.ipv4.conf.eth0/1.mtu" and "net/ipv4/conf/eth0.1/mtu" are "net/ipv4/conf/eth0.1/mtu".
std::string sysctl_path(std::string_view name);

// Refuses what is not confined to a namespace that the container has. Whether a network namespace given by path is
// the host's own cannot be told from text; the caller compares them.
Status validate_sysctl(const Spec& spec);

}  // namespace rung::config

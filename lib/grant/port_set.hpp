// Sets of ports, as sorted ranges that neither overlap nor touch.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "grant/grant.hpp"

namespace rung::grant {

using PortSet = std::vector<PortRange>;

// From ranges in any order.
PortSet port_set(std::vector<PortRange> ranges);

// The three below take what port_set() returned.
PortSet united_ports(const PortSet& left, const PortSet& right);
PortSet common_ports(const PortSet& left, const PortSet& right);
PortSet ports_without(const PortSet& ports, const PortSet& removed);

}  // namespace rung::grant

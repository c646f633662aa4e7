// Writing typed properties into a D-Bus message.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bus.hpp"

namespace rung::systemd {

// As a(sv).
Status append_properties(sd_bus_message* message, const std::vector<Property>& properties);

}  // namespace rung::systemd

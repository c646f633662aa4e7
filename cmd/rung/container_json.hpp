// Containers as JSON, as `state` and `list` print them.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "runtime/runtime.hpp"

namespace rung::cli {

std::string to_json(const runtime::ContainerInfo& container);  // over several lines
std::string to_json(
    const std::vector<runtime::ContainerInfo>& containers);  // on one; none is "null", as runc prints it

}  // namespace rung::cli

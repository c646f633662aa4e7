// --regex of kill and delete: one verb for several containers.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>

#include "base/result.hpp"
#include "runtime/runtime.hpp"

namespace rung::cli {

// Does `act` to the container `id` or, with `regex`, to every one whose id that expression fits. Goes on after a failure, and then reports
// the first.
Status for_each_matching(const runtime::Globals& globals, const std::string& id, bool regex,
                         const std::function<Status(const std::string&)>& act);

}  // namespace rung::cli

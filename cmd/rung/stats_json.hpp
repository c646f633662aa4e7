// Events as lines of JSON, in the shape that runc gives them.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "cgroup/stats.hpp"

namespace rung::cli {

// {"type":"stats","id":ID,"data":{...}}
std::string stats_event(const std::string& id, const cgroup::Stats& stats);
// {"type":"oom","id":ID}
std::string oom_event(const std::string& id);

}  // namespace rung::cli

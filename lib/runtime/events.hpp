// What happens to a running container, as it happens: its statistics now and then, and processes killed for want of memory.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <string>

#include "base/result.hpp"
#include "cgroup/stats.hpp"
#include "runtime/runtime.hpp"

namespace rung::runtime {

// Statistics, or without them that the kernel killed a process of the container.
using EventSink = std::function<Status(const std::optional<cgroup::Stats>& stats)>;

// "container with id X is not running" for a stopped container.
Result<cgroup::Stats> stats(const Globals& globals, const std::string& id);

// Until the container's first process ends, or `sink` fails.
Status watch(const Globals& globals, const std::string& id, std::chrono::nanoseconds interval,
             const EventSink& sink);

}  // namespace rung::runtime

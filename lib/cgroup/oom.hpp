// OomWatch: tells when the kernel has killed a process of a cgroup for want of memory.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/fd.hpp"
#include "base/result.hpp"
#include "cgroup/cgroup.hpp"

namespace rung::cgroup {

// What a cgroup has seen so far: memory.oom_control of v1, memory.events of v2.
struct OomCounts {
    uint64_t kills = 0;
    bool waits = false;  // v1 without an OOM killer: the processes hang until there is memory
    bool operator==(const OomCounts&) const = default;
};
OomCounts parse_oom_counts(std::string_view text);

class OomWatch {
  public:
    // A cgroup without a memory controller is watched in vain: there is no descriptor then.
    static Result<OomWatch> open(const Cgroup& cgroup);

    int descriptor() const { return descriptor_.get(); }  // -1: nothing to poll
    short poll_events() const { return poll_events_; }
    // To be called when the descriptor is ready: the next readiness is a new one.
    void acknowledge() const;
    // True when something happened since the last call. On v1 the descriptor is ready a moment before the kill is counted.
    bool saw_more();

  private:
    OomWatch() = default;

    Fd descriptor_ = {};
    short poll_events_ = 0;
    Fd counts_ = {};
    OomCounts last_ = {};
};

}  // namespace rung::cgroup

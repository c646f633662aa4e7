// The OOM score adjustment of a process that is about to be made.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include "base/fd.hpp"
#include "base/result.hpp"

namespace rung::runtime {

// The file of a process that hides from tracers belongs to the host's root. So a child inherits its score: it is ours from apply() until this
// object goes.
class InheritedOomScore {
  public:
    InheritedOomScore() = default;
    InheritedOomScore(const InheritedOomScore&) = delete;
    InheritedOomScore& operator=(const InheritedOomScore&) = delete;
    ~InheritedOomScore();

    // Lower than our own takes CAP_SYS_RESOURCE on the host: without it a caller that is not the host's root gets its own score and a debug line.
    Status apply(std::optional<int> score);

  private:
    Fd file_ = {};
    std::string before_ = {};
};

}  // namespace rung::runtime

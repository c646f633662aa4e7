// The global flags of runsc, which the configurations of engines that ran it pass on.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "flags.hpp"

namespace rung::cli {

// Those that mean nothing here: they tune the other runtime's kernel in user space, its file server and its logs.
class RunscFlags {
  public:
    // Only those that `words` may hold: declaring every one would take longer than most verbs.
    void declare(Flags& flags, const Words& words);
    // A line for each that was given.
    std::vector<std::string> remarks() const;

  private:
    std::map<std::string, std::optional<std::string>> values_ = {};
    std::map<std::string, std::optional<bool>> switches_ = {};
};

}  // namespace rung::cli

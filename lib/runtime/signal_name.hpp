// Signals as people and engines write them.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "base/result.hpp"

namespace rung::runtime {

// "SIGTERM", "term", "15", "RTMIN+3", "SIGRTMAX-1" -> the number. 0 only probes: kill(2).
Result<int> parse_signal(const std::string& text);

// "killed", as Go and so engines word the end of a process by a signal.
std::string signal_text(int number);

}  // namespace rung::runtime

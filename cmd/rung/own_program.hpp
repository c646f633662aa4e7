// The path of rung's own executable, which its second execution (protect_self.hpp) cannot learn from /proc.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace rung::cli {

// In the environment of the second execution only; early_protection.cpp spells it too.
inline constexpr const char* kOwnProgram = "RUNG_OWN_PROGRAM";

// Empty when it cannot be read. Takes the variable out of the environment, so that nothing inherits it.
std::string own_program();

}  // namespace rung::cli

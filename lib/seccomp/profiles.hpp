// The named profiles of seccomp-profiles/, built into the binary.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>
#include <vector>

namespace rung::seccomp {

// The JSON text of a profile; empty for a name that does not exist.
std::string_view profile_text(std::string_view name);
std::vector<std::string_view> profile_names();  // sorted

}  // namespace rung::seccomp

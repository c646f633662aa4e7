// Where containers are remembered when --root does not say.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "base/result.hpp"

namespace rung::cli {

// /run/rung, or $XDG_RUNTIME_DIR/rung for a user who could not write there: not root, or root only of a user namespace.
std::string default_root();

// Seen from the working directory.
Result<std::string> absolute_path(const std::string& path);

}  // namespace rung::cli

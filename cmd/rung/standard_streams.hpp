// rung's own stdin, stdout and stderr.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include "base/result.hpp"

namespace rung::cli {

// Opens /dev/null on each of 0, 1 and 2 that the caller closed, so that no other file gets their number (crun 1.21).
void open_missing_streams();

// All of `text` to standard output.
Status print(std::string_view text);

}  // namespace rung::cli

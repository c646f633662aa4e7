// The Public Suffix List as public_suffix.cpp searches it; embed_public_suffixes.py writes the text when rung is built.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

namespace rung::grant {

// Sorted, each line ends in '\n'.
std::string_view public_suffix_lines();

}  // namespace rung::grant

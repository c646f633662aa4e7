// What an unquoted YAML scalar is, without YAML's surprises.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include "grant/document.hpp"

namespace rung::grant {

// Numbers are plain decimals ("-?(0|[1-9][0-9]*)([.][0-9]+)?"), booleans `true` and `false`; what YAML 1.1
// or 1.2 might take for something other than a string besides these is `unclear`.
Kind plain_scalar_kind(std::string_view text);

// "-?(0|[1-9][0-9]*)" with an optional fraction.
bool is_plain_decimal(std::string_view text);

}  // namespace rung::grant

// Grants by the names of their files, as commands about grants take them.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "base/result.hpp"
#include "grant/grant.hpp"

namespace rung::cli {

// "-" is standard input.
Result<std::string> read_grant_text(const std::string& file);

// The error begins with the file's name.
Result<grant::Grant> read_grant(const std::string& file);

}  // namespace rung::cli

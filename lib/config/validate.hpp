// Rules over the values of one part; `prefix` is put before field names in errors: "process.".
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include "base/result.hpp"
#include "config/spec.hpp"

namespace rung::config {

Status validate_process(const Process& process, std::string_view prefix);
Status validate_resources(const Resources& resources, std::string_view prefix);
// "64KB", "2MB", "1GB": a number and a unit, and so never a path.
bool is_page_size(std::string_view text);
Status validate_linux(const Spec& spec);  // everything below "linux"

}  // namespace rung::config

// Records: one line of text fields, separated by tabs, as rung and its helper programs talk over a pipe.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace rung {

using Record = std::vector<std::string>;

// Without a newline at the end. Tab, newline and backslash within a field become \t, \n and \\.
std::string to_line(const Record& record);
// The inverse; a backslash before any other character stands for itself. At least one field, perhaps empty.
Record from_line(std::string_view line);

}  // namespace rung

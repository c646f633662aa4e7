// Everything that is wrong with a grant's text, for whoever corrects it.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "grant/document.hpp"

namespace rung::grant {

struct Problem {
    std::string code = {};  // "grant_unknown_field"
    Place place = {};
    bool operator==(const Problem&) const = default;
};

// In the order of the text; empty exactly when parse_grant() accepts it. A text that is neither YAML nor JSON
// has one problem. What is wrong only because of another problem is not listed.
std::vector<Problem> check_grant(std::string_view text);

}  // namespace rung::grant

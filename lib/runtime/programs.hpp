// Which files of an image are programs, and what of a tree may be read when only some of them are granted.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <set>
#include <string>
#include <vector>

#include "base/result.hpp"

namespace rung::runtime {

struct Programs {
    std::vector<std::string> readable =
        {};  // the fewest trees and files that hold everything but programs outside `tools`
    std::set<std::string> loaders = {};  // PT_INTERP of the tools, as it is written there
};

// `places` and `tools` are real paths below `root`. What is mounted within is not looked at. An error when a tree is deeper or has more pieces
// than rules are made for: then the list could not be enforced.
Result<Programs> find_programs(int root, const std::vector<std::string>& places,
                               const std::vector<std::string>& tools);

}  // namespace rung::runtime

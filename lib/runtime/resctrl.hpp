// linux.intelRdt: a share of the processor's cache and memory bandwidth, as a directory of the kernel's resctrl file system (runtime-spec
// config-linux.md, "IntelRdt").
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "config/spec.hpp"

namespace rung::runtime {

// Where a container belongs below a mounted resctrl.
struct ResctrlGroup {
    std::string directory = {};
    std::string monitor = {};           // empty: it is not watched on its own
    std::vector<std::string> own = {};  // what goes with the container, in the order of removal
    bool operator==(const ResctrlGroup&) const = default;
};
ResctrlGroup resctrl_group(const std::string& root, const std::string& id, const config::IntelRdt& wanted);

// Makes what is missing of it and gives it its schemata. A class of that name with other schemata is an error, and so is a class that does not
// exist when the configuration says nothing of what it should be.
Status make_resctrl_group(const ResctrlGroup& group, const config::IntelRdt& wanted);
Status join_resctrl_group(const ResctrlGroup& group, pid_t pid);
// What is gone already is fine.
Status remove_resctrl_directories(const std::vector<std::string>& directories);

// Whether the text of a schemata file says what `line` does: "L3:0=f;1=0f0".
bool has_schema(std::string_view schemata, std::string_view line);

}  // namespace rung::runtime

// What a cgroup's files say now: what an update that names only a part of it builds on, and what it goes back to when it fails.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "cgroup/cgroup.hpp"
#include "config/resources.hpp"

namespace rung::cgroup {

struct Content {
    std::string path = {};
    std::string text = {};
};
// Of the files that `writes` would change; those with a line for each device are left out, for they say more than they take.
std::vector<Content> read_contents(const Cgroup& cgroup, const std::vector<Write>& writes);
// Of the files that systemd writes when it is told a unit's limits.
std::vector<Content> read_contents_of_unit(const Cgroup& cgroup);
// As far as it is possible.
void put_back(const std::vector<Content>& contents);

// v2 has quota and period in one file, and counts swap apart from memory: what is named of such a pair is joined by the other as it is.
config::Resources with_current_partners(const Cgroup& cgroup, config::Resources resources);

}  // namespace rung::cgroup

// The facts of a plan in the words that `rung plan` shows, grouped: what the text and the JSON output have in common.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "plan/sandbox_plan.hpp"

namespace rung::plan {

struct Fact {
    std::string name = {};
    std::string value = {};
    bool operator==(const Fact&) const = default;
};

struct FactSection {
    std::string title = {};
    std::vector<Fact> facts = {};
    bool operator==(const FactSection&) const = default;
};

std::string_view namespace_name(config::NamespaceType type);  // "mount", as config.json spells it
std::string access_text(uint64_t access);                     // "read, list, write" for kernel::landlock::k*
std::vector<FactSection> facts_of(const SandboxPlan& plan);

}  // namespace rung::plan

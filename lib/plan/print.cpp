// `rung plan` for people: one fact a line in aligned columns, then what the grant made narrower and why.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "config/capability.hpp"
#include "plan/facts.hpp"
#include "plan/make.hpp"

namespace rung::plan {
namespace {

std::string padded(const std::string& text, size_t width) {
    return text.size() < width ? text + std::string(width - text.size(), ' ') : text;
}

std::string print_section(const FactSection& section) {
    std::string text = section.title + "\n";
    size_t width = 0;
    for (const Fact& fact : section.facts)
        width = std::max(width, fact.name.size());
    for (const Fact& fact : section.facts)
        text += "  " + padded(fact.name, width) + "  " + fact.value + "\n";
    return text;
}

std::string print_narrowings(const std::vector<Narrowing>& narrowings) {
    std::string text = "narrowed\n";
    for (const Narrowing& narrowing : narrowings) {
        text += "  " + narrowing.field + "\n";
        text += "    asked      " + narrowing.asked + "\n";
        text += "    effective  " + narrowing.effective + "\n";
        text += "    by         " + narrowing.layer + ": " + narrowing.reason + "\n";
    }
    return text;
}

}  // namespace

std::string print(const SandboxPlan& plan) {
    std::string text;
    for (const FactSection& section : facts_of(plan)) {
        if (section.facts.empty()) continue;
        text += (text.empty() ? "" : "\n") + print_section(section);
    }
    if (!plan.narrowings.empty()) text += "\n" + print_narrowings(plan.narrowings);
    return text;
}

}  // namespace rung::plan

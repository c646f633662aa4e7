// The meets of a grant's larger sections; meet() puts them together. Each works on what normalized_*()
// returned.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <iterator>
#include <vector>

#include "grant/grant.hpp"

namespace rung::grant {

Filesystem normalized_filesystem(const Filesystem& filesystem);
Filesystem meet_filesystems(const Filesystem& left, const Filesystem& right);

std::vector<Tool> normalized_tools(std::vector<Tool> tools);
std::vector<Tool> meet_tools(const std::vector<Tool>& left, const std::vector<Tool>& right);

std::vector<EgressRule> normalized_egress(const std::vector<EgressRule>& rules);
std::vector<EgressRule> meet_egress(const std::vector<EgressRule>& left,
                                    const std::vector<EgressRule>& right);

template <typename T>
std::vector<T> sorted_set(std::vector<T> values) {
    std::sort(values.begin(), values.end());
    values.erase(std::unique(values.begin(), values.end()), values.end());
    return values;
}

// Of two sorted sets.
template <typename T>
std::vector<T> intersection(const std::vector<T>& left, const std::vector<T>& right) {
    std::vector<T> both;
    std::set_intersection(left.begin(), left.end(), right.begin(), right.end(), std::back_inserter(both));
    return both;
}

template <typename T>
std::vector<T> united(const std::vector<T>& left, const std::vector<T>& right) {
    std::vector<T> all;
    std::set_union(left.begin(), left.end(), right.begin(), right.end(), std::back_inserter(all));
    return all;
}

}  // namespace rung::grant

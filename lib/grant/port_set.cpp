// Sets of ports as ranges: there are too many ports to list and too few ranges to be clever.
// SPDX-License-Identifier: Apache-2.0
#include "grant/port_set.hpp"

#include <algorithm>

namespace rung::grant {

namespace {

// Arithmetic on ports that may run one past 65535 or below 0.
PortRange range(int first, int last) {
    return {.first = static_cast<uint16_t>(first), .last = static_cast<uint16_t>(last)};
}

}  // namespace

PortSet port_set(std::vector<PortRange> ranges) {
    std::sort(ranges.begin(), ranges.end(),
              [](const PortRange& left, const PortRange& right) { return left.first < right.first; });
    PortSet set;
    for (const PortRange& next : ranges) {
        if (next.first > next.last) continue;
        if (!set.empty() && int{next.first} <= int{set.back().last} + 1) {
            set.back().last = std::max(set.back().last, next.last);
        } else {
            set.push_back(next);
        }
    }
    return set;
}

PortSet united_ports(const PortSet& left, const PortSet& right) {
    std::vector<PortRange> all = left;
    all.insert(all.end(), right.begin(), right.end());
    return port_set(std::move(all));
}

PortSet common_ports(const PortSet& left, const PortSet& right) {
    std::vector<PortRange> common;
    for (const PortRange& one : left) {
        for (const PortRange& other : right) {
            const uint16_t first = std::max(one.first, other.first);
            const uint16_t last = std::min(one.last, other.last);
            if (first <= last) common.push_back({.first = first, .last = last});
        }
    }
    return port_set(std::move(common));
}

PortSet ports_without(const PortSet& ports, const PortSet& removed) {
    std::vector<PortRange> gaps;  // everything that is not removed
    int next = 0;
    for (const PortRange& hole : removed) {
        if (next < hole.first) gaps.push_back(range(next, hole.first - 1));
        next = hole.last + 1;
    }
    if (next <= 65535) gaps.push_back(range(next, 65535));
    return common_ports(ports, gaps);
}

}  // namespace rung::grant

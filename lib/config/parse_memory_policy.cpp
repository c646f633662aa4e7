// linux.memoryPolicy: words to the numbers of set_mempolicy(2), and which modes go with which nodes.
// SPDX-License-Identifier: Apache-2.0
#include <linux/mempolicy.h>

#include "config/id_list.hpp"
#include "config/named_value.hpp"
#include "config/quoted.hpp"
#include "config/readers.hpp"

namespace rung::config {
namespace {

constexpr int kWeightedInterleave = 6;  // MPOL_WEIGHTED_INTERLEAVE, since Linux 6.9

constexpr NamedValue kModes[] = {
    {"MPOL_DEFAULT", MPOL_DEFAULT},       {"MPOL_BIND", MPOL_BIND},
    {"MPOL_INTERLEAVE", MPOL_INTERLEAVE}, {"MPOL_WEIGHTED_INTERLEAVE", kWeightedInterleave},
    {"MPOL_PREFERRED", MPOL_PREFERRED},   {"MPOL_PREFERRED_MANY", MPOL_PREFERRED_MANY},
    {"MPOL_LOCAL", MPOL_LOCAL},
};

constexpr NamedValue kFlags[] = {
    {"MPOL_F_STATIC_NODES", MPOL_F_STATIC_NODES},
    {"MPOL_F_RELATIVE_NODES", MPOL_F_RELATIVE_NODES},
    {"MPOL_F_NUMA_BALANCING", MPOL_F_NUMA_BALANCING},
};

void check_node_count(const Object& object, int mode, size_t count) {
    if ((mode == MPOL_DEFAULT || mode == MPOL_LOCAL) && count != 0) {
        object.refuse("nodes", "memory policy mode requires 0 nodes but got " + std::to_string(count));
    }
    const bool needs_nodes = mode == MPOL_BIND || mode == MPOL_INTERLEAVE || mode == kWeightedInterleave ||
                             mode == MPOL_PREFERRED_MANY;
    if (needs_nodes && count == 0) {
        object.refuse("nodes", "memory policy mode requires at least one node but got 0");
    }
}

}  // namespace

MemoryPolicy read_memory_policy(const Object& object) {
    MemoryPolicy policy;
    const std::string name = object.text("mode");
    const auto mode = find_value(kModes, name);
    if (!mode) object.refuse("mode", "invalid memory policy mode " + quoted(name));
    const std::string nodes = object.text("nodes");
    auto mask = parse_id_list(nodes);
    if (!mask)
        object.refuse("nodes", "invalid memory policy nodes " + quoted(nodes) + ": " + mask.error().message);
    if (mask) policy.nodes = *std::move(mask);
    for (const std::string& word : object.texts("flags")) {
        const auto flag = find_value(kFlags, word);
        if (!flag) object.refuse("flags", "invalid memory policy flag " + quoted(word));
        policy.mode |= flag.value_or(0);
    }
    check_node_count(object, mode.value_or(MPOL_PREFERRED), count_ids(policy.nodes));
    policy.mode |= mode.value_or(0);
    return policy;
}

}  // namespace rung::config

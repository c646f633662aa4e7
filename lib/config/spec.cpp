// Questions that many readers of a Spec ask.
// SPDX-License-Identifier: Apache-2.0
#include "config/spec.hpp"

#include <algorithm>

namespace rung::config {

std::optional<uint32_t> host_id(const std::vector<IdMapping>& mappings, uint32_t id) {
    for (const IdMapping& mapping : mappings) {
        if (id >= mapping.container_id && id - mapping.container_id < mapping.size)
            return mapping.host_id + (id - mapping.container_id);
    }
    return std::nullopt;
}

const Namespace* Spec::find_namespace(NamespaceType type) const {
    const auto& all = linux_.namespaces;
    const auto found =
        std::find_if(all.begin(), all.end(), [type](const auto& one) { return one.type == type; });
    return found == all.end() ? nullptr : &*found;
}

bool Spec::has_namespace(NamespaceType type) const {
    return find_namespace(type) != nullptr;
}

}  // namespace rung::config

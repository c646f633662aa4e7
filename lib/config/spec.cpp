// Questions that many readers of a Spec ask.
// SPDX-License-Identifier: Apache-2.0
#include "config/spec.hpp"

#include <algorithm>

namespace rung::config {

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

// Removal of a container by whoever made it and has seen its end.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <string>

#include "base/result.hpp"
#include "runtime/runtime.hpp"

namespace rung::runtime {

// As remove() by force, for the container `id` whose first process was `init`. Somebody else may have deleted it, and the name may be another
// container's since: that one stays.
Status remove_own(const Globals& globals, const std::string& id, pid_t init);

}  // namespace rung::runtime

// The child's own procfs: detached, so that nothing in the container can lie about what is behind its names (CVE-2025-52881). Private to lib/child.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "child/context.hpp"

namespace rung::child {

// A descriptor of the root of a procfs instance of the present pid namespace, mounted nowhere; or a negative errno.
int private_procfs(Context& context);

}  // namespace rung::child

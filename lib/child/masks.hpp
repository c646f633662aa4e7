// What masked files are covered with. Private to lib/child.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "child/context.hpp"

namespace rung::child {

// Takes a clone of the host's null device while its path is still there, when a step of the program will need
// it. Never the container's own: an image can put a symlink to anything in its place (CVE-2025-31133). 0 or a
// negative errno.
int keep_null_device(Context& context);

}  // namespace rung::child

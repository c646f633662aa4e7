// What may be mounted on the container's procfs. Private to lib/child.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "child/context.hpp"

namespace rung::child {

// -EPERM when `target` lies in a procfs and `tree` may not cover it there; otherwise 0, or the negative errno
// of finding out. An image's symlink can lead any mount there, and a covered /proc/self/attr would have
// programs believe that they changed their own label (CVE-2019-16884). As in runc, a few files that only show
// numbers may be covered, and the whole by another procfs.
int guard_proc(const Context& context, int tree, int target);

}  // namespace rung::child

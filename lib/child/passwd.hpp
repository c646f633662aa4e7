// The home directory that the container's own /etc/passwd gives a user (passwd(5)). Private to lib/child.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <cstddef>

namespace rung::child {

// Writes the home of `uid` and a NUL to `home`; "/" when the file, the user or a usable entry is missing. Ids are numbers here: no name
// in the file is ever taken for one (CVE-2016-3697).
void find_home(uid_t uid, char* home, size_t size);

}  // namespace rung::child

// What the caller hands down to a container beside stdio: descriptors from 3 on.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "base/result.hpp"

namespace rung::runtime {

struct Inherited {
    int count = 0;                              // descriptors, from 3 on
    std::vector<std::string> environment = {};  // that tells the program of them
};

// --preserve-fds N. Gaps are no error, for callers that pass a number on the safe side; that there is none at all is one, as with runc.
Result<Inherited> preserved_descriptors(int preserve_fds);

// The same after the sockets that a service manager has opened for us, which are the workload's: sd_listen_fds(3).
Result<Inherited> activated_descriptors(int preserve_fds);

}  // namespace rung::runtime

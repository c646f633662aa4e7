// Closing of owned descriptors.
// SPDX-License-Identifier: Apache-2.0
#include "base/fd.hpp"

#include <unistd.h>

namespace rung {

void Fd::reset() {
    // close(2): the descriptor is gone even when EINTR is returned, so it is never retried.
    if (number_ >= 0) (void)close(number_);
    number_ = -1;
}

}  // namespace rung

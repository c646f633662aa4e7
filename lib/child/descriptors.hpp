// Closing descriptors by range, and the last words of a process that nobody listens to. Private to lib/child.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>

namespace rung::child {

// Closes every descriptor from `first` on except those in `kept`, which is sorted on the way.
void close_all_but(int first, std::span<int> kept);

// "exec SUBJECT: no such file or directory" on standard error: one line (case B21).
void explain_on_stderr(const char* subject, int error);

}  // namespace rung::child

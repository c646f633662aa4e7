// Closing descriptors by range, handing one over, and the last words of a process that nobody listens to.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <span>

namespace rung::child {

// Closes every descriptor from `first` on except those in `kept`, which is sorted on the way.
void close_all_but(int first, std::span<int> kept);

// One message on an AF_UNIX socket with `descriptor` as SCM_RIGHTS (unix(7)); 0 or a negative errno, never SIGPIPE.
int send_descriptor(int socket, const void* data, size_t length, int descriptor);

// A file, with the st_mode `mode`, that was given to be read only: an owner could open it again for writing.
bool is_input(int descriptor, mode_t mode);

// "exec SUBJECT: no such file or directory" on standard error: one line (runc#4171).
void explain_on_stderr(const char* subject, int error);

}  // namespace rung::child

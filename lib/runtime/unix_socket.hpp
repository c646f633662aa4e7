// Sockets of the caller that receive descriptors.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "base/fd.hpp"
#include "base/result.hpp"

namespace rung::runtime {

// A connection to the AF_UNIX stream socket at `path`, which may be longer than an address can hold. The error begins with `what`.
Result<Fd> connect_stream_socket(const std::string& path, const std::string& what);
Result<Fd> connect_socket(const std::string& path, int type,
                          const std::string& what);  // SOCK_STREAM, SOCK_DGRAM

// --pidfd-socket: one message, a name and with it the descriptor, as runc's receivers expect it.
Status send_pidfd(const std::string& socket, const Fd& pidfd);

// The same for --console-socket and the master of a terminal.
Status send_terminal(const Fd& console_socket, const Fd& master);

}  // namespace rung::runtime

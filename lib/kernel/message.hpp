// A message that may bring one descriptor with it, recvmsg(2) and unix(7).
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>

#include "base/fd.hpp"
#include "base/result.hpp"

namespace rung::kernel {

struct Message {
    size_t length = 0;  // 0: the other side has ended
    bool is_cut = false;
    Fd descriptor = {};
};

// Waits for one and reads it into `bytes`; its descriptor is close-on-exec. The error has the errno and no context.
Result<Message> receive_message(int socket, std::span<char> bytes);

}  // namespace rung::kernel

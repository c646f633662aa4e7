// RouteSocket: requests to the kernel's network configuration, rtnetlink(7), one at a time.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/fd.hpp"
#include "base/result.hpp"

namespace rung::kernel {

// One message: what follows its header, and what kind it is.
struct RouteMessage {
    uint16_t type = 0;  // RTM_*
    std::string body = {};
};

// Adds an attribute, padded as netlink wants it.
void add_attribute(std::string& body, uint16_t type, std::string_view value);

class RouteSocket {
  public:
    // In the network namespace of the calling process, and of that one for good.
    static Result<RouteSocket> open();

    // Sends `message` with `flags` (NLM_F_*) and waits for the kernel to acknowledge it.
    Status request(const RouteMessage& message, uint16_t flags = 0);
    // Every message that the kernel answers a dump with.
    Result<std::vector<RouteMessage>> dump(const RouteMessage& message);

  private:
    explicit RouteSocket(Fd socket) : socket_(std::move(socket)) {}
    Status send(const RouteMessage& message, uint16_t flags);

    Fd socket_ = {};
    uint32_t sequence_ = 0;
};

}  // namespace rung::kernel

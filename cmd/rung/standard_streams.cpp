// Plain system calls: rung has no buffered streams that an exec or a clone could duplicate.
// SPDX-License-Identifier: Apache-2.0
#include "standard_streams.hpp"

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <array>
#include <cerrno>

namespace rung::cli {

void open_missing_streams() {
    std::array<pollfd, 3> streams = {{{.fd = 0, .events = 0, .revents = 0},
                                      {.fd = 1, .events = 0, .revents = 0},
                                      {.fd = 2, .events = 0, .revents = 0}}};
    if (poll(streams.data(), streams.size(), 0) <= 0) return;
    for (const pollfd& stream : streams) {
        // The lowest free number is this one. Not CLOEXEC: the container inherits it.
        if ((stream.revents & POLLNVAL) != 0) (void)open("/dev/null", O_RDWR);
    }
}

Status print(std::string_view text) {
    while (!text.empty()) {
        const ssize_t count = write(STDOUT_FILENO, text.data(), text.size());
        if (count < 0 && errno == EINTR) continue;
        if (count < 0) return errno_error("write to standard output", errno);
        text.remove_prefix(static_cast<size_t>(count));
    }
    return {};
}

}  // namespace rung::cli

// Taking a descriptor out of a message.
// SPDX-License-Identifier: Apache-2.0
#include "kernel/message.hpp"

#include <sys/socket.h>

#include <cerrno>
#include <cstring>

namespace rung::kernel {
namespace {

union Control {
    cmsghdr header;
    char space[CMSG_SPACE(sizeof(int))];
};

Fd take_descriptor(const msghdr& message) {
    const cmsghdr* control = CMSG_FIRSTHDR(&message);
    if (control == nullptr || control->cmsg_level != SOL_SOCKET || control->cmsg_type != SCM_RIGHTS)
        return Fd{};
    int number = -1;
    std::memcpy(&number, CMSG_DATA(control), sizeof number);
    return Fd{number};
}

}  // namespace

Result<Message> receive_message(int socket, std::span<char> bytes) {
    iovec data{.iov_base = bytes.data(), .iov_len = bytes.size()};
    Control control{};
    msghdr message{};
    message.msg_iov = &data;
    message.msg_iovlen = 1;
    message.msg_control = &control;
    message.msg_controllen = sizeof control;
    ssize_t length = 0;
    do {
        length = recvmsg(socket, &message, MSG_CMSG_CLOEXEC);
    } while (length < 0 && errno == EINTR);
    if (length < 0) return Error{.message = errno_text(errno), .errno_value = errno};
    return Message{.length = static_cast<size_t>(length),
                   .is_cut = (message.msg_flags & MSG_TRUNC) != 0,
                   .descriptor = take_descriptor(message)};
}

}  // namespace rung::kernel

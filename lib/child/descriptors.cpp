// Descriptors handed over, and those that must not be there any longer.
// SPDX-License-Identifier: Apache-2.0
#include "child/descriptors.hpp"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>

#include "kernel/syscalls.hpp"

namespace rung::child {
namespace {

void write_text(const char* text) {
    (void)!write(STDERR_FILENO, text, strlen(text));
}

}  // namespace

bool is_input(int descriptor, mode_t mode) {
    if (S_ISFIFO(mode) || S_ISSOCK(mode) || S_ISCHR(mode)) return false;
    return (fcntl(descriptor, F_GETFL) & O_ACCMODE) == O_RDONLY;
}

// The one line that a container started long ago can still say to whoever reads its standard error.
void explain_on_stderr(const char* path, int error) {
    const char* description = strerrordesc_np(error);
    write_text("exec ");
    write_text(path);
    write_text(": ");
    if (description == nullptr) {
        write_text("unknown error\n");
        return;
    }
    // Lower case, as every error of this program.
    const char first = *description;
    const char lower = first >= 'A' && first <= 'Z' ? static_cast<char>(first - 'A' + 'a') : first;
    (void)!write(STDERR_FILENO, &lower, 1);
    write_text(description + 1);
    write_text("\n");
}

int send_descriptor(int socket, const void* data, size_t length, int descriptor) {
    iovec piece{.iov_base = const_cast<void*>(data), .iov_len = length};
    alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {};
    msghdr message{};
    message.msg_iov = &piece;
    message.msg_iovlen = 1;
    message.msg_control = control;
    message.msg_controllen = sizeof control;
    cmsghdr* header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(sizeof(int));
    memcpy(CMSG_DATA(header), &descriptor, sizeof descriptor);
    const int result = kernel::checked(sendmsg(socket, &message, MSG_NOSIGNAL));
    return result < 0 ? result : 0;
}

void close_all_but(int first, std::span<int> kept) {
    std::sort(kept.begin(), kept.end());
    for (const int one : kept) {
        if (one < first) continue;
        if (one > first)
            (void)kernel::close_range(static_cast<unsigned int>(first), static_cast<unsigned int>(one - 1),
                                      0);
        first = one + 1;
    }
    (void)kernel::close_range(static_cast<unsigned int>(first), ~0U, 0);
}

}  // namespace rung::child

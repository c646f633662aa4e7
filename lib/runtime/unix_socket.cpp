// Connecting to a socket of the caller's, and handing a descriptor over.
// SPDX-License-Identifier: Apache-2.0
#include "runtime/unix_socket.hpp"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <cerrno>
#include <cstddef>
#include <cstring>
#include <string_view>

#include "child/descriptors.hpp"

namespace rung::runtime {

Result<Fd> connect_stream_socket(const std::string& path, const std::string& what) {
    return connect_socket(path, SOCK_STREAM, what);
}

Result<Fd> connect_socket(const std::string& path, int type, const std::string& what) {
    sockaddr_un address = {};
    address.sun_family = AF_UNIX;
    // A path longer than an address can hold is reached through a descriptor of the socket's file.
    Fd file;
    std::string name = path;
    if (name.size() >= sizeof address.sun_path) {
        file = Fd{open(path.c_str(), O_PATH | O_CLOEXEC)};
        if (!file) return errno_error(what, errno);
        name = "/proc/self/fd/" + std::to_string(file.get());
    }
    std::memcpy(address.sun_path, name.c_str(), name.size() + 1);
    // "@name" is an abstract one, which ends with the address and not with a NUL (unix(7)).
    const bool is_abstract = path.starts_with('@');
    if (is_abstract) address.sun_path[0] = '\0';
    const size_t length = is_abstract ? offsetof(sockaddr_un, sun_path) + name.size() : sizeof address;
    Fd socket{::socket(AF_UNIX, type | SOCK_CLOEXEC, 0)};
    if (!socket) return errno_error("socket", errno);
    if (connect(socket.get(), reinterpret_cast<const sockaddr*>(&address), static_cast<socklen_t>(length)) !=
        0) {
        return errno_error(what, errno);
    }
    return socket;
}

Status send_pidfd(const std::string& socket, const Fd& pidfd) {
    constexpr std::string_view kName = "pidfd";
    const Fd connection = TRY(connect_stream_socket(socket, "connect to the pidfd socket " + socket));
    const int result = child::send_descriptor(connection.get(), kName.data(), kName.size(), pidfd.get());
    if (result < 0) return errno_error("send to the pidfd socket " + socket, -result);
    return {};
}

Status send_terminal(const Fd& console_socket, const Fd& master) {
    constexpr std::string_view kName = "/dev/ptmx";
    const int result = child::send_descriptor(console_socket.get(), kName.data(), kName.size(), master.get());
    if (result < 0) return errno_error("send to the console socket", -result);
    return {};
}

}  // namespace rung::runtime

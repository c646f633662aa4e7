// Netlink messages by hand: a header, a body, attributes; netlink(7).
// SPDX-License-Identifier: Apache-2.0
#include "kernel/route_socket.hpp"

#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace rung::kernel {
namespace {

constexpr size_t kLargestAnswer = 64 * 1024;  // more than the kernel puts into one datagram

template <typename T>
std::string_view bytes_of(const T& value) {
    return {reinterpret_cast<const char*>(&value), sizeof value};
}

// The errno of an NLMSG_ERROR, 0 for an acknowledgement.
int error_of(std::string_view body) {
    nlmsgerr answer{};
    if (body.size() < sizeof answer) return EBADMSG;
    std::memcpy(&answer, body.data(), sizeof answer);
    return -answer.error;
}

// The messages of one datagram, in order.
std::vector<RouteMessage> split(std::string_view datagram) {
    std::vector<RouteMessage> messages;
    while (datagram.size() >= sizeof(nlmsghdr)) {
        nlmsghdr header{};
        std::memcpy(&header, datagram.data(), sizeof header);
        if (header.nlmsg_len < sizeof header || header.nlmsg_len > datagram.size()) break;
        messages.push_back(
            {.type = header.nlmsg_type,
             .body = std::string{datagram.substr(sizeof header, header.nlmsg_len - sizeof header)}});
        datagram.remove_prefix(std::min<size_t>(NLMSG_ALIGN(header.nlmsg_len), datagram.size()));
    }
    return messages;
}

Result<std::vector<RouteMessage>> receive(const Fd& socket) {
    std::string datagram(kLargestAnswer, '\0');
    ssize_t length = 0;
    do {
        length = recv(socket.get(), datagram.data(), datagram.size(), 0);
    } while (length < 0 && errno == EINTR);
    if (length < 0) return errno_error("read from netlink", errno);
    datagram.resize(static_cast<size_t>(length));
    return split(datagram);
}

}  // namespace

void add_attribute(std::string& body, uint16_t type, std::string_view value) {
    body.resize(NLMSG_ALIGN(body.size()));
    const rtattr header{.rta_len = static_cast<unsigned short>(RTA_LENGTH(value.size())), .rta_type = type};
    body += bytes_of(header);
    body += value;
}

Result<RouteSocket> RouteSocket::open() {
    Fd socket{::socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE)};
    if (!socket) return errno_error("open a netlink socket", errno);
    return RouteSocket{std::move(socket)};
}

Status RouteSocket::send(const RouteMessage& message, uint16_t flags) {
    const nlmsghdr header{.nlmsg_len = static_cast<uint32_t>(sizeof(nlmsghdr) + message.body.size()),
                          .nlmsg_type = message.type,
                          .nlmsg_flags = static_cast<uint16_t>(NLM_F_REQUEST | flags),
                          .nlmsg_seq = ++sequence_,
                          .nlmsg_pid = 0};
    std::string text{bytes_of(header)};
    text += message.body;
    if (::send(socket_.get(), text.data(), text.size(), 0) < 0) return errno_error("write to netlink", errno);
    return {};
}

Status RouteSocket::request(const RouteMessage& message, uint16_t flags) {
    TRY(send(message, static_cast<uint16_t>(flags | NLM_F_ACK)));
    while (true) {
        for (const RouteMessage& answer : TRY(receive(socket_))) {
            if (answer.type != NLMSG_ERROR) continue;
            const int error = error_of(answer.body);
            if (error == 0) return {};
            return Error{.message = errno_text(error), .errno_value = error};
        }
    }
}

Result<std::vector<RouteMessage>> RouteSocket::dump(const RouteMessage& message) {
    TRY(send(message, NLM_F_DUMP));
    std::vector<RouteMessage> all;
    while (true) {
        for (RouteMessage& answer : TRY(receive(socket_))) {
            if (answer.type == NLMSG_DONE) return all;
            if (answer.type == NLMSG_ERROR) {
                const int error = error_of(answer.body);
                return Error{.message = errno_text(error), .errno_value = error};
            }
            all.push_back(std::move(answer));
        }
    }
}

}  // namespace rung::kernel

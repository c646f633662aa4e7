// The container's socket is bound only by the one who will read it: `run`, or `start`. What is sent earlier has nobody to go to.
// SPDX-License-Identifier: Apache-2.0
#include "runtime/notify.hpp"

#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <string_view>

#include "base/log.hpp"
#include "base/path.hpp"
#include "child/descriptors.hpp"
#include "runtime/unix_socket.hpp"

namespace rung::runtime {
namespace {

constexpr const char* kName = "notify";
constexpr std::string_view kOtherPlace = "/run/notify";
constexpr int kPatience = 5 * 1000;  // milliseconds

bool is_ready(std::string_view message) {
    const std::string lines = "\n" + std::string{message} + "\n";
    return lines.find("\nREADY=1\n") != std::string::npos;
}

// sd_notify_barrier(3): who sends and ends is gone when systemd asks which unit it belonged to.
void await_barrier(const Fd& socket) {
    constexpr std::string_view kBarrier = "BARRIER=1";
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) < 0) return;
    const Fd kept{ends[0]};
    Fd sent{ends[1]};
    if (child::send_descriptor(socket.get(), kBarrier.data(), kBarrier.size(), sent.get()) < 0) return;
    sent.reset();
    pollfd watched{.fd = kept.get(), .events = 0, .revents = 0};
    (void)poll(&watched, 1, kPatience);
}

Status tell(const std::string& callers_socket, const std::string& message) {
    const Fd socket =
        TRY(connect_socket(callers_socket, SOCK_DGRAM, "connect to NOTIFY_SOCKET " + callers_socket));
    if (send(socket.get(), message.data(), message.size(), MSG_NOSIGNAL) < 0)
        return errno_error("send to NOTIFY_SOCKET " + callers_socket, errno);
    await_barrier(socket);
    return {};
}

}  // namespace

std::optional<std::string> callers_notify_socket() {
    const char* path = getenv("NOTIFY_SOCKET");
    if (path == nullptr || !path::is_absolute(path)) return {};
    return path::clean(path);
}

void show_notify_directory(config::Spec& spec, const std::string& rootfs, const std::string& directory,
                           const std::string& callers_socket) {
    struct stat status {};
    const bool is_taken = lstat((rootfs + callers_socket).c_str(), &status) == 0 && !S_ISDIR(status.st_mode);
    const std::string place = is_taken ? std::string{kOtherPlace} : callers_socket;
    spec.mounts.push_back({.destination = place,
                           .type = "bind",
                           .source = directory,
                           .options = {"bind", "nosuid", "noexec", "nodev", "ro"}});
    spec.process.env.push_back("NOTIFY_SOCKET=" + path::join(place, kName));
}

Result<NotifySocket> NotifySocket::bind(const std::string& directory, std::string callers_socket) {
    // Through a descriptor: the path may be longer than an address can hold.
    const Fd place{open(directory.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC)};
    if (!place) return errno_error(directory, errno);
    (void)unlinkat(place.get(), kName, 0);  // of a `start` that was killed
    const std::string path = "/proc/self/fd/" + std::to_string(place.get()) + "/" + kName;
    sockaddr_un address{.sun_family = AF_UNIX, .sun_path = {}};
    std::memcpy(address.sun_path, path.c_str(), path.size() + 1);
    Fd socket{::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)};
    if (!socket) return errno_error("socket", errno);
    if (::bind(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) < 0 ||
        fchmodat(place.get(), kName, 0777, 0) < 0)
        return errno_error("bind the container's notify socket", errno);
    return NotifySocket{std::move(socket), std::move(callers_socket)};
}

bool NotifySocket::pass_on(pid_t container, MainProcess main_process) {
    std::array<char, 4096> message = {};
    const ssize_t length = recv(socket_.get(), message.data(), message.size(), 0);
    if (length <= 0 || !is_ready({message.data(), static_cast<size_t>(length)})) return false;
    std::string text = "READY=1";
    if (main_process == MainProcess::container) text = "MAINPID=" + std::to_string(container) + "\n" + text;
    if (const auto told = tell(callers_socket_, text); !told) log::warn(told.error().message);
    return true;
}

void NotifySocket::pass_on_until_ready(const Fd& pidfd, pid_t container) {
    while (true) {
        pollfd watched[2] = {{.fd = socket_.get(), .events = POLLIN, .revents = 0},
                             {.fd = pidfd.get(), .events = POLLIN, .revents = 0}};
        if (poll(watched, 2, -1) < 0 && errno != EINTR) return;
        if ((watched[0].revents & POLLIN) != 0 && pass_on(container, MainProcess::container)) return;
        if (watched[0].revents == 0 && watched[1].revents != 0) return;
    }
}

}  // namespace rung::runtime

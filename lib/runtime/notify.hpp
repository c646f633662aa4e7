// sd_notify(3) through the runtime: a container whose caller has a NOTIFY_SOCKET gets a socket of its own, and its "READY=1" is passed on.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>

#include "base/fd.hpp"
#include "base/result.hpp"
#include "config/spec.hpp"

namespace rung::runtime {

// The caller's socket: what NOTIFY_SOCKET says, when it is a path.
std::optional<std::string> callers_notify_socket();

// Shows `directory` in the container and tells its process of the socket there. The place is the one that crun gives: the caller's path,
// with the socket in it; runc's where the image already has a file of that name.
void show_notify_directory(config::Spec& spec, const std::string& rootfs, const std::string& directory,
                           const std::string& callers_socket);

enum class MainProcess { caller, container };

class NotifySocket {
  public:
    // Anybody may send to it.
    static Result<NotifySocket> bind(const std::string& directory, std::string callers_socket);

    int descriptor() const { return socket_.get(); }
    // One message. True once the container is ready and the caller's manager has been told.
    bool pass_on(pid_t container, MainProcess main_process);
    // Until it is ready or has ended.
    void pass_on_until_ready(const Fd& pidfd, pid_t container);

  private:
    NotifySocket(Fd socket, std::string callers_socket)
        : socket_(std::move(socket)), callers_socket_(std::move(callers_socket)) {}

    Fd socket_;
    std::string callers_socket_;
};

}  // namespace rung::runtime

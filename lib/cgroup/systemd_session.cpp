// Starting rung-systemd and talking to it. One socket is its standard input and output, so that a helper which has died is an error
// here and no SIGPIPE.
// SPDX-License-Identifier: Apache-2.0
#include <poll.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <utility>

#include "cgroup/directories.hpp"
#include "cgroup/systemd.hpp"
#include "kernel/syscalls.hpp"

namespace rung::cgroup {

namespace {

using namespace std::chrono_literals;

// Longer than the helper itself waits for anything.
constexpr auto kPatience = 60s;
// For its end, once nobody asks it any more. Killed, it can only be late because the kernel holds it.
constexpr auto kGrace = 2s;

// Where the buses are, and nothing else of the caller's environment.
std::vector<std::string> bus_environment() {
    std::vector<std::string> environment;
    for (const char* name : {"XDG_RUNTIME_DIR", "DBUS_SESSION_BUS_ADDRESS", "DBUS_SYSTEM_BUS_ADDRESS"}) {
        if (const char* value = std::getenv(name)) environment.push_back(std::string{name} + "=" + value);
    }
    return environment;
}

Result<pid_t> spawn(const std::string& program, int channel) {
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    (void)posix_spawn_file_actions_init(&actions);  // neither allocates in glibc
    (void)posix_spawnattr_init(&attributes);
    (void)posix_spawn_file_actions_adddup2(&actions, channel, STDIN_FILENO);
    (void)posix_spawn_file_actions_adddup2(&actions, channel, STDOUT_FILENO);
    sigset_t none;
    sigemptyset(&none);
    (void)posix_spawnattr_setsigmask(&attributes, &none);
    (void)posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);

    std::vector<std::string> environment = bus_environment();
    std::vector<char*> pointers;
    for (std::string& entry : environment)
        pointers.push_back(entry.data());
    pointers.push_back(nullptr);
    std::string name = program;
    char* arguments[] = {name.data(), nullptr};
    pid_t pid = -1;
    const int result =
        ::posix_spawn(&pid, program.c_str(), &actions, &attributes, arguments, pointers.data());
    (void)posix_spawn_file_actions_destroy(&actions);
    (void)posix_spawnattr_destroy(&attributes);
    if (result != 0) return errno_error("execute " + program, result);
    return pid;
}

bool has_ended(const Fd& pidfd, std::chrono::seconds patience) {
    const Deadline deadline = std::chrono::steady_clock::now() + patience;
    pollfd waiting{.fd = pidfd.get(), .events = POLLIN, .revents = 0};
    int ready = 0;
    do
        ready = ::poll(&waiting, 1, milliseconds_until(deadline));
    while (ready < 0 && errno == EINTR);
    return ready > 0;
}

}  // namespace

Result<SystemdSession> SystemdSession::open(const std::string& program, UnitOwner owner) {
    int channel[2];
    if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, channel) < 0)
        return errno_error("make the channel to rung-systemd", errno);
    Fd ours{channel[0]};
    Fd theirs{channel[1]};
    // A helper that does not read must not stop us where we only write.
    const timeval patience{.tv_sec = std::chrono::seconds{kPatience}.count(), .tv_usec = 0};
    if (::setsockopt(ours.get(), SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience) < 0)
        return errno_error("set up the channel to rung-systemd", errno);
    SystemdSession session{std::move(ours), TRY(spawn(program, theirs.get()))};
    theirs.reset();  // so that its end is seen here
    TRY(session.ask({"open", owner == UnitOwner::user ? "user" : "system"}));
    return session;
}

SystemdSession::SystemdSession(Fd channel, pid_t pid)
    : channel_(std::move(channel)), pid_(pid), pidfd_(kernel::pidfd_open(pid, 0)) {}

SystemdSession::SystemdSession(SystemdSession&& other) noexcept
    : channel_(std::move(other.channel_)),
      pid_(std::exchange(other.pid_, -1)),
      pidfd_(std::move(other.pidfd_)),
      received_(std::move(other.received_)) {}

SystemdSession::~SystemdSession() {
    if (pid_ < 0) return;
    channel_.reset();  // the end of its input is its end
    // There is no pidfd of a child that the caller has the kernel collect, and that has ended.
    if (!pidfd_) return;
    if (!has_ended(pidfd_, kGrace)) {
        (void)kernel::pidfd_send_signal(pidfd_.get(), SIGKILL, 0);
        if (!has_ended(pidfd_, kGrace)) return;
    }
    while (::waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
    }
}

Status SystemdSession::tell(const Record& request) {
    const std::string line = to_line(request) + "\n";
    for (size_t sent = 0; sent < line.size();) {
        const ssize_t count = ::send(channel_.get(), line.data() + sent, line.size() - sent, MSG_NOSIGNAL);
        if (count < 0 && errno == EINTR) continue;
        if (count < 0) return errno_error("talk to rung-systemd", errno);
        sent += static_cast<size_t>(count);
    }
    return {};
}

Result<std::string> SystemdSession::read_line() {
    const Deadline deadline = std::chrono::steady_clock::now() + kPatience;
    while (true) {
        if (const size_t end = received_.find('\n'); end != std::string::npos) {
            std::string line = received_.substr(0, end);
            received_.erase(0, end + 1);
            return line;
        }
        pollfd waiting{.fd = channel_.get(), .events = POLLIN, .revents = 0};
        const int ready = ::poll(&waiting, 1, milliseconds_until(deadline));
        if (ready == 0) return errno_error("wait for rung-systemd", ETIMEDOUT);
        char buffer[4096];
        const ssize_t count = ready < 0 ? -1 : ::recv(channel_.get(), buffer, sizeof buffer, 0);
        if (count < 0 && errno == EINTR) continue;
        if (count < 0) return errno_error("talk to rung-systemd", errno);
        if (count == 0) return Error{.message = "rung-systemd ended without an answer"};
        received_.append(buffer, static_cast<size_t>(count));
    }
}

Result<Record> SystemdSession::ask(const Record& request) {
    TRY(tell(request));
    Record answer = from_line(TRY(read_line()));
    if (answer.front() == "ok") {
        answer.erase(answer.begin());
        return answer;
    }
    if (answer.size() < 3) return Error{.message = "rung-systemd gave an answer that is none"};
    return Error{.message = answer[2], .reason = answer[1]};
}

}  // namespace rung::cgroup

// Starting CRIU, and its messages on a socket: one packet each (unix(7), SOCK_SEQPACKET).
// SPDX-License-Identifier: Apache-2.0
#include "criu/session.hpp"

#include <fcntl.h>
#include <linux/close_range.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "kernel/message.hpp"
#include "kernel/syscalls.hpp"

namespace rung::criu {
namespace {

constexpr int kSocketNumber = 3;          // what we name to `criu swrk`
constexpr size_t kMostBytes = 10 * 4096;  // of one message from CRIU

// Higher than any number that a descriptor gets in CRIU, so that giving one its number never closes another.
int move_up(int descriptor, int above) {
    return kernel::checked(fcntl(descriptor, F_DUPFD_CLOEXEC, above));
}

Status give_descriptors(int socket, std::vector<int> further) {
    const int above = first_further() + static_cast<int>(further.size());
    const int moved_socket = move_up(socket, above);
    if (moved_socket < 0) return errno_error("duplicate criu's socket", -moved_socket);
    for (int& descriptor : further) {
        descriptor = move_up(descriptor, above);
        if (descriptor < 0) return errno_error("duplicate a descriptor for criu", -descriptor);
    }
    // A copy that dup2(2) makes survives the exec.
    if (dup2(moved_socket, kSocketNumber) < 0) return errno_error("give criu its socket", errno);
    int number = first_further();
    for (const int descriptor : further) {
        if (dup2(descriptor, number++) < 0) return errno_error("give criu a descriptor", errno);
    }
    const int closed = kernel::close_range(static_cast<unsigned int>(number), ~0U, CLOSE_RANGE_CLOEXEC);
    if (closed < 0) return errno_error("keep descriptors from criu", -closed);
    return {};
}

union Control {
    cmsghdr header;
    char space[CMSG_SPACE(sizeof(int))];
};

Status hand_over(int channel, int descriptor) {
    char word = 's';
    iovec data{.iov_base = &word, .iov_len = 1};
    Control control{};
    msghdr message{};
    message.msg_iov = &data;
    message.msg_iovlen = 1;
    message.msg_control = &control;
    message.msg_controllen = sizeof control;
    cmsghdr* header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(sizeof descriptor);
    std::memcpy(CMSG_DATA(header), &descriptor, sizeof descriptor);
    if (sendmsg(channel, &message, MSG_NOSIGNAL) < 0) return errno_error("hand over criu's socket", errno);
    return {};
}

// In a copy of a process with one thread everything may be called.
Status become_criu(const Program& program, int channel) {
    std::vector<int> further = program.further;
    std::vector<Fd> opened;
    if (program.prepare) opened = TRY(program.prepare());
    for (const Fd& descriptor : opened)
        further.push_back(descriptor.get());
    // Made here: CRIU looks for the descriptors of a request in the process that made the socket, and here they belong to the mount namespace
    // that it works in.
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) < 0)
        return errno_error("make a socket for criu", errno);
    TRY(hand_over(channel, ends[0]));
    TRY(give_descriptors(ends[1], std::move(further)));
    for (int signal = 1; signal < NSIG; ++signal)
        (void)kernel::default_signal(signal);  // SIGKILL and SIGSTOP have no other
    sigset_t none;
    sigemptyset(&none);
    (void)sigprocmask(SIG_SETMASK, &none, nullptr);
    const std::string number = std::to_string(kSocketNumber);
    (void)execl(program.path.c_str(), program.path.c_str(), "swrk", number.c_str(), nullptr);
    return errno_error("fork/exec " + program.path, errno);
}

int wait_for(pid_t pid) {
    int status = 0;
    while (waitpid(pid, &status, 0) < 0) {
        if (errno != EINTR) return -1;
    }
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

struct Packet {
    std::string bytes = {};
    Fd descriptor = {};
};

Result<Packet> receive_packet(const Fd& socket) {
    Packet packet{.bytes = std::string(kMostBytes, '\0')};
    auto message = kernel::receive_message(socket.get(), packet.bytes);
    // The other side ended with something unread.
    if (!message && message.error().errno_value == ECONNRESET) return Packet{};
    if (!message) return std::move(message).context("read from criu").error();
    if (message->is_cut) return Error{.message = "criu sent too long a response"};
    packet.bytes.resize(message->length);
    packet.descriptor = std::move(message->descriptor);
    return packet;
}

}  // namespace

int first_further() {
    return kSocketNumber + 1;
}

Result<Session> Session::start(const Program& program) {
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) < 0)
        return errno_error("make a channel to criu", errno);
    const Fd ours{ends[0]};
    Fd theirs{ends[1]};
    const pid_t pid = fork();
    if (pid < 0) return errno_error("fork criu", errno);
    if (pid == 0) {
        const Status failed = become_criu(program, theirs.get());
        const std::string& text = failed.error().message;
        _exit(::send(theirs.get(), text.data(), text.size(), MSG_NOSIGNAL) < 0 ? 126 : 127);
    }
    theirs.reset();
    Session session{Fd{}, pid};
    while (true) {
        Packet packet = TRY(receive_packet(ours));
        if (packet.descriptor) {
            session.socket_ = std::move(packet.descriptor);
        } else if (!packet.bytes.empty()) {
            return Error{.message = packet.bytes};
        } else {
            // The channel is closed by the exec.
            return session;
        }
    }
}

Session::Session(Session&& other) noexcept
    : socket_(std::move(other.socket_)), pid_(std::exchange(other.pid_, 0)) {}

Session::~Session() {
    (void)finish();
}

int Session::finish() {
    socket_.reset();
    return pid_ > 0 ? wait_for(std::exchange(pid_, 0)) : 0;
}

Status Session::send(const std::string& message) {
    const ssize_t length = ::send(socket_.get(), message.data(), message.size(), MSG_NOSIGNAL);
    // That CRIU has ended receive() says, and perhaps why.
    if (length < 0 && errno != EPIPE) return errno_error("send to criu", errno);
    return {};
}

Result<Session::Received> Session::receive() {
    Packet packet = TRY(receive_packet(socket_));
    if (packet.bytes.empty()) return Error{.message = "criu ended without an answer"};
    return Received{.response = TRY(decode_response(packet.bytes)),
                    .descriptor = std::move(packet.descriptor)};
}

Result<Response> ask(const Program& program, const std::string& message) {
    Session session = TRY(Session::start(program));
    TRY(session.send(message));
    return TRY(session.receive()).response;
}

}  // namespace rung::criu

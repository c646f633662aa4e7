// The foreground relay: one loop over poll(2) that serves signals, the process's end, and bytes in both directions.
//
// Nothing here sets O_NONBLOCK on the caller's stdio, which it shares with its shell: a descriptor is read or written only after poll(2)
// said so, and never more at once than a pipe takes without blocking.
// SPDX-License-Identifier: Apache-2.0
#include "runtime/terminal.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <climits>
#include <csignal>
#include <cstring>
#include <optional>

#include "kernel/syscalls.hpp"
#include "runtime/unix_socket.hpp"

namespace rung::runtime {

namespace {

// Everything but what cannot be blocked, what a fault raises (a blocked fault kills anyway, without its handler), and SIGTTIN,
// which stops a background job that reads its terminal, as the shell expects.
sigset_t held_signals() {
    sigset_t set;
    sigfillset(&set);
    for (const int number : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS, SIGTTIN})
        sigdelset(&set, number);
    return set;
}

// What concerns rung itself. SIGPIPE is about rung's stdout; SIGTTOU is held only so that the terminal's mode can be
// restored from the background; SIGWINCH means something only with a pty, and then it is the pty that is told.
bool is_forwarded(int number) {
    return number != SIGCHLD && number != SIGURG && number != SIGPIPE && number != SIGTTOU &&
           number != SIGWINCH;
}

// The caller's terminal in raw mode while the container's own pty does the line editing. Output processing stays as it was:
// the container's pty has it off, or each newline would be translated twice.
class RawMode {
  public:
    RawMode() = default;
    RawMode(const RawMode&) = delete;
    RawMode& operator=(const RawMode&) = delete;
    ~RawMode() {
        if (active_) (void)tcsetattr(STDIN_FILENO, TCSANOW, &before_);  // it may have hung up
    }

    // Only for the foreground job: the terminal of a background one belongs to somebody else.
    void enter() {
        if (tcgetpgrp(STDIN_FILENO) != getpgrp()) return;
        if (!active_ && tcgetattr(STDIN_FILENO, &before_) != 0) return;
        termios raw = before_;
        cfmakeraw(&raw);
        raw.c_oflag = before_.c_oflag;
        active_ = tcsetattr(STDIN_FILENO, TCSANOW, &raw) == 0;
    }

  private:
    termios before_ = {};
    bool active_ = false;
};

// Bytes on their way. More are read only when these are written, so a slow reader slows the writer down.
class Passage {
  public:
    enum class Outcome { moved, waiting, ended };

    bool empty() const { return begin_ == end_; }
    void clear() { begin_ = end_ = 0; }
    char last_byte() const { return last_; }

    void put(char byte) {
        clear();
        bytes_[end_++] = byte;
    }

    Outcome fill(int source) {
        const ssize_t count = read(source, bytes_.data(), bytes_.size());
        if (count < 0) return errno == EAGAIN || errno == EINTR ? Outcome::waiting : Outcome::ended;
        if (count == 0) return Outcome::ended;
        begin_ = 0;
        end_ = static_cast<size_t>(count);
        last_ = bytes_[end_ - 1];
        return Outcome::moved;
    }

    Outcome drain(int sink) {
        const ssize_t count = write(sink, bytes_.data() + begin_, end_ - begin_);
        if (count < 0) return errno == EAGAIN || errno == EINTR ? Outcome::waiting : Outcome::ended;
        begin_ += static_cast<size_t>(count);
        return Outcome::moved;
    }

  private:
    std::array<char, PIPE_BUF> bytes_ = {};  // poll(2) promises room for PIPE_BUF in a pipe that is ready
    size_t begin_ = 0;
    size_t end_ = 0;
    char last_ = '\n';
};

class Relay {
  public:
    Relay(RelayOptions options, Fd signals)
        : pidfd_(options.pidfd),
          init_pid_(options.init_pid),
          pty_(std::move(options.pty_master)),
          notify_(std::move(options.notify)),
          signals_(std::move(signals)) {}

    void prepare_pty();
    Result<int> run();

  private:
    Status wait_for_events();
    void on_signals();
    void resize_pty();
    void reap();
    void read_input();
    void end_input();
    bool take_output();
    void give_output();
    void hang_up();

    int pidfd_ = -1;
    pid_t init_pid_ = 0;
    Fd pty_ = {};
    std::optional<NotifySocket> notify_ = {};  // until the container has said that it is ready
    Fd pty_peer_ = {};
    Fd window_ = {};  // a terminal of the caller whose size the pty follows
    Fd signals_ = {};
    RawMode raw_mode_ = {};
    Passage to_pty_ = {};
    Passage to_caller_ = {};
    bool input_open_ = true;
    bool pty_quiet_ = false;  // every other end is closed and this kernel could not give us one of our own
    std::optional<int> wait_status_ = {};
};

// The caller's terminal: stdin, stdout or stderr, whichever is one, else the controlling terminal (runc#2535).
Fd find_window() {
    for (const int number : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
        if (isatty(number)) return Fd{fcntl(number, F_DUPFD_CLOEXEC, 3)};
    }
    return Fd{open("/dev/tty", O_RDWR | O_NOCTTY | O_CLOEXEC)};
}

void Relay::prepare_pty() {
    (void)fcntl(pty_.get(), F_SETFL,
                fcntl(pty_.get(), F_GETFL) | O_NONBLOCK);  // this description is ours alone
    // With an open end of our own the pty never reports that all others are closed. A program such as an init that closes its
    // console and opens it again later would otherwise be lost, or make poll(2) spin.
    pty_peer_ = Fd{ioctl(pty_.get(), TIOCGPTPEER, O_RDWR | O_NOCTTY | O_CLOEXEC)};
    // As with runc: "a\n" inside is "a\n" outside, and the caller's terminal adds the carriage return.
    termios mode = {};
    if (tcgetattr(pty_.get(), &mode) == 0) {
        mode.c_oflag &= ~static_cast<tcflag_t>(ONLCR);
        (void)tcsetattr(pty_.get(), TCSANOW, &mode);
    }
    window_ = find_window();
    resize_pty();
    if (isatty(STDIN_FILENO)) raw_mode_.enter();
}

void Relay::resize_pty() {
    winsize size = {};
    if (!pty_ || !window_ || ioctl(window_.get(), TIOCGWINSZ, &size) != 0 || size.ws_row == 0) return;
    (void)ioctl(pty_.get(), TIOCSWINSZ, &size);
}

void Relay::hang_up() {
    to_caller_.clear();
    pty_peer_.reset();
    pty_.reset();
}

void Relay::on_signals() {
    signalfd_siginfo info = {};
    while (read(signals_.get(), &info, sizeof info) == static_cast<ssize_t>(sizeof info)) {
        const int number = static_cast<int>(info.ssi_signo);
        if (number == SIGWINCH) resize_pty();
        // The shell may have changed the mode while rung was stopped.
        if (number == SIGCONT && pty_ && isatty(STDIN_FILENO)) raw_mode_.enter();
        if (!is_forwarded(number)) continue;
        // With the process gone, the signal means the rest of its output, which the caller does not read.
        if (wait_status_)
            hang_up();
        else
            (void)kernel::pidfd_send_signal(pidfd_, number, 0);  // it may have ended just now
    }
}

// Every child, since `run` is a subreaper.
void Relay::reap() {
    int status = 0;
    while (true) {
        const pid_t pid = waitpid(-1, &status, WNOHANG | __WALL);
        if (pid == init_pid_) wait_status_ = status;
        if (pid <= 0) return;
    }
}

void Relay::read_input() {
    if (to_pty_.fill(STDIN_FILENO) == Passage::Outcome::ended) {
        input_open_ = false;
        end_input();
    }
}

// What is typed into a terminal ends with a character. A line not yet finished takes one to be handed over, and a second to end.
void Relay::end_input() {
    termios mode = {};
    if (!pty_ || tcgetattr(pty_.get(), &mode) != 0 || (mode.c_lflag & ICANON) == 0) return;
    const char end = static_cast<char>(mode.c_cc[VEOF]);
    if (to_pty_.last_byte() != '\n') (void)!write(pty_.get(), &end, 1);
    to_pty_.put(end);
}

// False when nothing is there to be taken at present.
bool Relay::take_output() {
    if (!pty_ || pty_quiet_) return false;
    const Passage::Outcome outcome = to_caller_.fill(pty_.get());
    pty_quiet_ = outcome == Passage::Outcome::ended;
    return outcome == Passage::Outcome::moved;
}

void Relay::give_output() {
    if (to_caller_.drain(STDOUT_FILENO) == Passage::Outcome::ended) hang_up();
}

Status Relay::wait_for_events() {
    enum { signals, process, input, pty, output, readiness, count };
    const bool wants_input = pty_ && input_open_ && to_pty_.empty() && !wait_status_;
    short pty_events = 0;
    if (to_caller_.empty()) pty_events |= POLLIN;
    if (!to_pty_.empty()) pty_events |= POLLOUT;
    std::array<pollfd, count> set = {};
    set[signals] = {.fd = signals_.get(), .events = POLLIN, .revents = 0};
    set[process] = {.fd = wait_status_ ? -1 : pidfd_, .events = POLLIN, .revents = 0};
    set[input] = {.fd = wants_input ? STDIN_FILENO : -1, .events = POLLIN, .revents = 0};
    set[pty] = {.fd = pty_events == 0 || pty_quiet_ || wait_status_ ? -1 : pty_.get(),
                .events = pty_events,
                .revents = 0};
    set[output] = {.fd = to_caller_.empty() ? -1 : STDOUT_FILENO, .events = POLLOUT, .revents = 0};
    set[readiness] = {.fd = notify_ ? notify_->descriptor() : -1, .events = POLLIN, .revents = 0};
    if (poll(set.data(), set.size(), -1) < 0) {
        if (errno == EINTR) return {};
        return errno_error("poll", errno);
    }
    if (set[readiness].revents != 0 && notify_->pass_on(init_pid_, MainProcess::caller)) notify_.reset();
    if (set[output].revents != 0) give_output();
    if ((set[pty].revents & POLLOUT) != 0 && pty_ && to_pty_.drain(pty_.get()) == Passage::Outcome::ended)
        to_pty_.clear();
    if ((set[pty].revents & ~POLLOUT) != 0 && to_caller_.empty()) (void)take_output();
    if (set[input].revents != 0) read_input();
    // Last: what the process wrote before it ended is then still in the pty, where run() looks for it.
    if (set[signals].revents != 0) on_signals();
    return {};
}

Result<int> Relay::run() {
    while (true) {
        reap();
        // A read that finds nothing has waited for the kernel's own queue, so the output of a process that has ended is complete.
        if (wait_status_ && to_caller_.empty() && !take_output()) return exit_code(*wait_status_);
        TRY(wait_for_events());
    }
}

}  // namespace

void hold_signals() {
    const sigset_t held = held_signals();
    (void)sigprocmask(SIG_BLOCK, &held, nullptr);
}

int exit_code(int wait_status) {
    return WIFSIGNALED(wait_status) ? 128 + WTERMSIG(wait_status) : WEXITSTATUS(wait_status);
}

Result<int> relay_until_exit(RelayOptions options) {
    hold_signals();
    const sigset_t held = held_signals();
    Fd signals{signalfd(-1, &held, SFD_CLOEXEC | SFD_NONBLOCK)};
    if (!signals) return errno_error("signalfd", errno);
    const bool has_pty = static_cast<bool>(options.pty_master);
    Relay relay{std::move(options), std::move(signals)};
    if (has_pty) relay.prepare_pty();
    return relay.run();
}

std::optional<config::ConsoleSize> caller_window_size() {
    for (const int stdio : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
        winsize window{};
        if (ioctl(stdio, TIOCGWINSZ, &window) == 0) {
            return config::ConsoleSize{.height = window.ws_row, .width = window.ws_col};
        }
    }
    return {};
}

Result<Fd> connect_console_socket(const std::string& path) {
    return connect_stream_socket(path, "connect to the console socket " + path);
}

}  // namespace rung::runtime

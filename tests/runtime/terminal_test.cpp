// The foreground relay, with real processes and pseudo-terminals: each test forks a caller whose stdio the test holds.
// SPDX-License-Identifier: Apache-2.0
#include "runtime/terminal.hpp"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <poll.h>
#include <pty.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <string>

using namespace rung;

namespace {

// A caller of rung: its stdin and stdout, and the process that relays for `sh -c SCRIPT`.
struct Caller {
    pid_t pid = 0;
    Fd input = {};
    Fd output = {};
};

enum class With { pty, plain_stdio };

[[noreturn]] void become_program(const char* script, int slave) {
    setsid();
    if (slave >= 0) {
        (void)ioctl(slave, TIOCSCTTY, 0);
        for (const int number : {0, 1, 2})
            dup2(slave, number);
    }
    syscall(SYS_close_range, 3U, ~0U, 0U);
    // Whatever the test was started under, as a container's process has it.
    for (const int number : {SIGHUP, SIGTERM, SIGINT, SIGPIPE})
        (void)signal(number, SIG_DFL);
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, nullptr);
    execl("/bin/sh", "sh", "-c", script, nullptr);
    _exit(99);
}

[[noreturn]] void become_caller(const char* script, With with, int input, int output) {
    dup2(input, STDIN_FILENO);
    dup2(output, STDOUT_FILENO);
    syscall(SYS_close_range, 3U, ~0U, 0U);
    runtime::hold_signals();
    int master = -1;
    int slave = -1;
    if (with == With::pty && openpty(&master, &slave, nullptr, nullptr, nullptr) != 0) _exit(98);
    const pid_t program = fork();
    if (program == 0) become_program(script, slave);
    close(slave);
    const Fd pidfd{static_cast<int>(syscall(SYS_pidfd_open, program, 0))};
    const auto code =
        runtime::relay_until_exit({.pidfd = pidfd.get(), .init_pid = program, .pty_master = Fd{master}});
    _exit(code ? *code : 97);
}

Caller call(const char* script, With with) {
    std::array<int, 2> input = {};
    std::array<int, 2> output = {};
    REQUIRE(pipe2(input.data(), O_CLOEXEC) == 0);
    REQUIRE(pipe2(output.data(), O_CLOEXEC) == 0);
    const pid_t pid = fork();
    if (pid == 0) become_caller(script, with, input[0], output[1]);
    close(input[0]);
    close(output[1]);
    return {.pid = pid, .input = Fd{input[1]}, .output = Fd{output[0]}};
}

std::string read_to_end(const Fd& file) {
    std::string text;
    std::array<char, 4096> part = {};
    ssize_t count = 0;
    while ((count = read(file.get(), part.data(), part.size())) > 0)
        text.append(part.data(), static_cast<size_t>(count));
    return text;
}

std::string read_line(const Fd& file) {
    std::string text;
    char byte = 0;
    while (read(file.get(), &byte, 1) == 1 && byte != '\n')
        text += byte;
    return text;
}

int end_of(const Caller& caller) {
    int status = 0;
    waitpid(caller.pid, &status, 0);
    return runtime::exit_code(status);
}

}  // namespace

TEST_CASE("the program's exit code is handed on") {
    CHECK(end_of(call("exit 7", With::plain_stdio)) == 7);
    CHECK(end_of(call("exit 7", With::pty)) == 7);
}

TEST_CASE("a program ended by signal N gives 128+N") {
    CHECK(end_of(call("kill -9 $$", With::plain_stdio)) == 137);
    CHECK(end_of(call("kill -15 $$", With::pty)) == 143);
}

TEST_CASE("all that a program wrote to its terminal arrives, although it ends at once") {
    const Caller caller = call("head -c 300000 /dev/zero | tr '\\0' x", With::pty);

    const std::string text = read_to_end(caller.output);

    CHECK(text == std::string(300000, 'x'));
    CHECK(end_of(caller) == 0);
}

TEST_CASE("a line feed stays a line feed") {
    // Not before the relay, which comes after the program here, has set the pty up.
    const Caller caller = call("sleep 0.3; echo one; echo two", With::pty);

    CHECK(read_to_end(caller.output) == "one\ntwo\n");
    CHECK(end_of(caller) == 0);
}

TEST_CASE("input that is no terminal is passed on, and its end ends a reader") {
    Caller caller = call("sleep 0.3; stty -echo; echo ready; cat", With::pty);

    REQUIRE(read_line(caller.output) == "ready");
    REQUIRE(write(caller.input.get(), "a line\nno line", 14) == 14);
    caller.input.reset();

    CHECK(read_to_end(caller.output) == "a line\nno line");
    CHECK(end_of(caller) == 0);
}

TEST_CASE("a program whose output nobody reads any more is hung up on") {
    Caller caller = call("sleep 0.3; while :; do echo y; done", With::pty);

    REQUIRE(read_line(caller.output) == "y");
    caller.output.reset();

    CHECK(end_of(caller) == 128 + SIGHUP);
}

TEST_CASE("a slow reader loses nothing") {
    const Caller caller = call("seq 1 20000", With::pty);

    usleep(200000);
    const std::string text = read_to_end(caller.output);

    CHECK(text.size() == 108894);
    CHECK(text.ends_with("19999\n20000\n"));
    CHECK(end_of(caller) == 0);
}

TEST_CASE("a program may close its terminal and open it again") {
    const Caller caller = call("exec </dev/null >/dev/null 2>&1; sleep 0.2; echo back >/dev/tty", With::pty);

    CHECK(read_to_end(caller.output) == "back\n");
    CHECK(end_of(caller) == 0);
}

TEST_CASE("a signal is forwarded, a change of a window that is not there is not") {
    for (const With with : {With::pty, With::plain_stdio}) {
        const Caller caller =
            call("trap 'exit 3' WINCH; trap 'exit 5' TERM; echo ready; while :; do sleep 0.05; done", with);

        REQUIRE(read_line(caller.output) == "ready");
        kill(caller.pid, SIGWINCH);
        kill(caller.pid, SIGURG);
        kill(caller.pid, SIGTERM);

        CHECK(end_of(caller) == 5);
    }
}

TEST_CASE("other children are reaped and do not end the relay") {
    const Caller caller = call("(sleep 0.05 & sleep 0.1) ; exit 4", With::plain_stdio);

    CHECK(end_of(caller) == 4);
}

TEST_CASE("the caller's terminal is raw meanwhile, gives its size, and is restored") {
    int master = -1;
    int slave = -1;
    const winsize size = {.ws_row = 31, .ws_col = 97, .ws_xpixel = 0, .ws_ypixel = 0};
    REQUIRE(openpty(&master, &slave, nullptr, nullptr, &size) == 0);
    const Fd keyboard{master};
    const pid_t pid = fork();
    if (pid == 0) {
        setsid();
        (void)ioctl(slave, TIOCSCTTY, 0);
        become_caller("stty size; read line; stty size; echo \"$line\"", With::pty, slave, slave);
    }
    const Fd screen{slave};
    const Caller caller = {.pid = pid, .input = {}, .output = {}};

    CHECK(read_line(keyboard) == "31 97\r");
    termios during = {};
    tcgetattr(screen.get(), &during);
    const winsize larger = {.ws_row = 40, .ws_col = 120, .ws_xpixel = 0, .ws_ypixel = 0};
    (void)ioctl(master, TIOCSWINSZ, &larger);
    usleep(100000);
    REQUIRE(write(master, "typed\r", 6) == 6);

    CHECK(read_line(keyboard) == "typed\r");  // the echo of the program's own terminal
    CHECK(read_line(keyboard) == "40 120\r");
    CHECK(read_line(keyboard) == "typed\r");
    CHECK(end_of(caller) == 0);
    termios after = {};
    tcgetattr(screen.get(), &after);
    CHECK((during.c_lflag & (ICANON | ECHO | ISIG)) == 0);
    CHECK((after.c_lflag & (ICANON | ECHO | ISIG)) == (ICANON | ECHO | ISIG));
}

TEST_CASE("the console socket's path may be longer than an address can hold") {
    std::string directory = "/tmp/rung-test-XXXXXX";
    REQUIRE(mkdtemp(directory.data()) != nullptr);
    const std::string deep = directory + "/" + std::string(200, 'd');
    REQUIRE(mkdir(deep.c_str(), 0700) == 0);
    const Fd listener{socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)};
    const Fd place{open(deep.c_str(), O_PATH | O_CLOEXEC)};
    sockaddr_un address = {};
    address.sun_family = AF_UNIX;
    snprintf(address.sun_path, sizeof address.sun_path, "/proc/self/fd/%d/s", place.get());
    REQUIRE(bind(listener.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0);
    REQUIRE(listen(listener.get(), 1) == 0);

    const auto connected = runtime::connect_console_socket(deep + "/s");
    const auto missing = runtime::connect_console_socket(deep + "/none");

    CHECK(connected);
    REQUIRE(!missing);
    CHECK(missing.error().message ==
          "connect to the console socket " + deep + "/none: no such file or directory");
    unlink((deep + "/s").c_str());
    rmdir(deep.c_str());
    rmdir(directory.c_str());
}

// The log sink: where lines go, and how a line is spelled.
//
// Two readers decide the rules. containerd's shim takes the last line whose level is "error" and loses it when any line
// is not JSON; podman parses the whole file as one object. So a JSON log file holds the one error and nothing else,
// unless debugging was asked for. A full pipe must never stop the runtime: its reader may wait for our exit first.
// SPDX-License-Identifier: Apache-2.0
#include "base/log.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <ctime>

#include "base/fd.hpp"

namespace rung::log {
namespace {

// One line stays below PIPE_BUF (4096), which a pipe that polls writable takes whole and at once.
constexpr size_t kMaxMessage = 3800;
constexpr int kPatienceMilliseconds = 100;

// Of a system's log: "syslog:NAME", "journald:NAME".
enum class Daemon { none, syslog, journald };

struct Sink {
    Fd file = {};  // a file, or the socket of a daemon; empty: standard error
    Daemon daemon = Daemon::none;
    std::string name = {};  // what the daemon files our lines under
    Format format = Format::text;
    Level least = Level::warn;
    bool stuck = false;  // a reader kept us waiting once: from then on lines are dropped at once
};

Sink& sink() {
    static Sink only;
    return only;
}

// 0xC3 -> 2: how many bytes the UTF-8 sequence at the front of `text` has, 0 when it is not valid (RFC 3629).
size_t utf8_length(std::string_view text) {
    const auto byte = [&](size_t index) { return static_cast<unsigned char>(text[index]); };
    const unsigned char first = byte(0);
    if (first < 0x80) return 1;
    const size_t length = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : 2;
    if (first < 0xC2 || first > 0xF4 || text.size() < length) return 0;
    for (size_t index = 1; index < length; ++index) {
        if ((byte(index) & 0xC0) != 0x80) return 0;
    }
    const bool overlong = (first == 0xE0 && byte(1) < 0xA0) || (first == 0xF0 && byte(1) < 0x90);
    const bool beyond = (first == 0xED && byte(1) > 0x9F) || (first == 0xF4 && byte(1) > 0x8F);
    return overlong || beyond ? 0 : length;
}

std::string hexadecimal(std::string_view prefix, unsigned char byte) {
    constexpr std::string_view digits = "0123456789abcdef";
    std::string text{prefix};
    text += digits[byte >> 4];
    text += digits[byte & 0xF];
    return text;
}

// The letter after the backslash for characters that have one; 0 for the rest.
char escape_letter(char character, Format format) {
    switch (character) {
        case '"':
        case '\\':
            return character;
        case '\n':
            return 'n';
        case '\r':
            return 'r';
        case '\t':
            return 't';
        case '\b':
            return 'b';
        case '\f':
            return 'f';
        case '\a':
            return format == Format::text ? 'a' : '\0';
        case '\v':
            return format == Format::text ? 'v' : '\0';
        default:
            return '\0';
    }
}

// `text` between double quotes: JSON's escapes, or those of Go's %q, which text logs use.
std::string quoted(std::string_view text, Format format) {
    std::string line = "\"";
    while (!text.empty()) {
        const auto byte = static_cast<unsigned char>(text[0]);
        const size_t length = utf8_length(text);
        if (const char letter = escape_letter(text[0], format); letter != '\0') {
            line += '\\';
            line += letter;
        } else if (length == 0) {
            line += format == Format::json ? "\\ufffd" : hexadecimal("\\x", byte);
        } else if (byte < 0x20 || byte == 0x7F) {
            line += hexadecimal(format == Format::json ? "\\u00" : "\\x", byte);
        } else {
            line += text.substr(0, length);
        }
        text.remove_prefix(length == 0 ? 1 : length);
    }
    line += '"';
    return line;
}

std::string_view level_name(Level level) {
    switch (level) {
        case Level::debug:
            return "debug";
        case Level::warn:
            return "warning";
        case Level::error:
            return "error";
    }
    return "error";
}

// Words such as "done" stand bare in a text log; anything with a blank or a quote is quoted.
std::string text_value(std::string_view value) {
    constexpr std::string_view bare = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._/@^+";
    if (value.find_first_not_of(bare) == std::string_view::npos) return std::string{value};
    return quoted(value, Format::text);
}

std::string now() {
    std::array<char, 32> text = {};
    const time_t seconds = time(nullptr);
    struct tm parts = {};
    (void)gmtime_r(&seconds, &parts);
    const size_t length = strftime(text.data(), text.size(), "%Y-%m-%dT%H:%M:%SZ", &parts);
    return std::string{text.data(), length};
}

std::string shortened(std::string_view message) {
    if (message.size() <= kMaxMessage) return std::string{message};
    return std::string{message.substr(0, kMaxMessage)} + "...";
}

void write_line(int fd, std::string line) {
    line += '\n';
    struct pollfd ready = {.fd = fd, .events = POLLOUT, .revents = 0};
    if (poll(&ready, 1, sink().stuck ? 0 : kPatienceMilliseconds) <= 0) {
        sink().stuck = true;
        return;
    }
    // A log that cannot be written has nowhere to complain.
    [[maybe_unused]] const ssize_t written = write(fd, line.data(), line.size());
}

// RFC 5424's numbers, which both daemons use.
int severity(Level level) {
    return level == Level::error ? 3 : level == Level::warn ? 4 : 7;
}

// A datagram in the daemon's own format: syslog(3), or systemd's "native journal protocol", whose fields are lines.
std::string datagram(const Sink& to, Level level, std::string message) {
    std::replace(message.begin(), message.end(), '\n', ' ');
    if (to.daemon == Daemon::journald) {
        return "MESSAGE=" + message + "\nPRIORITY=" + std::to_string(severity(level)) +
               "\nSYSLOG_IDENTIFIER=" + to.name + "\n";
    }
    constexpr int kUserFacility = 1 << 3;
    return "<" + std::to_string(kUserFacility | severity(level)) + ">" + to.name + ": " + message;
}

void emit(Level level, std::string_view message) {
    const Sink& to = sink();
    if (to.daemon != Daemon::none && to.file) {
        const std::string text = datagram(to, level, shortened(message));
        // A daemon that does not listen has nowhere to complain either.
        (void)!send(to.file.get(), text.data(), text.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
        return;
    }
    const int fd = to.file ? to.file.get() : STDERR_FILENO;
    write_line(fd, format_line(to.format, level, shortened(message), now()));
}

struct DaemonPlace {
    std::string_view prefix = {};
    Daemon daemon = Daemon::none;
    const char* socket = nullptr;
};
constexpr std::array<DaemonPlace, 2> kDaemons = {
    {{"syslog:", Daemon::syslog, "/dev/log"},
     {"journald:", Daemon::journald, "/run/systemd/journal/socket"}}};

Fd connect_daemon(const char* path) {
    sockaddr_un address = {};
    address.sun_family = AF_UNIX;
    std::strncpy(address.sun_path, path, sizeof address.sun_path - 1);
    Fd socket{::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0)};
    if (!socket || connect(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0)
        return Fd{};
    return socket;
}

}  // namespace

std::string format_line(Format format, Level level, std::string_view message, std::string_view rfc3339_time) {
    std::string line;
    if (format == Format::json) {
        line += "{\"level\":\"";
        line += level_name(level);
        line += "\",\"msg\":" + quoted(message, format) + ",\"time\":" + quoted(rfc3339_time, format) + "}";
        return line;
    }
    line += "time=" + quoted(rfc3339_time, format) + " level=";
    line += level_name(level);
    line += " msg=" + text_value(message);
    return line;
}

Status open(const std::string& target, Format format, Level least) {
    // The format holds even when the file does not open: the complaint then goes to standard error in it.
    sink() = Sink{.format = format, .least = least};
    if (target.empty()) return {};
    for (const auto& [prefix, daemon, socket] : kDaemons) {
        if (!target.starts_with(prefix)) continue;
        sink().daemon = daemon;
        sink().name = target.size() > prefix.size() ? target.substr(prefix.size()) : "rung";
        // Where none runs, lines go to standard error: a system without a log is no reason not to start.
        sink().file = connect_daemon(socket);
        return {};
    }
    constexpr std::string_view kFile = "file:";
    const std::string path = target.starts_with(kFile) ? target.substr(kFile.size()) : target;
    // O_NONBLOCK: a fifo without a reader is an error and a full one loses lines; neither hangs us.
    Fd file{::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NONBLOCK | O_NOCTTY, 0600)};
    if (!file) return errno_error("open " + path, errno);
    sink().file = std::move(file);
    return {};
}

void debug(std::string_view message) {
    if (sink().least == Level::debug) emit(Level::debug, message);
}

void warn(std::string_view message) {
    const Sink& to = sink();
    if (to.least == Level::error) return;
    const bool only_the_error = to.file && to.format == Format::json && to.least != Level::debug;
    if (!only_the_error) emit(Level::warn, message);
}

void error(std::string_view message) {
    emit(Level::error, message);
    if (sink().file) write_line(STDERR_FILENO, shortened(message));
}

}  // namespace rung::log

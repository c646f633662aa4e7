// The log: the spelling of a line, and which lines reach which file.
// SPDX-License-Identifier: Apache-2.0
#include "base/log.hpp"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cstdlib>

#include "base/fd.hpp"
#include "base/scope_exit.hpp"

using namespace rung;

namespace {

constexpr std::string_view kTime = "2026-01-02T03:04:05Z";

std::string json_line(std::string_view message) {
    return log::format_line(log::Format::json, log::Level::error, message, kTime);
}

std::string text_line(std::string_view message) {
    return log::format_line(log::Format::text, log::Level::error, message, kTime);
}

std::string read_all(const std::string& path) {
    const Fd file{open(path.c_str(), O_RDONLY | O_CLOEXEC)};
    std::array<char, 16384> buffer = {};
    const ssize_t size = read(file.get(), buffer.data(), buffer.size());
    return size < 0 ? "" : std::string{buffer.data(), static_cast<size_t>(size)};
}

// Standard error ends in a file for as long as this lives, and the log goes back to standard error afterwards.
class Capture {
  public:
    Capture() {
        std::array<char, 32> name = {"/tmp/rung-log-test-XXXXXX"};
        directory_ = mkdtemp(name.data());
        saved_ = Fd{fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 3)};
        const Fd file{open(stderr_path().c_str(), O_WRONLY | O_CREAT | O_CLOEXEC | O_APPEND, 0600)};
        (void)dup2(file.get(), STDERR_FILENO);
    }
    Capture(const Capture&) = delete;
    Capture& operator=(const Capture&) = delete;
    ~Capture() {
        (void)dup2(saved_.get(), STDERR_FILENO);
        (void)log::open("", log::Format::text, log::Level::warn);
        (void)unlink(stderr_path().c_str());
        (void)unlink(log_path().c_str());
        (void)rmdir(directory_.c_str());
    }
    std::string stderr_path() const { return directory_ + "/stderr"; }
    std::string log_path() const { return directory_ + "/log"; }

  private:
    std::string directory_ = {};
    Fd saved_ = {};
};

}  // namespace

TEST_CASE("a JSON line has level, message and time") {
    CHECK(json_line("container does not exist") ==
          R"({"level":"error","msg":"container does not exist","time":"2026-01-02T03:04:05Z"})");
    CHECK(log::format_line(log::Format::json, log::Level::warn, "x", "t") ==
          R"({"level":"warning","msg":"x","time":"t"})");
    CHECK(log::format_line(log::Format::json, log::Level::debug, "x", "t") ==
          R"({"level":"debug","msg":"x","time":"t"})");
}

TEST_CASE("a JSON line stays one line and valid whatever the message holds") {
    CHECK(json_line("a\"b\\c\n\t\r\b\f") ==
          R"({"level":"error","msg":"a\"b\\c\n\t\r\b\f","time":"2026-01-02T03:04:05Z"})");
    CHECK(json_line(std::string_view{"\0\x01\x1b\x7f", 4}) ==
          R"({"level":"error","msg":"\u0000\u0001\u001b\u007f","time":"2026-01-02T03:04:05Z"})");
    CHECK(json_line("\xff\xc3(\xe2\x82") ==
          R"({"level":"error","msg":"\ufffd\ufffd(\ufffd\ufffd","time":"2026-01-02T03:04:05Z"})");
    CHECK(json_line("ünï €") == R"({"level":"error","msg":"ünï €","time":"2026-01-02T03:04:05Z"})");
}

TEST_CASE("overlong, surrogate and out of range sequences are not UTF-8") {
    CHECK(json_line("\xc0\xaf") == json_line("\xff\xff"));
    CHECK(json_line("\xe0\x80\xaf") == json_line("\xff\xff\xff"));
    CHECK(json_line("\xed\xa0\x80") == json_line("\xff\xff\xff"));
    CHECK(json_line("\xf4\x90\x80\x80") == json_line("\xff\xff\xff\xff"));
}

TEST_CASE("a text line quotes the time, and the message when it is more than a word") {
    CHECK(text_line("no such \"thing\"") ==
          R"(time="2026-01-02T03:04:05Z" level=error msg="no such \"thing\"")");
    CHECK(text_line("done") == R"(time="2026-01-02T03:04:05Z" level=error msg=done)");
    CHECK(text_line("a\nb\x1b\xff") == R"(time="2026-01-02T03:04:05Z" level=error msg="a\nb\x1b\xff")");
}

TEST_CASE("a JSON log file holds the error alone, and standard error its bare message") {
    const Capture capture;
    REQUIRE(log::open(capture.log_path(), log::Format::json, log::Level::warn));

    log::debug("a decision");
    log::warn("something was narrowed");
    log::error("container does not exist");

    const std::string line = read_all(capture.log_path());
    CHECK(line.starts_with(R"({"level":"error","msg":"container does not exist","time":"2)"));
    CHECK(line.ends_with("Z\"}\n"));
    CHECK(line.find('\n') == line.size() - 1);
    CHECK(read_all(capture.stderr_path()) == "container does not exist\n");
}

TEST_CASE("with debugging on a JSON log file has every line") {
    const Capture capture;
    REQUIRE(log::open(capture.log_path(), log::Format::json, log::Level::debug));

    log::debug("one");
    log::warn("two");

    const std::string lines = read_all(capture.log_path());
    CHECK(lines.find(R"("level":"debug","msg":"one")") != std::string::npos);
    CHECK(lines.find(R"("level":"warning","msg":"two")") != std::string::npos);
    CHECK(read_all(capture.stderr_path()).empty());
}

TEST_CASE("without a file, lines go to standard error in the format asked for") {
    const Capture capture;
    REQUIRE(log::open("", log::Format::text, log::Level::warn));

    log::debug("hidden");
    log::warn("narrowed");
    log::error("failed");

    const std::string lines = read_all(capture.stderr_path());
    CHECK(lines.find("hidden") == std::string::npos);
    CHECK(lines.find("level=warning msg=narrowed\n") != std::string::npos);
    CHECK(lines.find("level=error msg=failed\n") != std::string::npos);
}

TEST_CASE("a log file is appended to and is private") {
    const Capture capture;
    REQUIRE(log::open(capture.log_path(), log::Format::text, log::Level::warn));
    log::warn("first");
    REQUIRE(log::open(capture.log_path(), log::Format::text, log::Level::warn));
    log::warn("second");

    struct stat status = {};
    REQUIRE(stat(capture.log_path().c_str(), &status) == 0);

    CHECK((status.st_mode & 0777) == 0600);
    const std::string lines = read_all(capture.log_path());
    CHECK(lines.find("msg=first\n") != std::string::npos);
    CHECK(lines.find("msg=second\n") != std::string::npos);
}

TEST_CASE("a log that cannot be opened is an error, told on standard error in the format asked for") {
    const Capture capture;

    const Status opened = log::open("/nonexistent/log", log::Format::json, log::Level::warn);
    REQUIRE_FALSE(opened);
    log::error(opened.error().message);

    CHECK(opened.error().message == "open /nonexistent/log: no such file or directory");
    CHECK(read_all(capture.stderr_path()).starts_with(R"({"level":"error","msg":"open /nonexistent/log)"));
}

TEST_CASE("a full pipe loses lines instead of blocking") {
    const Capture capture;
    REQUIRE(mkfifo(capture.log_path().c_str(), 0600) == 0);
    const Fd reader{open(capture.log_path().c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC)};
    REQUIRE(log::open(capture.log_path(), log::Format::text, log::Level::debug));

    const std::string long_message(1000, 'x');
    for (int count = 0; count < 200; ++count)
        log::debug(long_message);

    CHECK(read_all(capture.log_path()).size() > 0);
}

TEST_CASE("a very long message is cut, so that its line fits into a pipe at once") {
    const Capture capture;
    REQUIRE(log::open(capture.log_path(), log::Format::json, log::Level::warn));

    log::error(std::string(100000, 'x'));

    CHECK(read_all(capture.log_path()).size() < 4096);
    CHECK(read_all(capture.stderr_path()).size() < 4096);
}

// The process behind in_sandbox(), and the looking at files.
// SPDX-License-Identifier: Apache-2.0
#include "child/sandbox.hpp"

#include <fcntl.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <vector>

#include "kernel/syscalls.hpp"

namespace rung::child {
namespace {

std::string octal(mode_t mode) {
    std::string digits;
    for (int shift = 9; shift >= 0; shift -= 3)
        digits += static_cast<char>('0' + ((mode >> shift) & 7));
    return digits;
}

std::string read_to_end(int pipe_end) {
    std::string text;
    char buffer[4096];
    for (ssize_t count = 0; (count = read(pipe_end, buffer, sizeof buffer)) > 0;)
        text.append(buffer, static_cast<size_t>(count));
    return text;
}

[[noreturn]] void run_body(const Body& body, const std::string& base, int pipe_end) {
    umask(0);
    // Nothing that a test mounts may reach the machine.
    if (mount(nullptr, "/", nullptr, MS_PRIVATE | MS_REC, nullptr) < 0) _exit(1);
    Sandbox sandbox{.base = base};
    const std::string text = body(sandbox);
    _exit(write(pipe_end, text.data(), text.size()) < 0 ? 1 : 0);
}

}  // namespace

std::string in_sandbox(const Body& body, unsigned long flags) {
    char base[] = "/tmp/rung-child-XXXXXX";
    int ends[2];
    if (mkdtemp(base) == nullptr || pipe2(ends, O_CLOEXEC) < 0) return "no sandbox";
    make_directory(std::string{base} + "/rootfs");
    make_directory(std::string{base} + "/outside");

    clone_args arguments{};
    arguments.flags = CLONE_NEWNS | flags;
    arguments.exit_signal = SIGCHLD;
    const int pid = kernel::clone3(arguments);
    if (pid == 0) run_body(body, base, ends[1]);
    (void)close(ends[1]);
    std::string text = pid < 0 ? "no clone: " + text_of(pid) : read_to_end(ends[0]);
    (void)close(ends[0]);
    int status = 0;
    if (pid > 0 && (waitpid(pid, &status, 0) < 0 || status != 0))
        text += " (ended with " + std::to_string(status) + ")";
    std::filesystem::remove_all(base);
    return text;
}

std::string text_of(const Outcome& outcome) {
    return outcome.failed() ? strerrorname_np(outcome.error) : "done";
}

std::string text_of(int result) {
    return result < 0 ? strerrorname_np(-result) : "done";
}

void make_directory(const std::string& path, mode_t mode) {
    (void)mkdir(path.c_str(), mode);
    (void)chmod(path.c_str(), mode);
}

void make_symlink(const std::string& content, const std::string& path) {
    (void)!symlink(content.c_str(), path.c_str());
}

void write_text(const std::string& path, const std::string& text) {
    std::ofstream{path} << text;
}

std::string read_text(const std::string& path) {
    errno = 0;
    std::ifstream file{path};
    if (!file) return strerrorname_np(errno);
    return std::string{std::istreambuf_iterator<char>{file}, {}};
}

std::string look_at(const std::string& path) {
    struct stat status {};
    if (lstat(path.c_str(), &status) < 0) return strerrorname_np(errno);
    const std::string mode = " " + octal(status.st_mode & 07777);
    if (S_ISDIR(status.st_mode)) return "directory" + mode;
    if (S_ISREG(status.st_mode)) return "file" + mode;
    if (S_ISFIFO(status.st_mode)) return "fifo" + mode;
    if (S_ISLNK(status.st_mode)) return "symlink to " + std::filesystem::read_symlink(path).string();
    const std::string number =
        std::to_string(major(status.st_rdev)) + ":" + std::to_string(minor(status.st_rdev));
    return (S_ISCHR(status.st_mode) ? "char " : "block ") + number + mode;
}

std::string names_in(const std::string& path) {
    std::vector<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator{path})
        names.push_back(entry.path().filename());
    std::sort(names.begin(), names.end());
    std::string text;
    for (const std::string& name : names)
        text += (text.empty() ? "" : " ") + name;
    return text;
}

std::string try_write(const std::string& path) {
    const int file = kernel::checked(open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0644));
    if (file >= 0) (void)close(file);
    return text_of(file);
}

}  // namespace rung::child

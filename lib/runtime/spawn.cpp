// posix_spawn(3): the child shares nothing with the parent that an exec could leave behind.
// SPDX-License-Identifier: Apache-2.0
#include "runtime/spawn.hpp"

#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <string_view>

#include "base/path.hpp"
#include "kernel/files.hpp"

namespace rung::runtime {
namespace {

constexpr size_t kMostOutputShown = 2048;
constexpr std::string_view kUsualPath = "/usr/local/bin:/usr/bin:/bin:/usr/local/sbin:/usr/sbin:/sbin";

std::vector<char*> pointers_to(std::vector<std::string>& strings) {
    std::vector<char*> pointers;
    for (std::string& string : strings)
        pointers.push_back(string.data());
    pointers.push_back(nullptr);
    return pointers;
}

class Spawning {
  public:
    Spawning() {
        posix_spawn_file_actions_init(&actions_);
        posix_spawnattr_init(&attributes_);
    }
    Spawning(const Spawning&) = delete;
    Spawning& operator=(const Spawning&) = delete;
    ~Spawning() {
        posix_spawn_file_actions_destroy(&actions_);
        posix_spawnattr_destroy(&attributes_);
    }

    Result<pid_t> spawn(const HostProgram& program, const Fd& input, const Fd& output) {
        posix_spawn_file_actions_adddup2(&actions_, input.get(), 0);
        posix_spawn_file_actions_adddup2(&actions_, output.get(), 1);
        posix_spawn_file_actions_adddup2(&actions_, output.get(), 2);
        // What the caller handed down to rung is not the program's: a hook that stays would hold an engine's pipe open.
        posix_spawn_file_actions_addclosefrom_np(&actions_, 3);
        if (!program.directory.empty())
            posix_spawn_file_actions_addchdir_np(&actions_, program.directory.c_str());
        sigset_t none;
        sigset_t all;
        sigemptyset(&none);
        sigfillset(&all);
        posix_spawnattr_setsigmask(&attributes_, &none);
        posix_spawnattr_setsigdefault(&attributes_, &all);
        posix_spawnattr_setflags(&attributes_,
                                 POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP);

        std::vector<std::string> args = program.args.empty() ? std::vector{program.path} : program.args;
        std::vector<std::string> env = program.env;
        pid_t pid = 0;
        const int result = posix_spawn(&pid, program.path.c_str(), &actions_, &attributes_,
                                       pointers_to(args).data(), pointers_to(env).data());
        if (result != 0) return errno_error("fork/exec " + program.path, result);
        return pid;
    }

  private:
    posix_spawn_file_actions_t actions_ = {};
    posix_spawnattr_t attributes_ = {};
};

}  // namespace

Result<pid_t> spawn(const HostProgram& program, const Fd& input, const Fd& output) {
    return Spawning{}.spawn(program, input, output);
}

Result<int> wait_for_end(pid_t pid, const std::string& name) {
    int status = 0;
    while (waitpid(pid, &status, 0) < 0) {
        if (errno != EINTR) return errno_error("wait for " + name, errno);
    }
    return status;
}

Result<Fd> memory_file(const std::string& content) {
    Fd file = TRY(kernel::make_memory_file("rung-stdio"));
    size_t done = 0;
    while (done < content.size()) {
        const ssize_t length = write(file.get(), content.data() + done, content.size() - done);
        if (length < 0) return errno_error("fill a memory file", errno);
        done += static_cast<size_t>(length);
    }
    if (lseek(file.get(), 0, SEEK_SET) < 0) return errno_error("rewind a memory file", errno);
    return file;
}

std::string text_of(const Fd& memory_file) {
    std::string text(kMostOutputShown, '\0');
    const ssize_t length = pread(memory_file.get(), text.data(), text.size(), 0);
    text.resize(length > 0 ? static_cast<size_t>(length) : 0);
    while (!text.empty() && text.back() == '\n')
        text.pop_back();
    return text;
}

std::string find_program(const std::string& name) {
    const char* const value = getenv("PATH");
    std::string_view rest = value != nullptr && *value != '\0' ? std::string_view{value} : kUsualPath;
    while (!rest.empty()) {
        const size_t end = std::min(rest.find(':'), rest.size());
        const std::string candidate = path::join(rest.substr(0, end), name);
        rest.remove_prefix(std::min(end + 1, rest.size()));
        if (path::is_absolute(candidate) && access(candidate.c_str(), X_OK) == 0) return candidate;
    }
    return {};
}

}  // namespace rung::runtime

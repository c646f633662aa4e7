// Running hook programs. Their standard input and output are memory files: neither side can block the other.
// SPDX-License-Identifier: Apache-2.0
#include "runtime/hooks.hpp"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>

#include "base/fd.hpp"
#include "base/log.hpp"
#include "kernel/syscalls.hpp"
#include "runtime/signal_name.hpp"
#include "runtime/wording.hpp"

namespace rung::runtime {
namespace {

constexpr size_t kMostOutputShown = 2048;

Result<Fd> memory_file(const std::string& content) {
    Fd file{memfd_create("rung-hook", MFD_CLOEXEC)};
    if (!file) return errno_error("make a memory file for a hook", errno);
    size_t done = 0;
    while (done < content.size()) {
        const ssize_t length = write(file.get(), content.data() + done, content.size() - done);
        if (length < 0) return errno_error("fill a hook's standard input", errno);
        done += static_cast<size_t>(length);
    }
    if (lseek(file.get(), 0, SEEK_SET) < 0) return errno_error("rewind a hook's standard input", errno);
    return file;
}

std::vector<char*> pointers_to(std::vector<std::string>& strings) {
    std::vector<char*> pointers;
    for (std::string& string : strings)
        pointers.push_back(string.data());
    pointers.push_back(nullptr);
    return pointers;
}

// The spawn(3) attributes of every hook: its own stdio, the bundle as working directory, no signal blocked or ignored.
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

    Result<pid_t> spawn(const config::Hook& hook, const std::string& directory, const Fd& input,
                        const Fd& output) {
        posix_spawn_file_actions_adddup2(&actions_, input.get(), 0);
        posix_spawn_file_actions_adddup2(&actions_, output.get(), 1);
        posix_spawn_file_actions_adddup2(&actions_, output.get(), 2);
        posix_spawn_file_actions_addchdir_np(&actions_, directory.c_str());
        sigset_t none;
        sigset_t all;
        sigemptyset(&none);
        sigfillset(&all);
        posix_spawnattr_setsigmask(&attributes_, &none);
        posix_spawnattr_setsigdefault(&attributes_, &all);
        posix_spawnattr_setflags(&attributes_,
                                 POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP);

        std::vector<std::string> args = hook.args.empty() ? std::vector{hook.path} : hook.args;
        std::vector<std::string> env = hook.env;
        pid_t pid = 0;
        const int result = posix_spawn(&pid, hook.path.c_str(), &actions_, &attributes_,
                                       pointers_to(args).data(), pointers_to(env).data());
        if (result != 0) return errno_error("fork/exec " + hook.path, result);
        return pid;
    }

  private:
    posix_spawn_file_actions_t actions_ = {};
    posix_spawnattr_t attributes_ = {};
};

// The wait status; a hook that outlives its timeout or its container is killed, and that is the error.
Result<int> wait_for_hook(pid_t pid, const config::Hook& hook, int container) {
    const Fd pidfd{kernel::pidfd_open(pid, 0)};
    pollfd watched[2] = {{.fd = pidfd.get(), .events = POLLIN, .revents = 0},
                         {.fd = container, .events = POLLIN, .revents = 0}};
    const int64_t milliseconds = int64_t{hook.timeout_seconds.value_or(0)} * 1000;
    const int timeout =
        hook.timeout_seconds ? static_cast<int>(std::min<int64_t>(milliseconds, INT_MAX)) : -1;
    int ready = 0;
    do {
        ready = poll(watched, 2, timeout);
    } while (ready < 0 && errno == EINTR);

    const bool ended = ready > 0 && watched[0].revents != 0;
    // The whole group: a hook is often a script, and what it waits for must not stay behind.
    if (!ended) (void)kill(-pid, SIGKILL);
    int status = 0;
    while (waitpid(pid, &status, 0) < 0) {
        if (errno != EINTR) return errno_error("wait for " + hook.path, errno);
    }
    if (ended) return status;
    if (ready > 0) return Error{.message = "the container's process died while the hook ran"};
    return Error{.message =
                     "hook ran past specified timeout of " + std::to_string(*hook.timeout_seconds) + "s"};
}

struct Ended {
    int status = 0;  // as waitpid(2) gives it
    std::string output = {};
};

Result<Ended> run_to_end(const config::Hook& hook, const OciState& state, int container) {
    const Fd input = TRY(memory_file(to_json(state)));
    const Fd output = TRY(memory_file({}));
    Spawning spawning;
    const pid_t pid = TRY(spawning.spawn(hook, state.bundle, input, output));
    const int status = TRY(wait_for_hook(pid, hook, container));
    return Ended{.status = status, .output = hook_output_text(output)};
}

Status judge(const Ended& ended) {
    if (WIFEXITED(ended.status) && WEXITSTATUS(ended.status) == 0) return {};
    const std::string how = WIFEXITED(ended.status)
                                ? "exit status " + std::to_string(WEXITSTATUS(ended.status))
                                : "signal: " + signal_text(WTERMSIG(ended.status));
    return Error{.message = how + ", output: " + ended.output};
}

Status run_hook(const config::Hook& hook, const OciState& state, int container) {
    return judge(TRY(run_to_end(hook, state, container)));
}

Status run_poststop_hook(const config::Hook& hook, const OciState& state) {
    const Ended ended = TRY(run_to_end(hook, state, -1));
    if (!WIFEXITED(ended.status)) return judge(ended);
    return judge(ended).context(wording::poststop_failed(WEXITSTATUS(ended.status)));
}

}  // namespace

Status run_hooks(const std::string& kind, const std::vector<config::Hook>& hooks, const OciState& state,
                 const Fd& container) {
    for (size_t index = 0; index < hooks.size(); ++index) {
        TRY(run_hook(hooks[index], state, container.get())
                .context(wording::hook_failed(kind, static_cast<unsigned>(index))));
    }
    return {};
}

void run_poststop_hooks(const std::vector<config::Hook>& hooks, const OciState& state) {
    for (size_t index = 0; index < hooks.size(); ++index) {
        const auto result = run_poststop_hook(hooks[index], state);
        if (result) continue;
        log::warn(wording::hook_failed("poststop", static_cast<unsigned>(index)) + ": " +
                  result.error().message);
    }
}

Result<Fd> make_hook_output() {
    return memory_file({});
}

Status clear_hook_output(const Fd& output) {
    // The hooks' descriptors are copies of this one, so they write from its position on.
    if (ftruncate(output.get(), 0) < 0 || lseek(output.get(), 0, SEEK_SET) < 0)
        return errno_error("empty the memory file of hooks", errno);
    return {};
}

std::string hook_output_text(const Fd& output) {
    std::string text(kMostOutputShown, '\0');
    const ssize_t length = pread(output.get(), text.data(), text.size(), 0);
    text.resize(length > 0 ? static_cast<size_t>(length) : 0);
    while (!text.empty() && text.back() == '\n')
        text.pop_back();
    return text;
}

}  // namespace rung::runtime

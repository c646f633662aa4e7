// Running hook programs. Their standard input and output are memory files: neither side can block the other.
// SPDX-License-Identifier: Apache-2.0
#include "runtime/hooks.hpp"

#include <poll.h>
#include <signal.h>
#include <sys/wait.h>

#include <algorithm>
#include <cerrno>
#include <climits>

#include "base/fd.hpp"
#include "base/log.hpp"
#include "kernel/syscalls.hpp"
#include "runtime/signal_name.hpp"
#include "runtime/spawn.hpp"
#include "runtime/wording.hpp"

namespace rung::runtime {
namespace {

// A hook that cannot be watched could run for ever.
Error abandon(pid_t pid, const config::Hook& hook, int reason) {
    (void)kill(-pid, SIGKILL);
    (void)wait_for_end(pid, hook.path);
    return errno_error("watch " + hook.path, reason);
}

// The wait status; a hook that outlives its timeout or its container is killed, and that is the error.
Result<int> wait_for_hook(pid_t pid, const config::Hook& hook, int container) {
    const Fd pidfd{kernel::pidfd_open(pid, 0)};
    if (!pidfd) return abandon(pid, hook, -pidfd.get());
    pollfd watched[2] = {{.fd = pidfd.get(), .events = POLLIN, .revents = 0},
                         {.fd = container, .events = POLLIN, .revents = 0}};
    const int64_t milliseconds = int64_t{hook.timeout_seconds.value_or(0)} * 1000;
    const int timeout =
        hook.timeout_seconds ? static_cast<int>(std::min<int64_t>(milliseconds, INT_MAX)) : -1;
    int ready = 0;
    do {
        ready = poll(watched, 2, timeout);
    } while (ready < 0 && errno == EINTR);
    if (ready < 0) return abandon(pid, hook, errno);

    const bool ended = ready > 0 && watched[0].revents != 0;
    // The whole group: a hook is often a script, and what it waits for must not stay behind.
    if (!ended) (void)kill(-pid, SIGKILL);
    const int status = TRY(wait_for_end(pid, hook.path));
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
    const HostProgram program{
        .path = hook.path, .args = hook.args, .env = hook.env, .directory = state.bundle};
    const pid_t pid = TRY(spawn(program, input, output));
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
    return text_of(output);
}

}  // namespace rung::runtime

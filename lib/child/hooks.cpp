// createContainer and startContainer hooks, run by the container's own process. Under startContainer the workload's seccomp filter is in
// force already, so nothing here calls more than the filter of an ordinary program allows.
// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <linux/close_range.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "child/context.hpp"
#include "child/small_text.hpp"
#include "kernel/syscalls.hpp"

namespace rung::child {
namespace {

constexpr const char* kStatusPlaceholder = "@status@";
constexpr int kMaxHookArguments = 1024;
constexpr int kHookNotExecuted = 127;

int64_t monotonic_milliseconds() {
    timespec now{};
    clock_gettime(CLOCK_MONOTONIC, &now);
    return int64_t{now.tv_sec} * 1000 + now.tv_nsec / 1000000;
}

// The state's JSON as the pieces it is stored in, written from wherever the last write stopped.
class StateText {
  public:
    StateText(const Context& context, const RunHooks& step) {
        const std::string& before = context.program.hook_state_before_pid;
        const size_t place = before.find(kStatusPlaceholder);
        if (place == std::string::npos) return;
        const size_t after_status = place + strlen(kStatusPlaceholder);
        add(before.data(), place);
        add(step.status.data(), step.status.size());
        add(before.data() + after_status, before.size() - after_status);
        add(digits_,
            SmallText{digits_, sizeof digits_}.add_decimal(static_cast<uint64_t>(context.host_pid)).length());
        add(context.program.hook_state_after_pid.data(), context.program.hook_state_after_pid.size());
    }

    bool complete() const { return next_ == count_; }

    // One write to a non-blocking pipe; false when the reader has gone.
    bool write_some(int pipe_end) {
        if (complete()) return true;
        const ssize_t written = writev(pipe_end, pieces_ + next_, count_ - next_);
        if (written < 0) return errno == EAGAIN || errno == EINTR;
        advance(static_cast<size_t>(written));
        return true;
    }

  private:
    void add(const char* text, size_t length) {
        pieces_[count_++] = {.iov_base = const_cast<char*>(text), .iov_len = length};
    }
    void advance(size_t written) {
        while (next_ < count_ && written >= pieces_[next_].iov_len)
            written -= pieces_[next_++].iov_len;
        if (next_ == count_) return;
        pieces_[next_].iov_base = static_cast<char*>(pieces_[next_].iov_base) + written;
        pieces_[next_].iov_len -= written;
    }

    iovec pieces_[5] = {};
    int count_ = 0;
    int next_ = 0;
    char digits_[12] = {};
};

// Fills `table` with the strings' addresses and a null; false when there are too many.
bool make_table(const std::vector<std::string>& strings, const char* (&table)[kMaxHookArguments + 1]) {
    if (strings.size() > kMaxHookArguments) return false;
    size_t count = 0;
    for (const std::string& string : strings)
        table[count++] = string.c_str();
    table[count] = nullptr;
    return true;
}

struct HookEnds {
    int input = -1;    // becomes its standard input
    int failure = -1;  // takes the errno of an execve that failed; closed by one that did not
};

[[noreturn]] void become_hook(const Context& context, const RunHooks& step, const config::Hook& hook,
                              HookEnds ends) {
    static const char* arguments[kMaxHookArguments + 1];
    static const char* environment[kMaxHookArguments + 1];
    if (dup2(ends.input, STDIN_FILENO) < 0) _exit(kHookNotExecuted);
    (void)signal(SIGPIPE, SIG_DFL);
    // Where runc has it too; a root that this user may not enter is no reason to leave the hook out.
    if (step.kind == "createContainer") (void)!fchdir(context.root);
    // What a hook prints belongs into the error if it fails.
    if (const int output = context.descriptors.hook_output; output >= 0) {
        (void)dup2(output, STDOUT_FILENO);
        (void)dup2(output, STDERR_FILENO);
    }
    (void)kernel::close_range(3, ~0U, CLOSE_RANGE_CLOEXEC);  // ours are so already; a filter may forbid this
    if (!make_table(hook.args, arguments) || !make_table(hook.env, environment)) _exit(kHookNotExecuted);
    if (hook.args.empty()) arguments[0] = hook.path.c_str();
    // A startContainer hook that names no environment has the workload's, as with runc; every other has exactly what it names (CVE-2025-23266).
    const bool inherits = step.kind == "startContainer" && hook.env.empty();
    const char* const* table = inherits && context.environment != nullptr ? context.environment : environment;
    (void)execve(hook.path.c_str(), const_cast<char* const*>(arguments), const_cast<char* const*>(table));
    const int error = errno;
    (void)!write(ends.failure, &error, sizeof error);
    _exit(kHookNotExecuted);
}

// Feeds the state and waits for the end of the hook; false when its time ran out. Takes over `input`.
bool feed_and_wait(StateText& state, int input, int pidfd, int64_t deadline) {
    while (true) {
        pollfd watched[2] = {{.fd = pidfd, .events = POLLIN, .revents = 0},
                             {.fd = input, .events = POLLOUT, .revents = 0}};
        int timeout = -1;
        if (deadline >= 0) {
            const int64_t left = deadline - monotonic_milliseconds();
            if (left <= 0) break;
            timeout = left < INT32_MAX ? static_cast<int>(left) : INT32_MAX;
        }
        if (poll(watched, 2, timeout) <= 0) continue;
        const bool ended = watched[0].revents != 0;
        // Closing is what tells the hook that the state is whole; a hook that does not read it is free not to.
        if (watched[1].revents != 0 && (!state.write_some(input) || state.complete())) {
            (void)close(input);
            input = -1;
        }
        if (!ended) continue;
        if (input >= 0) (void)close(input);
        return true;
    }
    if (input >= 0) (void)close(input);
    return false;
}

Outcome outcome_of(int wait_status, uint32_t index) {
    if (WIFEXITED(wait_status) && WEXITSTATUS(wait_status) == 0) return done();
    if (WIFEXITED(wait_status)) {
        return {
            .error = ECHILD, .detail = Detail::hook_exit, .value = WEXITSTATUS(wait_status), .index = index};
    }
    return {.error = ECHILD, .detail = Detail::hook_signal, .value = WTERMSIG(wait_status), .index = index};
}

Outcome run_hook(const Context& context, const RunHooks& step, uint32_t index) {
    const config::Hook& hook = step.hooks[index];
    StateText state{context, step};
    int ends[2] = {-1, -1};
    int failure[2] = {-1, -1};
    if (pipe2(ends, O_CLOEXEC) < 0 || pipe2(failure, O_CLOEXEC | O_NONBLOCK) < 0) return failed(-errno);

    // clone, not clone3: profiles answer clone3 with ENOSYS because they cannot look into its arguments.
    int pidfd = -1;
    const long pid = syscall(SYS_clone, CLONE_PIDFD | SIGCHLD, nullptr, &pidfd, nullptr, 0);
    if (pid < 0) return failed(-errno);
    if (pid == 0) become_hook(context, step, hook, {.input = ends[0], .failure = failure[1]});
    (void)close(ends[0]);
    (void)close(failure[1]);
    (void)fcntl(ends[1], F_SETFL, O_NONBLOCK);

    const int64_t deadline =
        hook.timeout_seconds ? monotonic_milliseconds() + int64_t{*hook.timeout_seconds} * 1000 : -1;
    const bool in_time = feed_and_wait(state, ends[1], pidfd, deadline);
    if (!in_time) (void)kernel::pidfd_send_signal(pidfd, SIGKILL, 0);
    int status = 0;
    while (waitpid(static_cast<pid_t>(pid), &status, 0) < 0 && errno == EINTR) {
    }
    (void)close(pidfd);
    int error = 0;
    const bool not_executed = read(failure[0], &error, sizeof error) == sizeof error;
    (void)close(failure[0]);
    if (not_executed) return {.error = error, .index = index};
    if (!in_time) return {.error = ETIMEDOUT, .detail = Detail::hook_timeout, .index = index};
    return outcome_of(status, index);
}

}  // namespace

Outcome perform(Context& context, const RunHooks& step) {
    // SIGPIPE from a hook that does not read its input would end the container.
    struct sigaction ignore {};
    ignore.sa_handler = SIG_IGN;
    struct sigaction before {};
    (void)sigaction(SIGPIPE, &ignore, &before);
    Outcome outcome = done();
    for (uint32_t index = 0; index < step.hooks.size() && !outcome.failed(); ++index) {
        outcome = run_hook(context, step, index);
    }
    (void)sigaction(SIGPIPE, &before, nullptr);
    return outcome;
}

}  // namespace rung::child

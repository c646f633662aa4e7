// The life of the new process: every step in order, the conversation with the parent, and the end at the first failure.
// SPDX-License-Identifier: Apache-2.0
#include "child/run.hpp"

#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <new>

#include "child/context.hpp"
#include "child/descriptors.hpp"
#include "kernel/syscalls.hpp"

namespace rung::child {
namespace {

constexpr int kSetupFailed = 1;
constexpr size_t kMaxKept = 65536;  // more than the descriptors that a process may have by default

void copy_text(char* to, size_t size, const char* from) {
    if (from == nullptr) return;
    const size_t length = strnlen(from, size - 1);
    memcpy(to, from, length);
    to[length] = '\0';
}

Report make_report(const Context& context, ReportKind kind, const Outcome& outcome) {
    Report report{.kind = kind,
                  .step = context.step,
                  .errno_value = outcome.error,
                  .detail = outcome.detail,
                  .value = outcome.value,
                  .index = outcome.index};
    copy_text(report.text, sizeof report.text, outcome.text);
    return report;
}

// write(2): a seccomp filter may be in force by now, and any that lets a program say something allows it.
void send_report(const Context& context, const Report& report) {
    // Nobody is at the other end any more: that must not be the end by SIGPIPE of a container that was announced.
    if (context.started) return;
    (void)!write(context.descriptors.channel, &report, sizeof report);
}

// A caller's ignored SIGPIPE or blocked SIGTERM is no business of the workload's (crun#1943). Signals 32 and 33 are libc's own and refused by
// its sigaction, yet a caller's can be ignored as well: the call itself knows no such exception.
void reset_signals() {
    for (int signal = 1; signal < NSIG; ++signal) {
        (void)kernel::default_signal(signal);  // SIGKILL and SIGSTOP refuse, as they may
    }
    sigset_t none;
    sigemptyset(&none);
    (void)sigprocmask(SIG_SETMASK, &none, nullptr);
}

// Keeps the cgroup files that came with an answer.
Outcome take_descriptors(Context& context, msghdr& message) {
    for (cmsghdr* control = CMSG_FIRSTHDR(&message); control != nullptr;
         control = CMSG_NXTHDR(&message, control)) {
        if (control->cmsg_level != SOL_SOCKET || control->cmsg_type != SCM_RIGHTS) continue;
        const size_t count = (control->cmsg_len - CMSG_LEN(0)) / sizeof(int);
        if (count > kMaxCgroupJoins) return failed(-EMSGSIZE);
        memcpy(context.cgroup_joins, CMSG_DATA(control), count * sizeof(int));
        context.cgroup_join_count = static_cast<int>(count);
    }
    return done();
}

// As await_answer(), with nothing to take in, by a call that filters allow.
void await_plain_answer(const Context& context) {
    Answer answer{.go = 0};
    ssize_t length = 0;
    do {
        length = read(context.descriptors.channel, &answer, sizeof answer);
    } while (length < 0 && errno == EINTR);
    if (length != sizeof answer || answer.go == 0) _exit(kSetupFailed);
}

Outcome await_answer(Context& context) {
    Answer answer{.go = 0};
    iovec data{.iov_base = &answer, .iov_len = sizeof answer};
    alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int) * kMaxCgroupJoins)] = {};
    msghdr message{};
    message.msg_iov = &data;
    message.msg_iovlen = 1;
    message.msg_control = control;
    message.msg_controllen = sizeof control;
    ssize_t length = 0;
    do {
        length = recvmsg(context.descriptors.channel, &message, MSG_CMSG_CLOEXEC);
    } while (length < 0 && errno == EINTR);
    // The parent has died or given up; whatever it made for us it, or `delete --force`, takes apart.
    if (length != sizeof answer || answer.go == 0) _exit(kSetupFailed);

    context.host_pid = answer.host_pid;
    return take_descriptors(context, message);
}

Outcome run_steps(Context& context, const Program& program) {
    for (const Step& step : program.steps) {
        const Outcome outcome =
            std::visit([&context](const auto& one) { return perform(context, one); }, step);
        if (outcome.failed()) return outcome;
        ++context.step;
    }
    return done();
}

constexpr int kEndedBySignal = 128;

[[noreturn]] void end_on_signal(int signal) {
    _exit(kEndedBySignal + signal);
}

// The first process of a pid namespace gets no signal that it does not handle (pid_namespaces(7)), and a container that is only created has
// to end when it is asked to, as runc's does. execve puts the handlers back.
void end_when_asked() {
    struct sigaction action {};
    action.sa_handler = end_on_signal;
    for (const int signal : {SIGHUP, SIGINT, SIGQUIT, SIGTERM})
        (void)sigaction(signal, &action, nullptr);
}

// What the parent had open is a way to the host for whoever can look into this process once it is inside (CVE-2016-9962): all but the
// program's own goes first.
void close_parents_descriptors(const Program& program, const Descriptors& descriptors) {
    int preserved = 0;
    for (const Step& step : program.steps) {
        if (const auto* close = std::get_if<CloseDescriptors>(&step)) preserved = close->preserved;
    }
    static int kept[kMaxKept];
    size_t count = 0;
    for (const int one :
         {descriptors.channel, descriptors.start, descriptors.console_socket, descriptors.hook_output}) {
        if (one >= 0) kept[count++] = one;
    }
    for (const int slot : descriptors.slots) {
        if (slot >= 0 && count < kMaxKept) kept[count++] = slot;
    }
    close_all_but(3 + preserved, std::span{kept, count});
}

// Not on the stack, because of its buffers; nor a static object of its own, whose making would take a lock.
Context& make_context(const Program& program) {
    alignas(Context) static unsigned char storage[sizeof(Context)];
    return *new (storage) Context{.program = program};
}

// Takes over `pipe`, to which nothing is written.
void await_end_of(int pipe) {
    char byte = 0;
    while (read(pipe, &byte, 1) < 0 && errno == EINTR) {
    }
    (void)close(pipe);
}

[[noreturn]] void fail(const Context& context, const Outcome& outcome) {
    // After `start` nobody is at the other end of the channel; what is left is the workload's own standard error.
    if (context.started) explain_on_stderr("of the container", outcome.error);
    send_report(context, make_report(context, ReportKind::failed, outcome));
    _exit(kSetupFailed);
}

}  // namespace

void warn(Context& context, const Outcome& outcome) {
    send_report(context, make_report(context, ReportKind::warned, outcome));
}

void send_terminal(Context& context, int master) {
    const Report report = make_report(context, ReportKind::terminal, done());
    // Without a parent there is nobody to read it.
    (void)send_descriptor(context.descriptors.channel, &report, sizeof report, master);
}

Outcome map_ids_by_parent(Context& context, int tree, int id_map) {
    const Report report = make_report(context, ReportKind::tree, {.value = id_map});
    const int result = send_descriptor(context.descriptors.channel, &report, sizeof report, tree);
    if (result < 0) return failed(result);
    await_plain_answer(context);
    return done();
}

Outcome hand_over_listener(Context& context, int listener, Listener how) {
    const Report report = make_report(context, ReportKind::listener, {.value = listener});
    if (how == Listener::by_message) {
        const int result = send_descriptor(context.descriptors.channel, &report, sizeof report, listener);
        if (result < 0) return failed(result);
    } else {
        send_report(context, report);
    }
    await_plain_answer(context);
    (void)close(listener);
    return done();
}

Outcome perform(Context& context, const SyncWithParent& step) {
    send_report(context, make_report(context, ReportKind::sync, {.value = static_cast<int32_t>(step.point)}));
    return await_answer(context);
}

Outcome perform(Context& context, const AwaitStart&) {
    send_report(context, make_report(context, ReportKind::ready, done()));
    // `run` and `exec` let the program go once they have written down what they promised, such as the pid file.
    if (context.descriptors.start < 0) {
        await_plain_answer(context);
        return done();
    }
    char byte = 0;
    ssize_t length = 0;
    do {
        length = read(context.descriptors.start, &byte, 1);
    } while (length < 0 && errno == EINTR);
    if (length != 1) return failed(length < 0 ? -errno : -EPIPE);
    context.started = true;
    return done();
}

void run(const Program& program, const Descriptors& descriptors) noexcept {
    // Processes of the container we are about to enter must not trace us or open our descriptors (CVE-2016-9962).
    (void)prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
    reset_signals();
    if (descriptors.start >= 0) end_when_asked();
    umask(0);  // what is made until SetUser gets exactly the mode it asks for
    close_parents_descriptors(program, descriptors);
    Context& context = make_context(program);
    context.descriptors = descriptors;
    const Outcome outcome = run_steps(context, program);
    fail(context, outcome.failed() ? outcome
                                   : failed(-ENOEXEC));  // a program ends with Execute, which does not return
}

void run_staged(const Program& first_steps, const Program& program, uint64_t clone_flags,
                const Descriptors& descriptors) noexcept {
    (void)prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
    close_parents_descriptors(program, descriptors);
    Context& context = make_context(first_steps);
    context.descriptors = descriptors;
    const Outcome outcome = run_steps(context, first_steps);
    if (outcome.failed()) fail(context, outcome);

    // The parent has to know the pid before the new process reports anything, or it takes us for the container's first process: that one
    // waits until our end of the pipe is closed.
    int announced[2];
    if (pipe2(announced, O_CLOEXEC) < 0) fail(context, failed(-errno));
    // CLONE_PARENT: the caller of rung, not this process, is to be able to wait for the container's first process.
    clone_args arguments{};
    arguments.flags = clone_flags | CLONE_PARENT;
    const int pid = kernel::clone3(arguments);
    if (pid == 0) {
        (void)close(announced[1]);
        await_end_of(announced[0]);
        run(program, descriptors);
    }
    if (pid < 0) fail(context, failed(pid));
    send_report(context, make_report(context, ReportKind::init_pid, {.value = pid}));
    _exit(0);
}

}  // namespace rung::child

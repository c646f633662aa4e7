// The parent's side of clone3 and of the conversation with the child (child/report.hpp).
// SPDX-License-Identifier: Apache-2.0
#include "runtime/launch.hpp"

#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <variant>

#include "base/log.hpp"
#include "child/run.hpp"
#include "kernel/files.hpp"
#include "kernel/message.hpp"
#include "kernel/syscalls.hpp"
#include "runtime/failure.hpp"
#include "runtime/oom_score.hpp"
#include "runtime/wording.hpp"

namespace rung::runtime {
namespace {

// Large enough for the descriptors of every v1 hierarchy.
union ControlBuffer {
    cmsghdr header;
    char bytes[CMSG_SPACE(sizeof(int) * child::kMaxCgroupJoins)];
};

bool sets_inheritable(const child::Program& program) {
    return std::any_of(program.steps.begin(), program.steps.end(), [](const child::Step& step) {
        const auto* set = std::get_if<child::SetCapabilities>(&step);
        return set != nullptr && set->sets.inheritable != 0;
    });
}

void log_warning(const child::Program& program, const child::Report& report) {
    const std::string message = describe_failure(program, report).message;
    // Configurations that list ambient capabilities and no inheritable ones are common; saying so at every start would hide what matters.
    if (report.detail == child::Detail::capability_raise && !sets_inheritable(program))
        return log::debug(message);
    log::warn(message);
}

std::vector<int> numbers_of(const Slots& slots) {
    std::vector<int> numbers;
    numbers.reserve(slots.size());
    for (const Fd& slot : slots)
        numbers.push_back(slot.get());
    return numbers;
}

Status prepare_for_children(const plan::Lowered& lowered, const Slots& slots) {
    if (lowered.join_pid) {
        // setns(2): a pid namespace takes in the caller's future children, never the caller.
        const int result = kernel::setns(slots[static_cast<size_t>(*lowered.join_pid)].get(), CLONE_NEWPID);
        if (result < 0) return errno_error("join the pid namespace", -result);
    }
    if (lowered.time_offsets) {
        // time_namespaces(7): offsets can be written only before the first process enters.
        const int result = kernel::unshare(CLONE_NEWTIME);
        if (result < 0) return errno_error("create a time namespace", -result);
        if (lowered.time_offsets->empty()) return {};
        TRY(kernel::write_file("/proc/self/timens_offsets", *lowered.time_offsets)
                .context("set linux.timeOffsets"));
    }
    return {};
}

bool says_zero(const char* file) {
    const auto text = kernel::read_file(file);
    return text && text->starts_with('0');
}

// What the bare errno does not say: of several reasons the one that somebody can change.
std::string clone_obstacle(int reason, bool makes_user_namespace) {
    if (reason == EAGAIN) return " (a pids limit?)";
    if (reason == ENOSYS)
        return " (clone3 needs Linux 5.7, or a seccomp filter of an outer container hides it)";
    if (!makes_user_namespace) return "";
    if (reason == ENOSPC)
        return " (user namespaces: /proc/sys/user/max_user_namespaces is reached, or they are nested too "
               "deeply)";
    if (reason != EPERM) return "";
    if (says_zero("/proc/sys/kernel/unprivileged_userns_clone"))
        return " (user namespaces: /proc/sys/kernel/unprivileged_userns_clone is 0)";
    return " (user namespaces: a seccomp filter or security module of this host or of an outer container "
           "forbids them, or this process is in "
           "a chroot)";
}

Error clone_error(int reason, uint64_t flags) {
    return errno_error("clone the container's process" + clone_obstacle(reason, (flags & CLONE_NEWUSER) != 0),
                       reason);
}

}  // namespace

Result<Launched> launch(const plan::Lowered& lowered, const Slots& slots, const LaunchInputs& inputs) {
    TRY(prepare_for_children(lowered, slots));
    int channel[2];
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, channel) < 0) {
        return errno_error("make the channel to the container's process", errno);
    }
    Fd parent_end{channel[0]};
    Fd child_end{channel[1]};

    // Made before the clone: the child must not allocate.
    std::vector<int> slot_numbers = numbers_of(slots);
    const child::Descriptors descriptors{.channel = child_end.get(),
                                         .start = inputs.start,
                                         .console_socket = inputs.console_socket,
                                         .hook_output = inputs.hook_output,
                                         .slots = slot_numbers};
    InheritedOomScore oom_score;
    TRY(oom_score.apply(lowered.oom_score_adj));
    int pidfd = -1;
    clone_args arguments{};
    arguments.flags = lowered.clone_flags | CLONE_PIDFD;
    arguments.pidfd = reinterpret_cast<uintptr_t>(&pidfd);
    arguments.exit_signal = SIGCHLD;
    if (inputs.cgroup >= 0) {
        arguments.flags |= CLONE_INTO_CGROUP;
        arguments.cgroup = static_cast<uint64_t>(inputs.cgroup);
    }
    const int pid = kernel::clone3(arguments);
    if (pid == 0) {
        // While the child held our end too, it would never see that we have died.
        parent_end.reset();
        if (lowered.first)
            child::run_staged(*lowered.first, lowered.program, lowered.second_clone_flags, descriptors);
        child::run(lowered.program, descriptors);
    }
    if (pid < 0) return clone_error(-pid, arguments.flags);
    log::debug(std::string{wording::kStageCloned} + ": process " + std::to_string(pid));
    return Launched{std::move(parent_end), Fd{pidfd}, pid};
}

Result<std::optional<child::Report>> Launched::receive() {
    child::Report report;
    auto message =
        TRY(kernel::receive_message(channel_.get(), {reinterpret_cast<char*>(&report), sizeof report})
                .context("read from the container's process"));
    if (message.length == 0) return std::optional<child::Report>{};
    if (message.length != sizeof report)
        return Error{.message = "the container's process sent a malformed report"};
    if (report.kind == child::ReportKind::terminal) terminal_ = std::move(message.descriptor);
    if (report.kind == child::ReportKind::listener) listener_ = std::move(message.descriptor);
    if (report.kind == child::ReportKind::tree) tree_ = std::move(message.descriptor);
    report.text[sizeof report.text - 1] = '\0';
    return std::optional{report};
}

Error Launched::describe_death() const {
    int status = 0;
    const bool known = waitpid(pid_, &status, 0) == pid_;
    std::string message = "the container's process died during its own setup";
    if (known && WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL)
        message += ": killed (memory limit too low?)";
    return Error{.message = std::move(message)};
}

Result<child::Report> Launched::await_report(const plan::Lowered& lowered) {
    while (true) {
        const auto report = TRY(receive());
        if (!report) return describe_death();
        const child::Program& program = lowered.first && !is_second_ ? *lowered.first : lowered.program;
        switch (report->kind) {
            case child::ReportKind::failed:
                return describe_failure(program, *report, lowered.trees);
            case child::ReportKind::warned:
                log_warning(program, *report);
                break;
            case child::ReportKind::terminal:
                break;
            case child::ReportKind::init_pid: {
                // The first process has done its part: reap it, and go on with its sibling.
                is_second_ = true;
                (void)waitpid(pid_, nullptr, 0);
                pid_ = report->value;
                pidfd_ = Fd{kernel::pidfd_open(pid_, 0)};
                if (!pidfd_) return errno_error("open the container's process", -pidfd_.get());
                break;
            }
            case child::ReportKind::ready:
                log::debug(wording::kStageInit);
                return *report;
            case child::ReportKind::sync:
            case child::ReportKind::tree:
            case child::ReportKind::listener:
                return *report;
        }
    }
}

Result<Fd> Launched::take_listener(const child::Report& report) {
    if (listener_) return std::move(listener_);
    Fd fetched{kernel::pidfd_getfd(pidfd_.get(), report.value, 0)};
    if (!fetched) return errno_error("fetch the seccomp listener", -fetched.get());
    return fetched;
}

Status Launched::answer(const std::vector<Fd>& cgroup_joins) {
    child::Answer answer{.go = 1, .host_pid = pid_};
    iovec data{.iov_base = &answer, .iov_len = sizeof answer};
    ControlBuffer control{};
    msghdr message{};
    message.msg_iov = &data;
    message.msg_iovlen = 1;
    if (cgroup_joins.size() > child::kMaxCgroupJoins) return Error{.message = "too many cgroup hierarchies"};
    if (!cgroup_joins.empty()) {
        const size_t length = sizeof(int) * cgroup_joins.size();
        message.msg_control = &control;
        message.msg_controllen = CMSG_SPACE(length);
        cmsghdr* header = CMSG_FIRSTHDR(&message);
        header->cmsg_level = SOL_SOCKET;
        header->cmsg_type = SCM_RIGHTS;
        header->cmsg_len = CMSG_LEN(length);
        const std::vector<int> numbers = numbers_of(cgroup_joins);
        std::memcpy(CMSG_DATA(header), numbers.data(), length);
    }
    if (sendmsg(channel_.get(), &message, MSG_NOSIGNAL) < 0) {
        return errno_error("answer the container's process", errno);
    }
    return {};
}

Status Launched::await_exec(const child::Program& program) {
    while (true) {
        const auto report = TRY(receive());
        // The child's end is CLOEXEC: the end of the conversation is the exec.
        if (!report) return {};
        if (report->kind == child::ReportKind::failed) return describe_failure(program, *report);
        if (report->kind == child::ReportKind::warned) log_warning(program, *report);
    }
}

void Launched::kill() {
    if (!pidfd_) return;
    (void)kernel::pidfd_send_signal(pidfd_.get(), SIGKILL, 0);  // it may be gone already
    (void)waitpid(pid_, nullptr, 0);
    pidfd_.reset();
}

}  // namespace rung::runtime

// start: the waiting process becomes the workload.
// SPDX-License-Identifier: Apache-2.0
#include <poll.h>
#include <signal.h>
#include <unistd.h>

#include <cerrno>

#include "config/parse.hpp"
#include "runtime/container.hpp"
#include "runtime/grants.hpp"
#include "runtime/hooks.hpp"
#include "runtime/notify.hpp"
#include "runtime/prepare.hpp"
#include "runtime/runtime.hpp"
#include "runtime/wording.hpp"

namespace rung::runtime {
namespace {

Status check_startable(Phase phase) {
    switch (phase) {
        case Phase::created:
            return {};
        case Phase::stopped:
            return Error{.message = std::string{wording::kStartStopped}};
        case Phase::paused:
            return Error{.message = std::string{wording::kStartPaused}};
        case Phase::creating:
            return Error{.message = "cannot start a container that is still being created"};
        case Phase::running:
            break;
    }
    return Error{.message = std::string{wording::kAlreadyStarted}};
}

constexpr int kForever = -1;
// Whoever looks or signals right after `start` should meet the workload; what keeps it from being executed (a slow file system, an agent
// that this very caller is) must not keep `start`.
constexpr int kAWhile = 1000;

// The waiting process holds the only reading end, CLOEXEC: when it is gone the process has been replaced by the workload.
void await_exec(const Fd& fifo, int milliseconds) {
    pollfd watched{.fd = fifo.get(), .events = 0, .revents = 0};
    while (poll(&watched, 1, milliseconds) < 0 && errno == EINTR) {
    }
}

void await_ready(const Container& container, NotifySocket& notify) {
    const auto init = container.directory.read_init();
    if (!init) return;
    if (const auto process = open_process(*init); process && *process)
        notify.pass_on_until_ready(*process, init->pid);
}

Status run_poststart_hooks(const Globals& globals, const Container& container) {
    const auto spec = TRY(config::parse_spec(TRY(container.directory.read_config())));
    auto result = run_hooks("poststart", spec.hooks.poststart, oci_state(container, Phase::running), Fd{});
    // runtime-spec runtime.md, "Lifecycle": what follows a failure is the end of the container. The failure is the error to report.
    if (!result) (void)remove(globals, container.state.id, true);
    return result;
}

}  // namespace

Status start(const Globals& globals, const std::string& id) {
    Container container = TRY(lock_container(globals, id));
    TRY(check_startable(container.phase()));

    // A grant may have ended since create.
    if (!container.state.grants.empty()) TRY(prepare_again(container.directory, container.state));
    TRY(check_drop_box(container.state, {}));

    std::optional<NotifySocket> notify;
    const auto callers_socket = callers_notify_socket();
    const auto notify_directory = container.directory.notify_directory();
    if (callers_socket && notify_directory)
        notify = TRY(NotifySocket::bind(*notify_directory, *callers_socket));

    auto fifo = container.directory.open_start_fifo();
    if (!fifo) {
        if (fifo.error().errno_value == ENXIO) return Error{.message = std::string{wording::kStartStopped}};
        return std::move(fifo).error();
    }
    // Whoever reads may die at this moment: that is an error to report, not the end of rung.
    (void)signal(SIGPIPE, SIG_IGN);
    if (write(fifo->get(), "s", 1) != 1) {
        if (errno == EPIPE) return Error{.message = std::string{wording::kStartStopped}};
        return errno_error("start the container's process", errno);
    }
    container.directory.forget_start_fifo();
    await_exec(*fifo, container.state.has_poststart_hooks ? kForever : kAWhile);
    // A hook or the container may take long, and `delete --force` must not wait for it.
    container.directory.unlock();
    if (notify) await_ready(container, *notify);
    if (!container.state.has_poststart_hooks) return {};
    return run_poststart_hooks(globals, container);
}

}  // namespace rung::runtime

// kill: a signal to the container's first process, or to all of them.
// SPDX-License-Identifier: Apache-2.0
#include <signal.h>

#include <cerrno>

#include "kernel/syscalls.hpp"
#include "runtime/container.hpp"
#include "runtime/runtime.hpp"
#include "runtime/wording.hpp"

namespace rung::runtime {
namespace {

Error not_running() {
    return Error{.message = std::string{wording::kNotRunning}};
}

Status signal_init(const Container& container, int signal) {
    const auto init = container.directory.read_init();
    if (!init) return not_running();
    const Fd pidfd = TRY(open_process(*init));
    if (!pidfd) return not_running();
    const int result = kernel::pidfd_send_signal(pidfd.get(), signal, 0);
    if (result == -ESRCH) return not_running();
    if (result < 0) return errno_error("signal the container's process", -result);
    return {};
}

// A container of a user that may make no cgroup: its first process is all of it that is known, and that one's end ends the others.
Status send_without_cgroup(const Container& container, int signal, bool all) {
    const Status sent = signal_init(container, signal);
    const bool has_ended = !sent && container.phase() == Phase::stopped;
    return all && has_ended ? Status{} : sent;
}

Status send(const Container& container, int signal, bool all) {
    if (container.state.cgroup.is_none()) return send_without_cgroup(container, signal, all);
    // Without a pid namespace of its own the end of init ends nothing else, so SIGKILL goes to the whole cgroup (runc#4047).
    if (signal == SIGKILL && (all || !container.state.private_pid_namespace)) {
        const auto processes = TRY(cgroup::processes(container.state.cgroup));
        if (!processes.empty()) return cgroup::kill_all(container.state.cgroup);
        return all ? Status{} : signal_init(container, signal);
    }
    if (all) return cgroup::signal_all(container.state.cgroup, signal);
    return signal_init(container, signal);
}

}  // namespace

Status kill(const Globals& globals, const std::string& id, int signal, bool all) {
    const Container container = TRY(open_container(globals, id));
    const auto frozen = cgroup::is_frozen(container.state.cgroup);
    const Status sent = send(container, signal, all);
    // Thawed after the signal, so that nothing runs again before it dies: a frozen process of cgroup v1 cannot even die.
    if (sent && signal == SIGKILL && frozen && *frozen) return cgroup::thaw(container.state.cgroup);
    return sent;
}

}  // namespace rung::runtime

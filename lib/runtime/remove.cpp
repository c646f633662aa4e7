// delete: whatever a container, or an interrupted create of one, has left is taken apart.
// SPDX-License-Identifier: Apache-2.0
#include <signal.h>

#include "base/log.hpp"
#include "config/parse.hpp"
#include "kernel/files.hpp"
#include "kernel/syscalls.hpp"
#include "runtime/container.hpp"
#include "runtime/hooks.hpp"
#include "runtime/host_mounts.hpp"
#include "runtime/remove.hpp"
#include "runtime/resctrl.hpp"
#include "runtime/runtime.hpp"
#include "runtime/wording.hpp"

namespace rung::runtime {
namespace {

constexpr int kUsualEnd = 100;  // milliseconds
constexpr int kPatience = 10 * 1000;

Status kill_init(const StateDirectory& directory, const State& state) {
    const auto init = directory.read_init();
    if (!init) return {};
    const Fd pidfd = TRY(open_process(*init));
    if (!pidfd) return {};
    (void)kernel::pidfd_send_signal(pidfd.get(), SIGKILL, 0);  // gone since is gone as well
    const auto frozen = cgroup::is_frozen(state.cgroup);
    if (frozen && *frozen) TRY(cgroup::thaw(state.cgroup));
    if (wait_for_exit(pidfd, kUsualEnd)) return {};
    // Only for one that still has not died, so that the number is sure to be its own.
    TRY(cgroup::take_back_from_other_freezer(state.cgroup, init->pid));
    return wait_for_exit(pidfd, kPatience);
}

Status kill_processes(const StateDirectory& directory, const State& state) {
    TRY(kill_init(directory, state));
    // The end of a pid namespace's init is the end of all in it; otherwise, or when its pid was never written, ask the cgroup.
    if (state.private_pid_namespace && directory.read_init()) return {};
    return cgroup::kill_all(state.cgroup);
}

Status remove_cgroup(const State& state) {
    if (cgroup::remove(state.cgroup)) return {};
    TRY(cgroup::kill_all(state.cgroup));
    return cgroup::remove(state.cgroup);
}

// Without a state.json that can be read. config.json names a cgroup as well, but not certainly the container's: which one it was hangs on the
// flags and the cgroup of the caller who made it.
Status remove_damaged(const StateDirectory& directory, const std::string& id) {
    const auto cgroup = directory.read_cgroup();
    const State known{.id = id, .cgroup = cgroup.value_or(cgroup::Cgroup{})};
    TRY(kill_processes(directory, known));
    if (cgroup) return remove_cgroup(known);
    log::warn("nothing says which cgroup was the one of " + id + ": none is removed");
    return {};
}

// A directory that was there before the container came to it is somebody else's.
Status remove_resctrl(const Container& container) {
    if (!container.state.resctrl) return {};
    if (container.directory.has_resctrl()) return remove_resctrl_directories(container.state.resctrl->own);
    for (const std::string& directory : container.state.resctrl->own) {
        if (kernel::exists(directory))
            log::warn(directory + " is left as it is: it may have been made by somebody else");
    }
    return {};
}

// A create that still runs holds the lock. Its process is killed, it fails, cleans up, and lets go.
Status lock_by_force(StateDirectory& directory) {
    if (TRY(directory.try_lock())) return {};
    if (const auto state = directory.read_state(); state && *state) {
        TRY(kill_init(directory, **state));
    }
    return directory.lock();
}

// The specification has them run after the container is gone.
void run_poststop_hooks_of(const Result<std::string>& config_text, const OciState& state) {
    const auto spec = config_text ? config::parse_spec(*config_text) : config_text.error();
    if (!spec) return log::warn("poststop hooks: " + spec.error().message);
    run_poststop_hooks(spec->hooks.poststop, state);
}

Status remove_container(Container container) {
    TRY(kill_processes(container.directory, container.state));
    TRY(remove_cgroup(container.state));
    TRY(remove_host_mounts(container.state));
    TRY(remove_resctrl(container));
    // An earlier delete may have been killed after it had removed config.json.
    const auto config_text = container.directory.read_config();
    const OciState last = oci_state(container, Phase::stopped);
    TRY(container.directory.remove());
    if (container.state.has_poststop_hooks) run_poststop_hooks_of(config_text, last);
    return {};
}

bool may_be_removed(Phase phase) {
    return phase == Phase::stopped || phase == Phase::created;
}

Status remove_locked(StateDirectory directory, const std::string& id, bool force) {
    auto state = directory.read_state();
    if (!state && !force) return std::move(state).error();
    if (!state) {
        TRY(remove_damaged(directory, id));
        return directory.remove();
    }
    // Without a state.json a process is the most there can be: the cgroup is made after it is written.
    if (!*state) {
        TRY(kill_init(directory, {}));
        return directory.remove();
    }

    Container container{.directory = std::move(directory), .state = std::move(**state)};
    const Phase phase = container.phase();
    if (!force && !may_be_removed(phase))
        return Error{.message = wording::delete_not_stopped(id, phase_name(phase))};
    return remove_container(std::move(container));
}

}  // namespace

Status remove_own(const Globals& globals, const std::string& id, pid_t init) {
    auto directory = StateDirectory::open(globals.root, id);
    if (!directory && directory.error().message == wording::kDoesNotExist) return {};
    if (!directory) return std::move(directory).error();
    TRY(directory->lock());
    const auto found = directory->read_init();
    if (directory->is_removed() || !found || found->pid != init) return {};
    return remove_locked(std::move(*directory), id, true);
}

Status remove(const Globals& globals, const std::string& id, bool force) {
    TRY(check_id(id));
    auto opened = StateDirectory::open(globals.root, id);
    if (!opened) {
        if (force && opened.error().message == wording::kDoesNotExist) return {};
        return std::move(opened).error();
    }
    StateDirectory directory = std::move(*opened);
    TRY(force ? lock_by_force(directory) : directory.lock());
    if (directory.is_removed())
        return force ? Status{} : Error{.message = std::string{wording::kDoesNotExist}};
    return remove_locked(std::move(directory), id, force);
}

}  // namespace rung::runtime

// mounts add and mounts remove, crun's verbs.
// SPDX-License-Identifier: Apache-2.0
#include "config/parse.hpp"
#include "kernel/files.hpp"
#include "kernel/syscalls.hpp"
#include "runtime/container.hpp"
#include "runtime/launch.hpp"
#include "runtime/prepare.hpp"
#include "runtime/process.hpp"
#include "runtime/runtime.hpp"
#include "runtime/wording.hpp"

namespace rung::runtime {
namespace {

Status carry_out(const plan::Lowered& lowered, const Slots& slots) {
    Launched process = TRY(launch(lowered, slots, {}));
    const auto report = process.await_report(lowered);
    // It has done its work, or failed, and waits for nothing but this.
    process.kill();
    return report ? Status{} : Status{report.error()};
}

}  // namespace

Status change_mounts(const Globals& globals, const std::string& id, MountChange change,
                     const std::string& file) {
    const Container container = TRY(lock_container(globals, id));
    const auto init = container.directory.read_init();
    if (!init || container.phase() == Phase::stopped)
        return Error{.message = std::string{wording::kNotRunning}};
    if (!container.state.grants.empty() || !container.state.grants_are_known)
        return Error{.message = "what " + id + " has mounted is what its grants allow"};

    Prepared prepared = TRY(prepare_again(container.directory, container.state));
    config::Spec& spec = prepared.plan.spec;
    spec.mounts = TRY(config::parse_mounts(TRY(kernel::read_file(file))).context(file));
    TRY(config::validate(spec).context(file));

    Fd pidfd = TRY(open_process(*init));
    if (!pidfd) return Error{.message = std::string{wording::kNotRunning}};
    const int namespaces = TRY(differing_namespaces(init->pid));
    // Only now is it certain that what was compared were the container's and not those of a process with its number.
    if (kernel::pidfd_send_signal(pidfd.get(), 0, 0) != 0)
        return Error{.message = std::string{wording::kNotRunning}};
    const auto lowered = TRY(plan::lower_mount_change(
        prepared.plan, prepared.host,
        {.change = change == MountChange::add ? plan::MountChange::add : plan::MountChange::remove,
         .namespaces = namespaces,
         .bundle = prepared.bundle,
         .rootfs = prepared.rootfs}));
    Slots slots = TRY(open_slots(lowered));
    slots[0] = std::move(pidfd);
    return carry_out(lowered, slots);
}

}  // namespace rung::runtime

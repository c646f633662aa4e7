// The part of a creation that CRIU does: not a clone and a program for it, but processes from files.
// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>

#include "base/log.hpp"
#include "kernel/files.hpp"
#include "kernel/syscalls.hpp"
#include "runtime/creation.hpp"
#include "runtime/hooks.hpp"
#include "runtime/mount_points.hpp"
#include "runtime/resctrl.hpp"
#include "runtime/terminal.hpp"
#include "runtime/unix_socket.hpp"
#include "runtime/wording.hpp"

namespace rung::runtime {
namespace {

// Nobody can set it for another process. Debian 12's CRIU 3.17.1 does not restore it, 4.1 does.
void warn_of_lost_no_new_privs(pid_t pid) {
    const auto status = kernel::read_file("/proc/" + std::to_string(pid) + "/status");
    if (status && status->find("\nNoNewPrivs:\t1\n") != std::string::npos) return;
    log::warn("process.noNewPrivileges: this criu has not restored no_new_privs, which takes a newer one");
}

}  // namespace

Status Creation::revive(const std::string& root, Revival revival) {
    auto revived = claim(root);
    if (!revived) return revived;
    revived = make_cgroup();
    if (revived) revived = restore_process(revival);
    if (revived) revived = tell_caller();
    if (!revived) {
        undo();
        return revived;
    }
    directory_->forget_start_fifo();
    directory_->unlock();
    return {};
}

Status Creation::restore_process(Revival& revival) {
    Fd console_socket;
    if (!options_.console_socket.empty())
        console_socket = TRY(connect_console_socket(options_.console_socket));
    // While it stands unannounced the container is "creating".
    start_fifo_ = TRY(directory_->make_start_fifo());
    start_fifo_.reset();

    const std::string place = TRY(directory_->path());
    revival.request.root = place;
    // Upon the state directory, in a mount namespace that ends with CRIU: whenever we are killed, nothing stays mounted.
    // Where CRIU writes it mounts as well, so that its directories have to be of that namespace.
    revival.program.prepare = [&]() -> Result<std::vector<Fd>> {
        TRY(show_rootfs_at(place, prepared_.rootfs, lowered_));
        std::vector<Fd> directories;
        for (const std::string& path : {revival.directories.images_path, revival.directories.work_path})
            directories.push_back(TRY(kernel::open_at(AT_FDCWD, path, O_RDONLY | O_DIRECTORY)));
        return directories;
    };
    criu::Session session = TRY(criu::Session::start(revival.program));
    TRY(place_criu(session.pid(), revival.request));
    TRY(session.send(criu::encode_request(criu::Task::restore, revival.request)));
    const auto result =
        TRY(converse_with_criu(session, revival.directories, [&](criu::Session::Received& received) {
            return on_notification(received, console_socket);
        }));
    TRY(on_restored_pid(result.pid));
    process_->keep_terminal(std::move(terminal_));
    const int code = session.finish();
    return code == 0 ? Status{} : Error{.message = "criu failed: exit status " + std::to_string(code)};
}

// CRIU's children begin where it is, and what it moves them to it looks for below that.
Status Creation::place_criu(pid_t pid, criu::Options& request) {
    if (prepared_.cgroup.unit) TRY(start_unit(pid));
    TRY(cgroup::move_into(prepared_.cgroup, pid).context(wording::kCgroupNotApplied));
    if (resctrl_) TRY(join_resctrl_group(*resctrl_, pid));
    request.cgroup_roots =
        criu::parse_cgroup_roots(TRY(kernel::read_file("/proc/" + std::to_string(pid) + "/cgroup")));
    return {};
}

Status Creation::on_notification(criu::Session::Received& received, const Fd& console_socket) {
    const std::string& script = received.response.script;
    if (script == "orphan-pts-master" && received.descriptor) {
        if (console_socket) return send_terminal(console_socket, received.descriptor);
        terminal_ = std::move(received.descriptor);
        return {};
    }
    if (received.response.pid > 0) TRY(on_restored_pid(received.response.pid));
    // All is restored, and nothing runs yet.
    if (script == "pre-resume" && process_ && spec().process.no_new_privileges)
        warn_of_lost_no_new_privs(process_->pid());
    if (script != "setup-namespaces") return {};
    // Now there are namespaces, and nothing runs in them yet.
    hooks_have_run_ = true;
    TRY(run_hooks("prestart", spec().hooks.prestart, oci_state("creating"), process_->pidfd()));
    return run_hooks("createRuntime", spec().hooks.create_runtime, oci_state("creating"), process_->pidfd());
}

// Written down before the processes go on: from then on `delete` knows what to end.
Status Creation::on_restored_pid(pid_t pid) {
    if (process_ && process_->pid() == pid) return {};
    Fd pidfd{kernel::pidfd_open(pid, 0)};
    if (!pidfd) return errno_error("open the restored process", -pidfd.get());
    TRY(directory_->write_init(TRY(identify(pid)), prepared_.cgroup));
    process_.emplace(std::move(pidfd), pid);
    return {};
}

}  // namespace rung::runtime

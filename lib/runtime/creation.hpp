// Creation: a new container from its plan to a process that waits for `start`, and the unwinding when a step fails.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include "base/fd.hpp"
#include "base/result.hpp"
#include "criu/session.hpp"
#include "plan/lower.hpp"
#include "runtime/criu_settings.hpp"
#include "runtime/launch.hpp"
#include "runtime/notify.hpp"
#include "runtime/oci_state.hpp"
#include "runtime/prepare.hpp"
#include "runtime/resctrl.hpp"
#include "runtime/runtime.hpp"
#include "runtime/state.hpp"

namespace rung::runtime {

enum class WhenReady { wait_for_start, go_on };  // `create` and `run`

// What CRIU makes the processes of.
struct Revival {
    criu::Program program = {};
    criu::Options request = {};
    CriuDirectories directories = {};
};

class Creation {
  public:
    Creation(Prepared prepared, CreateOptions options, WhenReady when_ready)
        : prepared_(std::move(prepared)), options_(std::move(options)), when_ready_(when_ready) {}

    // From the claim of the name to the ready process. On failure nothing is left: no process, cgroup or state directory.
    Status build(const std::string& root);
    // `run` only: until the process has become the workload, and its poststart hooks have run.
    Status await_exec();
    // The same as build() with a process that CRIU restores, which goes on where it was.
    Status revive(const std::string& root, Revival revival);

    Launched& process() { return *process_; }
    // Of `run`, when the caller wants to know that the container is ready.
    std::optional<NotifySocket>& notify_socket() { return notify_; }
    const config::Spec& spec() const { return prepared_.plan.spec; }

    // Kills and removes whatever build() made.
    void undo();

  private:
    Status claim(const std::string& root);
    Status prepare_notify_socket();
    Status make_cgroup();
    Status start_unit(pid_t pid);
    Status settle_cgroup();  // what it holds its process to
    Status launch_process();
    Status converse();
    Status on_joined_namespaces();
    Status on_made_networks();
    Status on_listener(const child::Report& report);
    Status on_tree(const child::Report& report);
    Status on_before_pivot();
    Status announce();
    Status tell_caller();  // what files and sockets it named
    Status restore_process(Revival& revival);
    Status place_criu(pid_t pid, criu::Options& request);
    Status on_notification(criu::Session::Received& received, const Fd& console_socket);
    Status on_restored_pid(pid_t pid);
    Error with_hook_output(Error error) const;
    OciState oci_state(const std::string& status) const;

    Prepared prepared_;
    CreateOptions options_;
    WhenReady when_ready_;
    plan::Lowered lowered_ = {};
    std::optional<StateDirectory> directory_ = {};
    bool owns_cgroup_ = false;
    std::optional<ResctrlGroup> resctrl_ = {};
    std::optional<Launched> process_ = {};
    std::optional<NotifySocket> notify_ = {};
    Fd start_fifo_ = {};
    Fd hook_output_ = {};
    bool hooks_have_run_ = false;
    Fd terminal_ = {};  // of a process that is being restored
};

// The foreground of `run` and `restore`: until the process has ended and the container is removed.
Result<int> stay_until_exit(const Globals& globals, const CreateOptions& options, Creation& creation);
// Before the process is made: signals wait for stay_until_exit().
void prepare_to_stay(const CreateOptions& options);

// Writes `pid` under a temporary name and renames it, relative to the working directory (crun 0.15.1).
Status write_pid_file(const std::string& path, pid_t pid);

// The rules for --console-socket: with a terminal and without somebody to hold it, it must be there; without, it must not.
enum class Foreground { yes, no };
Status check_console(const std::string& console_socket, bool terminal, Foreground foreground);

}  // namespace rung::runtime

// Launching: from lowered steps to a process that waits at AwaitStart or has become the workload. `create`, `run` and `exec` share it.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/fd.hpp"
#include "base/result.hpp"
#include "cgroup/cgroup.hpp"
#include "child/report.hpp"
#include "config/spec.hpp"
#include "plan/lower.hpp"
#include "runtime/process.hpp"

namespace rung::runtime {

// What the parent opened for the child, by slot. Slots that the child fills itself stay empty.
using Slots = std::vector<Fd>;

// Namespaces by path and mount trees, each with its attributes and propagation already set.
Result<Slots> open_slots(const plan::Lowered& lowered);

// Everything clone needs besides the program. The descriptors are borrowed.
struct LaunchInputs {
    int start = -1;  // the start FIFO; -1 goes on at once
    int console_socket = -1;
    int hook_output = -1;  // where createContainer and startContainer hooks write
    int cgroup = -1;       // cgroup2 directory for CLONE_INTO_CGROUP
};

// The other end of a child, from clone to exec.
class Launched {
  public:
    Launched(Fd channel, Fd pidfd, pid_t pid)
        : channel_(std::move(channel)), pidfd_(std::move(pidfd)), pid_(pid) {}
    // One that has been made without us: there is nobody to talk to.
    Launched(Fd pidfd, pid_t pid) : pidfd_(std::move(pidfd)), pid_(pid) {}

    pid_t pid() const { return pid_; }
    const Fd& pidfd() const { return pidfd_; }
    Fd take_terminal() { return std::move(terminal_); }
    void keep_terminal(Fd master) { terminal_ = std::move(master); }

    // The next report that is a sync, a listener or `ready`. A failed step becomes the error that describes it; warnings are logged, the
    // terminal and the pid of a second clone are taken in on the way. `lowered` is what was launched.
    Result<child::Report> await_report(const plan::Lowered& lowered);
    // The listener that such a report is about.
    Result<Fd> take_listener(const child::Report& report);
    Fd take_tree() { return std::move(tree_); }  // what came with ReportKind::tree
    // Lets the child go on after a sync, with the cgroup files that it shall write.
    Status answer(const std::vector<Fd>& cgroup_joins);
    // Blocks until the child has become the workload; its failure to do so is the error.
    Status await_exec(const child::Program& program);
    // SIGKILL and reap; for the unwinding of a failed start.
    void kill();

  private:
    Result<std::optional<child::Report>> receive();
    Error describe_death() const;

    Fd channel_ = {};
    Fd pidfd_ = {};
    pid_t pid_ = 0;
    Fd terminal_ = {};
    Fd listener_ = {};
    Fd tree_ = {};
    bool is_second_ = false;  // the process of a second clone, which performs the second of two programs
};

// One clone3, with the child running lowered.program. `lowered`'s time offsets are written and its pid namespace entered before.
Result<Launched> launch(const plan::Lowered& lowered, const Slots& slots, const LaunchInputs& inputs);

// Standard streams that shall belong to the process's user in a user namespace: from inside, nobody may give a file of the host to
// itself (moby#6880). Streams that cannot be given away stay as they are.
void give_streams_to_mapped_user(const config::Linux& linux_config, const config::Process& process);

Status set_rlimits(pid_t pid, const std::vector<config::Rlimit>& rlimits);  // prlimit(2)

// Compiles what lowered.seccomp_sources names into lowered.program.filters.
Status compile_filters(plan::Lowered& lowered, const std::optional<config::Seccomp>& config_seccomp);

}  // namespace rung::runtime

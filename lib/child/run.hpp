// run: what the new process does from the moment clone3 returns in it. Async-signal-safe throughout: no allocation, no lock,
// no exception, no return.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>

#include "child/program.hpp"

namespace rung::child {

// Descriptors the child owns, all CLOEXEC. -1 = not there.
struct Descriptors {
    int channel = -1;  // SOCK_SEQPACKET to the parent (report.hpp)
    int start = -1;    // FIFO opened O_RDWR | O_CLOEXEC; a byte on it is `start`. -1: do not wait (run, exec)
    int console_socket = -1;    // connected AF_UNIX stream for the pty master; -1: send it over `channel`
    int hook_output = -1;       // standard output and error of the container's own hooks; -1: the caller's
    std::span<int> slots = {};  // by Slot
};

// Runs every step, reports the first failure and ends with _exit(1), or becomes the workload.
[[noreturn]] void run(const Program& program, const Descriptors& descriptors) noexcept;

// Executes `first_steps` (joining namespaces that come before others), then clones again with `clone_flags` | CLONE_PARENT, reports the new
// pid as ReportKind::init_pid and ends; the second process continues with run(program).
[[noreturn]] void run_staged(const Program& first_steps, const Program& program, uint64_t clone_flags,
                             const Descriptors& descriptors) noexcept;

}  // namespace rung::child

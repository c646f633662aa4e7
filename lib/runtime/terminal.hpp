// The foreground of `run` and `exec`: the caller's stdio joined to the container's terminal, signals passed on, the exit awaited.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>

#include "base/fd.hpp"
#include "base/result.hpp"
#include "config/process.hpp"
#include "runtime/notify.hpp"

namespace rung::runtime {

// Blocks what relay_until_exit forwards, so that nothing sent between the clone and the relay kills rung or gets
// lost. Call it before the clone; the child empties its own mask.
// Foreground only: there is no way back.
void hold_signals();

// The size of the caller's own terminal, for a program that asks for its window before the relay runs; nothing without one.
std::optional<config::ConsoleSize> caller_window_size();

struct RelayOptions {
    int pidfd = -1;      // of the process to wait for; borrowed
    pid_t init_pid = 0;  // the same process, a child of the caller
    Fd pty_master = {};  // empty: the process has the caller's stdio itself, nothing is copied
    std::optional<NotifySocket> notify = {};
};

// Copies between stdio and the pty (with the caller's terminal raw meanwhile, and its size followed),
// forwards signals to the process, reaps every child of the caller, and returns the process's exit code,
// 128+N when signal N ended it. All that the process wrote has been written to stdout by then. A stdout that
// fails hangs the pty up, as a terminal that is closed does.
Result<int> relay_until_exit(RelayOptions options);

// The exit code for a wait status: 0..255, or 128+N for signal N.
int exit_code(int wait_status);

// A connection to the AF_UNIX stream socket that receives the pty master (--console-socket).
Result<Fd> connect_console_socket(const std::string& path);

}  // namespace rung::runtime

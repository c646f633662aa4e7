// ProcessIdentity: a process that cannot be mistaken for another that got the same pid later (runc#4045).
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string_view>

#include "base/fd.hpp"
#include "base/result.hpp"

namespace rung::runtime {

struct ProcessIdentity {
    pid_t pid = 0;
    uint64_t start_time = 0;  // clock ticks since boot, field 22 of /proc/PID/stat
    bool operator==(const ProcessIdentity&) const = default;
};

struct ProcessStat {
    char state = '?';  // 'Z' zombie, 'X' dead
    uint64_t start_time = 0;
    bool operator==(const ProcessStat&) const = default;
};

// /proc/PID/stat (proc(5)); the name in the second field may hold spaces and parentheses.
std::optional<ProcessStat> parse_stat(std::string_view text);

Result<ProcessIdentity> identify(pid_t pid);

// False for a zombie too: an engine that has not reaped yet sees "stopped".
bool is_alive(const ProcessIdentity& process);

// A pidfd that certainly refers to this very process; an empty Fd when it has gone.
Result<Fd> open_process(const ProcessIdentity& process);

// Until the process is gone or a zombie; an error when it is neither after so many milliseconds (-1: without end).
Status wait_for_exit(const Fd& pidfd, int milliseconds);

// The namespaces by which the process differs from us: joining one's own is refused for some kinds and pointless for all.
Result<int> differing_namespaces(pid_t pid);

}  // namespace rung::runtime

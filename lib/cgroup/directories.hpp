// The directories of a Cgroup, and the processes in them, as the files of this layer walk them.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <chrono>
#include <string>
#include <vector>

#include "base/fd.hpp"
#include "base/result.hpp"
#include "cgroup/cgroup.hpp"

namespace rung::cgroup {

struct Place {
    std::string path = {};
    std::string mount_point = {};
};

// Every directory, v1 in mount order, then the one on cgroup2. Never a mount point itself: a hierarchy's root
// holds the whole machine, and nothing may be killed or removed there.
std::vector<Place> places(const Cgroup& cgroup);
// The one on the cgroup2 mount, v2 or hybrid, and the v1 freezer's; empty when there is none.
std::string unified_of(const Cgroup& cgroup);
std::string freezer_of(const Cgroup& cgroup);
// Where to look for the container's processes: on a hybrid host they are on the cgroup2 mount and in every v1
// hierarchy, of which one is enough.
std::vector<std::string> member_places(const Cgroup& cgroup);

// Removed, or never there; both errors say so (runc 1.2.2).
bool is_gone(const Error& error);
std::string without_newline(std::string text);

using Deadline = std::chrono::steady_clock::time_point;
int milliseconds_until(Deadline deadline);  // never negative

// Paths of the cgroups right beneath; none when `path` is gone.
Result<std::vector<std::string>> subdirectories(const std::string& path);

Result<std::vector<pid_t>> pids_in(const std::string& path);  // of this directory alone
// Processes of the directory and of all beneath it, sorted, each once.
Result<std::vector<pid_t>> pids_below(const std::string& path);

// A process that was in the cgroup after its pidfd was opened: a signal through it never reaches a stranger
// that got the same number.
struct Member {
    pid_t pid = 0;
    Fd pidfd = {};
};
Result<std::vector<Member>> hold_members(const std::string& path, const std::vector<pid_t>& candidates);
void signal_members(const std::vector<Member>& members, int signal);
void wait_for_members(const std::vector<Member>& members, Deadline deadline);

// Thaws the v1 freezer at `path` and all beneath it: a frozen task does not even take SIGKILL.
void thaw_below(const std::string& path);

}  // namespace rung::cgroup

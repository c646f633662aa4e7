// Removing a cgroup with everything that was made beneath it.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cerrno>
#include <csignal>
#include <thread>

#include "cgroup/cgroup.hpp"
#include "cgroup/directories.hpp"
#include "cgroup/systemd.hpp"
#include "kernel/files.hpp"

namespace rung::cgroup {

namespace {

using namespace std::chrono_literals;

constexpr auto kPatience = 5s;

// True when the directory is gone, false when it is still in use.
Result<bool> try_to_remove(const std::string& path) {
    const Status removed = kernel::remove_directory(path);
    if (removed || is_gone(removed.error())) return true;
    if (removed.error().errno_value == EBUSY) return false;
    return removed.error();
}

// Kills what is in `path` and waits for it. Without a process to wait for, an exiting one still holds the
// cgroup for an instant, and nothing tells when that ends.
Status empty(const std::string& path, std::chrono::microseconds pause, Deadline deadline) {
    const std::vector<Member> members = TRY(hold_members(path, TRY(pids_below(path))));
    signal_members(members, SIGKILL);
    thaw_below(path);
    wait_for_members(members, deadline);
    if (members.empty()) std::this_thread::sleep_for(pause);
    return {};
}

Status remove_below(const std::string& path, Deadline deadline) {
    if (TRY(try_to_remove(path))) return {};
    for (auto pause = 100us;; pause = std::min(2 * pause, 20'000us)) {
        for (const std::string& child : TRY(subdirectories(path)))
            TRY(remove_below(child, deadline));
        if (TRY(try_to_remove(path))) return {};
        if (milliseconds_until(deadline) == 0) return errno_error("rmdir " + path, EBUSY);
        TRY(empty(path, pause, deadline));
    }
}

}  // namespace

Status remove(const Cgroup& cgroup) {
    if (cgroup.unit) {
        // systemd would give what is left its own time to end, 90 s.
        TRY(kill_all(cgroup));
        stop_unit(cgroup);
    }
    const Deadline deadline = std::chrono::steady_clock::now() + kPatience;
    Status first_failure;
    for (const Place& place : places(cgroup)) {
        Status removed = remove_below(place.path, deadline);
        if (!removed && first_failure) first_failure = std::move(removed);
    }
    return first_failure;
}

}  // namespace rung::cgroup

// Signals for every process of a cgroup.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cerrno>
#include <csignal>
#include <iterator>
#include <set>

#include "cgroup/cgroup.hpp"
#include "cgroup/directories.hpp"
#include "kernel/files.hpp"

namespace rung::cgroup {

namespace {

using namespace std::chrono_literals;

// A process that takes longer to die is stuck in the kernel, and waiting on would not help.
constexpr auto kPatience = 10s;
// So often new children are looked for; a fork bomb that outruns this is for kill_all.
constexpr int kMostRounds = 64;

// Linux 5.14 kills a whole cgroup2 subtree at once, and what it forks meanwhile. Elsewhere a frozen v1 cgroup
// cannot fork while its members are signalled one by one; it need not be frozen to the last task for that to
// converge.
void stop_forking(const Cgroup& cgroup, const std::string& path) {
    if (kernel::write_file(path + "/cgroup.kill", "1")) return;
    const std::string freezer = freezer_of(cgroup);
    if (!freezer.empty()) (void)kernel::write_file(freezer + "/freezer.state", "FROZEN");
}

Status kill_below(const Cgroup& cgroup, const std::string& path, Deadline deadline) {
    const std::string freezer = freezer_of(cgroup);
    for (;;) {
        const std::vector<pid_t> pids = TRY(pids_below(path));
        if (pids.empty()) return {};
        stop_forking(cgroup, path);
        const Result<std::vector<Member>> members = hold_members(path, pids);
        if (members) signal_members(*members, SIGKILL);
        // On every path out of here, and after the signal: a thawed task then dies before it runs again.
        if (!freezer.empty()) thaw_below(freezer);
        if (!members) return members.error();
        wait_for_members(*members, deadline);
        if (milliseconds_until(deadline) == 0) {
            return Error{.message = std::to_string(pids.size()) + " process(es) in " + path +
                                    " did not end after SIGKILL"};
        }
    }
}

Status signal_below(const std::string& path, int signal) {
    std::set<pid_t> signalled;
    for (int round = 0; round < kMostRounds; ++round) {
        std::vector<pid_t> fresh;
        for (const pid_t pid : TRY(pids_below(path))) {
            if (!signalled.contains(pid)) fresh.push_back(pid);
        }
        const std::vector<Member> members = TRY(hold_members(path, fresh));
        if (members.empty()) return {};
        signal_members(members, signal);
        for (const Member& member : members)
            signalled.insert(member.pid);
    }
    return {};
}

}  // namespace

Result<std::vector<pid_t>> processes(const Cgroup& cgroup) {
    std::vector<pid_t> all;
    for (const std::string& path : member_places(cgroup)) {
        const std::vector<pid_t> pids = TRY(pids_below(path));
        std::vector<pid_t> united;
        std::set_union(all.begin(), all.end(), pids.begin(), pids.end(), std::back_inserter(united));
        all = std::move(united);
    }
    return all;
}

Status kill_all(const Cgroup& cgroup) {
    const Deadline deadline = std::chrono::steady_clock::now() + kPatience;
    for (const std::string& path : member_places(cgroup))
        TRY(kill_below(cgroup, path, deadline));
    return {};
}

Status signal_all(const Cgroup& cgroup, int signal) {
    if (signal == SIGKILL) return kill_all(cgroup);
    const std::vector<std::string> paths = member_places(cgroup);
    if (paths.empty()) return {};
    return signal_below(paths.front(), signal);
}

}  // namespace rung::cgroup

// Stopping and continuing all processes of a cgroup at once. On a hybrid host the cgroup2 freezer is used:
// its tasks still die of SIGKILL, and it tells when it is done, which the v1 freezer does not.
// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <thread>

#include "base/scope_exit.hpp"
#include "cgroup/cgroup.hpp"
#include "cgroup/directories.hpp"
#include "kernel/files.hpp"

namespace rung::cgroup {

namespace {

using namespace std::chrono_literals;

constexpr auto kPatience = 10s;

// cgroup.events is polled with POLLPRI and read anew from its start; admin-guide/cgroup-v2.
Status wait_for_event(const std::string& path, const std::string& event) {
    const std::string name = path + "/cgroup.events";
    const Fd events = TRY(kernel::open_at(AT_FDCWD, name, O_RDONLY));
    const Deadline deadline = std::chrono::steady_clock::now() + kPatience;
    for (;;) {
        if (::lseek(events.get(), 0, SEEK_SET) == -1) return errno_error("seek " + name, errno);
        if (TRY(kernel::read_all(events, name)).find(event + "\n") != std::string::npos) return {};
        pollfd waiting{.fd = events.get(), .events = POLLPRI, .revents = 0};
        if (::poll(&waiting, 1, milliseconds_until(deadline)) == 0) return errno_error(path, ETIMEDOUT);
    }
}

Status freeze_v2(const std::string& path) {
    TRY(kernel::write_file(path + "/cgroup.freeze", "1"));
    ScopeExit undo{[&] { (void)kernel::write_file(path + "/cgroup.freeze", "0"); }};
    TRY(wait_for_event(path, "frozen 1").context("unable to freeze"));
    undo.dismiss();
    return {};
}

// The v1 freezer makes progress only when its state is read, and knows no event: the one place that has to
// sleep.
Status freeze_v1(const std::string& path) {
    const std::string file = path + "/freezer.state";
    const Deadline deadline = std::chrono::steady_clock::now() + kPatience;
    ScopeExit undo{[&] { (void)kernel::write_file(file, "THAWED"); }};
    for (auto pause = 10us; milliseconds_until(deadline) > 0; pause = std::min(2 * pause, 10'000us)) {
        // Written each time: a task forked while the state was FREEZING may have been missed.
        TRY(kernel::write_file(file, "FROZEN"));
        if (without_newline(TRY(kernel::read_file(file))) == "FROZEN") {
            undo.dismiss();
            return {};
        }
        std::this_thread::sleep_for(pause);
    }
    return errno_error("unable to freeze: " + path, ETIMEDOUT);
}

bool has_v2_freezer(const std::string& unified) {
    return !unified.empty() && kernel::exists(unified + "/cgroup.freeze");
}

// The text of a state file; empty when the cgroup is gone.
Result<std::string> read_state(const std::string& file) {
    Result<std::string> text = kernel::read_file(file);
    if (!text && is_gone(text.error())) return std::string{};
    return without_newline(TRY(std::move(text)));
}

}  // namespace

void thaw_below(const std::string& path) {
    const std::string file = path + "/freezer.state";
    if (const Result<std::string> state = kernel::read_file(file); state && *state != "THAWED\n") {
        (void)kernel::write_file(file, "THAWED");  // it may be gone
    }
    const Result<std::vector<std::string>> children = subdirectories(path);
    if (!children) return;
    for (const std::string& child : *children)
        thaw_below(child);
}

Status freeze(const Cgroup& cgroup) {
    const std::string unified = unified_of(cgroup);
    if (has_v2_freezer(unified)) return freeze_v2(unified);
    const std::string freezer = freezer_of(cgroup);
    if (!freezer.empty()) return freeze_v1(freezer);
    return Error{.message = "this host has no freezer controller"};
}

Status thaw(const Cgroup& cgroup) {
    // Both, whichever froze it.
    const std::string unified = unified_of(cgroup);
    if (has_v2_freezer(unified)) {
        Status thawed = kernel::write_file(unified + "/cgroup.freeze", "0");
        if (thawed) thawed = wait_for_event(unified, "frozen 0").context("unable to thaw");
        if (!thawed && !is_gone(thawed.error())) return thawed;
    }
    const std::string freezer = freezer_of(cgroup);
    if (freezer.empty()) return {};
    const Status written = kernel::write_file(freezer + "/freezer.state", "THAWED");
    if (!written && !is_gone(written.error())) return written;
    return {};
}

Status take_back_from_other_freezer(const Cgroup& cgroup, pid_t pid) {
    const std::string freezer = freezer_of(cgroup);
    if (freezer.empty()) return {};
    const std::vector<pid_t> members = TRY(pids_below(freezer));
    if (std::binary_search(members.begin(), members.end(), pid)) return {};
    return kernel::write_file(freezer + "/cgroup.procs", std::to_string(pid));
}

Result<bool> is_frozen(const Cgroup& cgroup) {
    const std::string unified = unified_of(cgroup);
    if (!unified.empty() && TRY(read_state(unified + "/cgroup.freeze")) == "1") return true;
    const std::string freezer = freezer_of(cgroup);
    if (freezer.empty()) return false;
    const std::string state = TRY(read_state(freezer + "/freezer.state"));
    return state == "FROZEN" || state == "FREEZING";
}

}  // namespace rung::cgroup

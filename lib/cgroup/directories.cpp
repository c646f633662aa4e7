// Which directories a cgroup has, and which processes are in them.
// SPDX-License-Identifier: Apache-2.0
#include "cgroup/directories.hpp"

#include <poll.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <charconv>

#include "kernel/files.hpp"
#include "kernel/syscalls.hpp"

namespace rung::cgroup {

namespace {

// Descriptors are a bounded resource (RLIMIT_NOFILE); callers come back for the rest.
constexpr size_t kMostHeld = 256;

std::vector<pid_t> parse_pids(const std::string& text) {
    std::vector<pid_t> pids;
    const char* at = text.data();
    const char* const end = text.data() + text.size();
    while (at < end) {
        pid_t pid = 0;
        const auto parsed = std::from_chars(at, end, pid);
        if (parsed.ec != std::errc{}) break;
        // 0 stands for a process that this pid namespace cannot see.
        if (pid > 0) pids.push_back(pid);
        at = parsed.ptr + 1;
    }
    return pids;
}

Result<std::vector<pid_t>> walk(const std::string& path, const std::string& file) {
    Result<std::string> text = kernel::read_file(path + "/" + file);
    if (!text && is_gone(text.error())) return std::vector<pid_t>{};
    std::vector<pid_t> pids = parse_pids(TRY(std::move(text)));
    for (const std::string& child : TRY(subdirectories(path))) {
        const Result<std::vector<pid_t>> more = walk(child, file);
        // A threaded cgroup has no list of processes: theirs are listed by the domain above it, which was
        // read already.
        if (!more && more.error().errno_value == EOPNOTSUPP) continue;
        if (!more) return more.error();
        pids.insert(pids.end(), more->begin(), more->end());
    }
    return pids;
}

std::string unless_mount_point(const std::string& path, const std::string& mount_point) {
    return path == mount_point ? std::string{} : path;
}

}  // namespace

std::string unified_of(const Cgroup& cgroup) {
    return unless_mount_point(cgroup.unified, cgroup.unified_mount_point);
}

std::string freezer_of(const Cgroup& cgroup) {
    for (const Directory& directory : cgroup.v1) {
        const auto& names = directory.controllers;
        if (std::find(names.begin(), names.end(), "freezer") == names.end()) continue;
        return unless_mount_point(directory.path, directory.mount_point);
    }
    return {};
}

std::vector<Place> places(const Cgroup& cgroup) {
    std::vector<Place> all;
    for (const Directory& directory : cgroup.v1) {
        if (directory.path == directory.mount_point) continue;
        all.push_back({.path = directory.path, .mount_point = directory.mount_point});
    }
    const std::string unified = unified_of(cgroup);
    if (!unified.empty()) all.push_back({.path = unified, .mount_point = cgroup.unified_mount_point});
    return all;
}

std::vector<std::string> member_places(const Cgroup& cgroup) {
    std::vector<std::string> paths;
    if (const std::string unified = unified_of(cgroup); !unified.empty()) paths.push_back(unified);
    const std::string freezer = freezer_of(cgroup);
    if (!freezer.empty()) {
        paths.push_back(freezer);
        return paths;
    }
    for (const Directory& directory : cgroup.v1) {
        if (directory.path == directory.mount_point) continue;
        paths.push_back(directory.path);
        break;
    }
    return paths;
}

bool is_gone(const Error& error) {
    return error.errno_value == ENOENT || error.errno_value == ENODEV;
}

std::string without_newline(std::string text) {
    while (text.ends_with('\n'))
        text.pop_back();
    return text;
}

int milliseconds_until(Deadline deadline) {
    const auto left = deadline - std::chrono::steady_clock::now();
    const auto rounded_up = std::chrono::ceil<std::chrono::milliseconds>(left).count();
    return static_cast<int>(std::clamp<int64_t>(rounded_up, 0, 60'000));
}

Result<std::vector<std::string>> subdirectories(const std::string& path) {
    // cgroupfs counts them as links, like classic file systems: two for a directory without any. This is the
    // usual case.
    struct stat facts = {};
    if (::stat(path.c_str(), &facts) == 0 && facts.st_nlink == 2) return std::vector<std::string>{};
    const Result<std::vector<std::string>> names = kernel::list_subdirectories(path);
    if (!names && is_gone(names.error())) return std::vector<std::string>{};
    if (!names) return names.error();
    std::vector<std::string> paths;
    for (const std::string& name : *names)
        paths.push_back(path + "/" + name);
    return paths;
}

Result<std::vector<pid_t>> pids_in(const std::string& path) {
    return parse_pids(TRY(kernel::read_file(path + "/cgroup.procs")));
}

Result<std::vector<pid_t>> pids_below(const std::string& path) {
    Result<std::vector<pid_t>> walked = walk(path, "cgroup.procs");
    if (!walked && walked.error().errno_value == EOPNOTSUPP) walked = walk(path, "cgroup.threads");
    std::vector<pid_t> pids = TRY(std::move(walked));
    std::sort(pids.begin(), pids.end());
    pids.erase(std::unique(pids.begin(), pids.end()), pids.end());
    return pids;
}

Result<std::vector<Member>> hold_members(const std::string& path, const std::vector<pid_t>& candidates) {
    std::vector<Member> members;
    for (const pid_t pid : candidates) {
        if (members.size() == kMostHeld) break;
        const int pidfd = kernel::pidfd_open(pid, 0);
        if (pidfd >= 0) members.push_back({.pid = pid, .pidfd = Fd{pidfd}});
    }
    if (members.empty()) return members;
    // Only now is it sure whom each pidfd names.
    const std::vector<pid_t> still_there = TRY(pids_below(path));
    std::erase_if(members, [&](const Member& member) {
        return !std::binary_search(still_there.begin(), still_there.end(), member.pid);
    });
    return members;
}

void signal_members(const std::vector<Member>& members, int signal) {
    for (const Member& member : members) {
        (void)kernel::pidfd_send_signal(member.pidfd.get(), signal, 0);  // it may have ended
    }
}

void wait_for_members(const std::vector<Member>& members, Deadline deadline) {
    for (const Member& member : members) {
        pollfd waiting{.fd = member.pidfd.get(), .events = POLLIN, .revents = 0};
        if (::poll(&waiting, 1, milliseconds_until(deadline)) == 0) return;
    }
}

}  // namespace rung::cgroup

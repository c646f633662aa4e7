// Identity of processes by pid and start time.
// SPDX-License-Identifier: Apache-2.0
#include "runtime/process.hpp"

#include <poll.h>
#include <sched.h>
#include <sys/stat.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <string>

#include "kernel/files.hpp"
#include "kernel/syscalls.hpp"
#include "runtime/wording.hpp"

namespace rung::runtime {
namespace {

constexpr size_t kMaxStat = 4096;

std::optional<ProcessStat> read_stat(pid_t pid) {
    const auto text = kernel::read_file("/proc/" + std::to_string(pid) + "/stat", kMaxStat);
    if (!text) return {};
    return parse_stat(*text);
}

struct NamespaceFile {
    const char* name = nullptr;
    int flag = 0;
};

constexpr std::array<NamespaceFile, 8> kNamespaceFiles{{{"user", CLONE_NEWUSER},
                                                        {"mnt", CLONE_NEWNS},
                                                        {"pid", CLONE_NEWPID},
                                                        {"net", CLONE_NEWNET},
                                                        {"ipc", CLONE_NEWIPC},
                                                        {"uts", CLONE_NEWUTS},
                                                        {"cgroup", CLONE_NEWCGROUP},
                                                        {"time", CLONE_NEWTIME}}};

}  // namespace

std::optional<ProcessStat> parse_stat(std::string_view text) {
    const size_t name_end = text.rfind(')');
    if (name_end == std::string_view::npos || name_end + 2 >= text.size()) return {};
    std::string_view rest = text.substr(name_end + 2);
    ProcessStat stat{.state = rest.front()};

    // The state is field 3; the start time is field 22, nineteen spaces on.
    for (int field = 3; field < 22; ++field) {
        const size_t space = rest.find(' ');
        if (space == std::string_view::npos) return {};
        rest.remove_prefix(space + 1);
    }
    const auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), stat.start_time);
    if (error != std::errc{} || end == rest.data()) return {};
    return stat;
}

Result<ProcessIdentity> identify(pid_t pid) {
    const auto stat = read_stat(pid);
    if (!stat) return errno_error("process " + std::to_string(pid), ESRCH);
    return ProcessIdentity{.pid = pid, .start_time = stat->start_time};
}

bool is_alive(const ProcessIdentity& process) {
    const auto stat = read_stat(process.pid);
    return stat && stat->start_time == process.start_time && stat->state != 'Z' && stat->state != 'X';
}

Result<Fd> open_process(const ProcessIdentity& process) {
    Fd pidfd{kernel::pidfd_open(process.pid, 0)};
    if (!pidfd) {
        if (pidfd.get() == -ESRCH) return Fd{};
        return errno_error("open process " + std::to_string(process.pid), -pidfd.get());
    }
    // Only now: while the pidfd is held, the pid cannot be given to another process.
    if (!is_alive(process)) return Fd{};
    return pidfd;
}

Status wait_for_exit(const Fd& pidfd, int milliseconds) {
    pollfd watched{.fd = pidfd.get(), .events = POLLIN, .revents = 0};
    int ready = 0;
    while ((ready = poll(&watched, 1, milliseconds)) < 0) {
        if (errno != EINTR) return errno_error("wait for the container's process", errno);
    }
    if (ready == 0) return Error{.message = std::string{wording::kStillRunning}};
    return {};
}

Result<int> differing_namespaces(pid_t pid) {
    int flags = 0;
    for (const NamespaceFile& file : kNamespaceFiles) {
        struct stat theirs {};
        struct stat ours {};
        const std::string path = "/proc/" + std::to_string(pid) + "/ns/" + file.name;
        const std::string own = std::string{"/proc/self/ns/"} + file.name;
        if (stat(own.c_str(), &ours) < 0) continue;  // a kernel without this kind
        if (stat(path.c_str(), &theirs) < 0) return errno_error(path, errno);
        if (ours.st_ino != theirs.st_ino || ours.st_dev != theirs.st_dev) flags |= file.flag;
    }
    return flags;
}

}  // namespace rung::runtime

// wait: the end of a container's process, seen by somebody who is not its parent.
// SPDX-License-Identifier: Apache-2.0
#include <sys/ioctl.h>

#include <charconv>
#include <cstdint>

#include "kernel/files.hpp"
#include "kernel/syscalls.hpp"
#include "runtime/container.hpp"
#include "runtime/runtime.hpp"
#include "runtime/terminal.hpp"
#include "runtime/wording.hpp"

namespace rung::runtime {
namespace {

// linux/pidfd.h of Linux 6.15, which Debian 12's headers do not have yet.
struct PidfdInfo {
    uint64_t mask = 0;
    uint64_t cgroup_id = 0;
    uint32_t ids[11] = {};
    int32_t exit_code = 0;
};
constexpr uint64_t kInfoExit = 1 << 3;
constexpr unsigned long kGetInfo = _IOWR(0xFF, 11, PidfdInfo);

// The last field of a zombie's /proc/PID/stat: proc(5), exit_code.
std::optional<int> status_of_zombie(const ProcessIdentity& process) {
    const auto text = kernel::read_file("/proc/" + std::to_string(process.pid) + "/stat");
    if (!text) return {};
    const auto stat = parse_stat(*text);
    if (!stat || stat->start_time != process.start_time) return {};
    const size_t end = text->find_last_not_of('\n') + 1;
    const size_t begin = text->rfind(' ', end - 1) + 1;
    int status = 0;
    const auto [stopped, error] = std::from_chars(text->data() + begin, text->data() + end, status);
    if (error != std::errc{} || stopped != text->data() + end) return {};
    return status;
}

// Once its parent has reaped it only the pidfd knows.
std::optional<int> status_of_reaped(const Fd& pidfd) {
    PidfdInfo info{.mask = kInfoExit};
    if (ioctl(pidfd.get(), kGetInfo, &info) != 0 || (info.mask & kInfoExit) == 0) return {};
    return info.exit_code;
}

}  // namespace

Result<int> wait(const Globals& globals, const std::string& id) {
    const Container container = TRY(open_container(globals, id));
    const auto init = container.directory.read_init();
    if (!init) return Error{.message = std::string{wording::kNotRunning}};
    const Fd pidfd{kernel::pidfd_open(init->pid, 0)};
    // The number may belong to a stranger by now.
    const auto found = identify(init->pid);
    if (!pidfd || !found || found->start_time != init->start_time)
        return Error{.message = std::string{wording::kNotRunning}};
    TRY(wait_for_exit(pidfd, -1));

    if (const auto status = status_of_zombie(*init)) return exit_code(*status);
    if (const auto status = status_of_reaped(pidfd)) return exit_code(*status);
    return Error{.message =
                     "the container's process has ended and been reaped by its parent; before Linux 6.15 its "
                     "exit status is "
                     "then known to that parent only"};
}

}  // namespace rung::runtime

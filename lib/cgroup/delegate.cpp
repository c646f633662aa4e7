// Handing a cgroup over to the container's user: the directory, so that it may make others below, and the files
// that move processes and pass controllers on. The limits stay root's.
// SPDX-License-Identifier: Apache-2.0
#include <unistd.h>

#include <cerrno>

#include "cgroup/cgroup.hpp"
#include "cgroup/directories.hpp"
#include "kernel/files.hpp"

namespace rung::cgroup {

namespace {

// Which files those are the kernel says, since Linux 4.15.
std::string delegated_files() {
    const Result<std::string> listed = kernel::read_file("/sys/kernel/cgroup/delegate");
    return listed ? *listed : "cgroup.procs\ncgroup.threads\ncgroup.subtree_control\n";
}

}  // namespace

Status give_to(const Cgroup& cgroup, uint32_t owner) {
    const std::string unified = unified_of(cgroup);
    if (cgroup.layout != kernel::CgroupLayout::v2 || unified.empty() || owner == ::geteuid()) return {};
    if (::chown(unified.c_str(), owner, static_cast<gid_t>(-1)) != 0)
        return errno_error("chown " + unified, errno);
    std::string name;
    for (const char letter : delegated_files()) {
        if (letter != '\n') {
            name += letter;
            continue;
        }
        const std::string path = unified + "/" + name;
        name.clear();
        // A controller that is not there has no file.
        if (::chown(path.c_str(), owner, static_cast<gid_t>(-1)) != 0 && errno != ENOENT)
            return errno_error("chown " + path, errno);
    }
    return {};
}

}  // namespace rung::cgroup

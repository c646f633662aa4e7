// The kernel takes the mapping from a user namespace. One of the container's own exists already, or is yet to be made; in both cases, and for
// mappings of a single mount, a namespace without processes is enough: a process makes it, and is gone before the container is there.
// SPDX-License-Identifier: Apache-2.0
#include "runtime/id_mapped.hpp"

#include <fcntl.h>
#include <limits.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>

#include "base/path.hpp"
#include "base/scope_exit.hpp"
#include "kernel/files.hpp"
#include "kernel/syscalls.hpp"
#include "runtime/bind_sources.hpp"
#include "runtime/id_maps.hpp"
#include "runtime/launch.hpp"

namespace rung::runtime {
namespace {

// Holds nothing of the parent's, whose death it must neither miss nor hide.
[[noreturn]] void stay_until_killed(pid_t parent) {
    (void)prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
    if (getppid() != parent) _exit(1);
    (void)kernel::close_range(0, ~0U, 0);
    while (true)
        (void)pause();
}

Result<Fd> make_user_namespace(const plan::IdMap& map) {
    clone_args arguments{};
    arguments.flags = CLONE_NEWUSER;
    arguments.exit_signal = SIGCHLD;
    const pid_t parent = getpid();
    const int pid = kernel::clone3(arguments);
    if (pid == 0) stay_until_killed(parent);
    if (pid < 0) return errno_error("make a user namespace for the mapping", -pid);
    const ScopeExit end{[pid] {
        (void)kill(pid, SIGKILL);
        (void)waitpid(pid, nullptr, 0);
    }};
    const config::Linux mappings{.uid_mappings = map.uids, .gid_mappings = map.gids};
    TRY(write_id_mappings(pid, mappings, plan::Lowered{}));
    return kernel::open_at(AT_FDCWD, "/proc/" + std::to_string(pid) + "/ns/user", O_RDONLY);
}

// The type of the file system that holds `source`; empty when the table of mounts does not say.
std::string filesystem_of(const std::string& source) {
    char real[PATH_MAX];
    const auto table = kernel::read_file("/proc/self/mountinfo");
    if (!table || realpath(source.c_str(), real) == nullptr) return {};
    MountedFilesystem holding;
    for (const MountedFilesystem& mount : parse_mountinfo(*table)) {
        if (path::covers(mount.mount_point, real) && mount.mount_point.size() >= holding.mount_point.size())
            holding = mount;
    }
    return holding.type;
}

}  // namespace

Status map_ids(const Fd& tree, const std::string& source, const plan::IdMap& map) {
    const Fd user =
        map.path.empty() ? TRY(make_user_namespace(map)) : TRY(kernel::open_at(AT_FDCWD, map.path, O_RDONLY));
    mount_attr attributes{};
    attributes.attr_set = MOUNT_ATTR_IDMAP;
    attributes.userns_fd = static_cast<uint64_t>(user.get());
    const unsigned int flags = AT_EMPTY_PATH | (map.recursive ? AT_RECURSIVE : 0U);
    const int result = kernel::mount_setattr(tree.get(), "", flags, attributes);
    if (result == -EINVAL) {
        const std::string type = filesystem_of(source);
        return Error{.message = "the file system of " + source + (type.empty() ? "" : ", " + type + ",") +
                                " does not support id-mapped mounts",
                     .errno_value = EINVAL};
    }
    if (result < 0) return errno_error("map the ids of " + source, -result);
    return {};
}

}  // namespace rung::runtime

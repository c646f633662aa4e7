// Opening a cgroup for a process to enter.
// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>

#include <algorithm>
#include <cerrno>

#include "base/log.hpp"
#include "cgroup/cgroup.hpp"
#include "cgroup/directories.hpp"
#include "cgroup/systemd.hpp"
#include "kernel/files.hpp"

namespace rung::cgroup {

namespace {

// The directory that lists `pid`, from `path` down; empty when none does.
Result<std::string> find_member(const std::string& path, pid_t pid) {
    // A threaded cgroup lists no processes, only threads.
    Result<std::vector<pid_t>> own = pids_in(path);
    if (own && std::find(own->begin(), own->end(), pid) != own->end()) return path;
    for (const std::string& child : TRY(subdirectories(path))) {
        std::string found = TRY(find_member(child, pid));
        if (!found.empty()) return found;
    }
    return std::string{};
}

// "/in" for ".../UNIT/in"; empty for the unit's own directory.
std::string below_unit(const Cgroup& cgroup, const std::string& path) {
    const std::string name = "/" + cgroup.unit->name;
    const size_t at = path.find(name + "/");
    return at == std::string::npos ? "" : path.substr(at + name.size());
}

}  // namespace

Result<std::vector<Fd>> open_join_files(const Cgroup& cgroup) {
    std::vector<Fd> files;
    for (const Directory& directory : cgroup.v1) {
        // `tasks`, not `cgroup.procs`: moving the caller's one thread skips the kernel's wait for every other
        // one.
        files.push_back(TRY(kernel::open_at(AT_FDCWD, directory.path + "/tasks", O_WRONLY)));
    }
    return files;
}

Result<Fd> open_unified(const Cgroup& cgroup) {
    if (cgroup.unified.empty()) return Fd{};
    return kernel::open_at(AT_FDCWD, cgroup.unified, O_PATH | O_DIRECTORY);
}

Result<Fd> open_unified_of(const Cgroup& cgroup, pid_t member) {
    const std::string unified = unified_of(cgroup);
    if (unified.empty()) return Fd{};
    const std::string path = TRY(find_member(unified, member));
    if (path.empty()) return Fd{};
    return kernel::open_at(AT_FDCWD, path, O_PATH | O_DIRECTORY);
}

Status move_into(const Cgroup& cgroup, pid_t pid) {
    for (const Place& place : places(cgroup))
        TRY(kernel::write_file(place.path + "/cgroup.procs", std::to_string(pid)));
    return {};
}

Status bring_in(const Cgroup& cgroup, pid_t pid, pid_t member) {
    if (cgroup.unit) {
        const Status attached = attach_to_unit(cgroup, below_unit(cgroup, cgroup.unified), pid);
        if (attached) return {};
        log::debug(attached.error().message);
        const std::string deeper = member == 0 ? "" : TRY(find_member(unified_of(cgroup), member));
        if (!deeper.empty() && attach_to_unit(cgroup, below_unit(cgroup, deeper), pid)) return {};
    }
    return Error{.message = "the process stays outside of " + cgroup.unified +
                            ", which this user may not move it to"};
}

}  // namespace rung::cgroup

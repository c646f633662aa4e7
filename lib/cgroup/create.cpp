// Making a container's cgroup.
// SPDX-License-Identifier: Apache-2.0
#include <cerrno>
#include <string_view>

#include "base/path.hpp"
#include "cgroup/cgroup.hpp"
#include "cgroup/controllers.hpp"
#include "cgroup/directories.hpp"
#include "cgroup/systemd.hpp"
#include "cgroup/wording.hpp"
#include "kernel/files.hpp"

namespace rung::cgroup {

namespace {

// The directories that were not there before, removed again unless kept.
class NewDirectories {
  public:
    enum class Found { absent, present };

    NewDirectories() = default;
    NewDirectories(const NewDirectories&) = delete;
    NewDirectories& operator=(const NewDirectories&) = delete;
    ~NewDirectories() {
        for (auto path = made_.rbegin(); path != made_.rend(); ++path)
            (void)kernel::remove_directory(*path);
    }
    void keep() { made_.clear(); }

    // With parents; tells what was found at `path`.
    Result<Found> make(const std::string& path) {
        Result<Found> made = make_one(path);
        if (made || made.error().errno_value != ENOENT || path == "/") return made;
        (void)TRY(make(path::parent(path)));
        return make_one(path);
    }

  private:
    Result<Found> make_one(const std::string& path) {
        const Status made = kernel::make_directory(path, 0755);
        if (!made && made.error().errno_value == EEXIST) return Found::present;
        if (!made) return made.error();
        made_.push_back(path);
        return Found::absent;
    }

    std::vector<std::string> made_ = {};
};

// A new v1 cpuset has no cpus and no memory nodes, and takes no task before it has both.
Status inherit_cpuset(const std::string& path) {
    for (const std::string_view name : {"cpuset.cpus", "cpuset.mems"}) {
        const std::string file{name};
        if (!without_newline(TRY(kernel::read_file(path + "/" + file))).empty()) continue;
        const std::string parent = path::parent(path);
        std::string inherited = without_newline(TRY(kernel::read_file(parent + "/" + file)));
        if (inherited.empty()) {
            TRY(inherit_cpuset(parent));
            inherited = without_newline(TRY(kernel::read_file(parent + "/" + file)));
        }
        TRY(kernel::write_file(path + "/" + file, inherited));
    }
    return {};
}

Status require_unused(const Cgroup& cgroup, const std::string& path) {
    const std::vector<pid_t> pids = TRY(pids_below(path));
    if (!pids.empty()) {
        return Error{.message = std::string{wording::kNotEmpty} + ": " + std::to_string(pids.size()) +
                                " process(es) found in " + path};
    }
    if (TRY(is_frozen(cgroup))) return Error{.message = std::string{wording::kFrozen} + ": " + path};
    return {};
}

Status refuse_root(const std::string& path, const std::string& mount_point) {
    if (path.empty() || path != mount_point) return {};
    return Error{.message = "linux.cgroupsPath names " + path +
                            ", the root of a hierarchy, which is not for a container"};
}

Status refuse_roots(const Cgroup& cgroup) {
    for (const Directory& directory : cgroup.v1)
        TRY(refuse_root(directory.path, directory.mount_point));
    return refuse_root(cgroup.unified, cgroup.unified_mount_point);
}

}  // namespace

Status check_unused(const Cgroup& cgroup) {
    TRY(refuse_roots(cgroup));
    for (const Place& place : places(cgroup)) {
        if (kernel::exists(place.path)) TRY(require_unused(cgroup, place.path));
    }
    return {};
}

Status make_missing_directories(const Cgroup& cgroup) {
    NewDirectories directories;
    for (const Place& place : places(cgroup))
        (void)TRY(directories.make(place.path));
    const std::string cpuset = cgroup.layout == kernel::CgroupLayout::v1 ? cgroup.directory_of("cpuset") : "";
    if (!cpuset.empty()) TRY(inherit_cpuset(cpuset));
    directories.keep();
    return {};
}

Status create(const Cgroup& cgroup) {
    TRY(refuse_roots(cgroup));
    NewDirectories directories;
    for (const Place& place : places(cgroup)) {
        const auto found = TRY(directories.make(place.path));
        if (found == NewDirectories::Found::present) TRY(require_unused(cgroup, place.path));
    }
    if (cgroup.layout == kernel::CgroupLayout::v1) {
        const std::string cpuset = cgroup.directory_of("cpuset");
        if (!cpuset.empty()) TRY(inherit_cpuset(cpuset));
    }
    if (cgroup.layout == kernel::CgroupLayout::v2 && !cgroup.unified.empty()) {
        enable_controllers(cgroup.unified_mount_point, cgroup.unified);
    }
    directories.keep();
    return {};
}

}  // namespace rung::cgroup

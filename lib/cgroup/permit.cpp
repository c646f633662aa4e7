// What of a cgroup this user may make. Without permission a container that asks for nothing runs where its
// caller is, as rootless containers do on a host that delegates nothing; a limit makes that an error.
// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "base/log.hpp"
#include "base/path.hpp"
#include "cgroup/cgroup.hpp"
#include "cgroup/plan_writes.hpp"
#include "cgroup/wording.hpp"
#include "kernel/files.hpp"
#include "kernel/probe.hpp"

namespace rung::cgroup {

namespace {

// The nearest directory that exists decides: there the next one would be made.
Status check_permission(const std::string& path) {
    std::string nearest = path;
    while (!kernel::exists(nearest) && nearest != "/")
        nearest = path::parent(nearest);
    if (::faccessat(AT_FDCWD, nearest.c_str(), W_OK, AT_EACCESS) == 0) return {};
    return errno_error((nearest == path ? "write to " : "mkdir ") + path, errno);
}

// A move takes the right over a cgroup that is above both places: cgroups(7), "cgroups delegation".
bool may_move_processes(const Cgroup& cgroup) {
    const std::string file = cgroup.unified_mount_point + "/cgroup.procs";
    return ::faccessat(AT_FDCWD, file.c_str(), W_OK, AT_EACCESS) == 0;
}

bool is_refusal(const Error& error) {
    return error.errno_value == EACCES || error.errno_value == EPERM || error.errno_value == EROFS;
}

// Of two texts the first is what test suites of other runtimes look for.
Status require_no_limits(const config::Resources& resources, const Error& refusal) {
    const std::vector<Write> writes = TRY(plan_v2_writes(resources));
    const auto needed =
        std::find_if(writes.begin(), writes.end(), [](const Write& write) { return !write.may_be_absent; });
    if (needed == writes.end()) return {};
    if (is_rootless()) {
        return Error{.message = std::string{wording::kRootlessNeedsNoLimits} + ": " + refusal.message};
    }
    return Error{.message = "linux.resources." + needed->field + " cannot be set: " + refusal.message};
}

}  // namespace

bool is_rootless() {
    return ::geteuid() != 0 || kernel::in_user_namespace();
}

Result<Cgroup> keep_permitted(Cgroup wanted, bool is_asked_for, const config::Resources& resources) {
    Cgroup kept = wanted;
    kept.v1.clear();
    for (Directory& directory : wanted.v1) {
        const Status permitted = check_permission(directory.path);
        if (permitted || is_asked_for || !is_refusal(permitted.error())) {
            kept.v1.push_back(std::move(directory));
        } else {
            log::debug("without a cgroup: " + permitted.error().message);
        }
    }
    if (wanted.unified.empty()) return kept;
    // On a hybrid host the limits are v1's: what is delegated is v1, and this hierarchy is done without.
    if (wanted.layout != kernel::CgroupLayout::v2 && is_rootless() && !may_move_processes(wanted)) {
        kept.unified.clear();
        return kept;
    }
    const Status permitted = check_permission(wanted.unified);
    if (permitted || is_asked_for || !is_refusal(permitted.error())) return kept;
    // On a hybrid host the limits are v1's.
    if (wanted.layout == kernel::CgroupLayout::v2) TRY(require_no_limits(resources, permitted.error()));
    log::debug("without a cgroup: " + permitted.error().message);
    kept.unified.clear();
    return kept;
}

}  // namespace rung::cgroup

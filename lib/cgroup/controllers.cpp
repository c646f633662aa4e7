// Passing cgroup v2 controllers down the tree; kernel documentation admin-guide/cgroup-v2, "Controlling
// Controllers".
// SPDX-License-Identifier: Apache-2.0
#include "cgroup/controllers.hpp"

#include <algorithm>
#include <cerrno>
#include <utility>
#include <vector>

#include "base/log.hpp"
#include "base/path.hpp"
#include "kernel/files.hpp"

namespace rung::cgroup {

namespace {

std::vector<std::string> words_in(const std::string& file) {
    const Result<std::string> text = kernel::read_file(file);
    std::vector<std::string> names;
    std::string name;
    for (const char letter : text ? *text : std::string{}) {
        if (letter != ' ' && letter != '\n') {
            name += letter;
        } else if (!name.empty()) {
            names.push_back(std::exchange(name, {}));
        }
    }
    return names;
}

std::vector<std::string> controllers_of(const std::string& path) {
    return words_in(path + "/cgroup.controllers");
}

// Asked before it is tried, for whoever may not try.
bool passes_on(const std::string& path, const std::string& controller) {
    const std::vector<std::string> names = words_in(path + "/cgroup.subtree_control");
    return std::find(names.begin(), names.end(), controller) != names.end();
}

// From the mount point to the parent of `path`.
std::vector<std::string> ancestors(const std::string& mount_point, const std::string& path) {
    std::vector<std::string> above;
    for (std::string at = path; at != mount_point && at != "/";) {
        at = path::parent(at);
        above.insert(above.begin(), at);
    }
    return above;
}

Status pass_on(const std::string& path, const std::string& controllers) {
    return kernel::write_file(path + "/cgroup.subtree_control", controllers);
}

}  // namespace

bool has_controller(const std::string& path, const std::string& controller) {
    const std::vector<std::string> names = controllers_of(path);
    return std::find(names.begin(), names.end(), controller) != names.end();
}

void enable_controllers(const std::string& mount_point, const std::string& path) {
    const std::vector<std::string> wanted = controllers_of(mount_point);
    if (controllers_of(path) == wanted) return;  // as a rule: an earlier container enabled them
    for (const std::string& ancestor : ancestors(mount_point, path)) {
        std::string together;
        const std::vector<std::string> available = controllers_of(ancestor);
        for (const std::string& controller : available)
            together += "+" + controller + " ";
        if (together.empty() || pass_on(ancestor, together)) continue;
        // The kernel takes all or none; one that cannot be passed on must not keep back the others.
        for (const std::string& controller : available) {
            const Status passed = pass_on(ancestor, "+" + controller);
            if (!passed) log::debug(passed.error().message);
        }
    }
}

std::string why_missing(const std::string& mount_point, const std::string& path,
                        const std::string& controller) {
    for (const std::string& ancestor : ancestors(mount_point, path)) {
        if (passes_on(ancestor, controller)) continue;
        const Status passed = pass_on(ancestor, "+" + controller);
        if (passed) continue;
        switch (passed.error().errno_value) {
            case EBUSY:
                return ancestor + " holds processes itself, so it cannot pass the " + controller +
                       " controller on";
            case EOPNOTSUPP:
                return ancestor + " is threaded, so it cannot pass the " + controller + " controller on";
            case EACCES:
            case EPERM:
                return ancestor + " does not pass the " + controller +
                       " controller on, and this user may not change that";
            case EINVAL:
            case ENOENT:
                return ancestor + " has no " + controller + " controller";
            default:
                return passed.error().message;
        }
    }
    return "the " + controller + " controller of this kernel does not have it";
}

}  // namespace rung::cgroup

// An allow-list: a setting that is in no namespace of the container's own would change the whole host.
// SPDX-License-Identifier: Apache-2.0
#include "config/sysctl.hpp"

#include <algorithm>
#include <array>

#include "base/path.hpp"
#include "config/quoted.hpp"

namespace rung::config {
namespace {

constexpr std::array<std::string_view, 8> kIpcSettings = {
    "kernel/msgmax", "kernel/msgmnb", "kernel/msgmni", "kernel/sem",
    "kernel/shmall", "kernel/shmmax", "kernel/shmmni", "kernel/shm_rmid_forced",
};

// "" when `path` may be set in a container with the namespaces of `spec`, otherwise why not.
std::string objection(const Spec& spec, std::string_view path, std::string_view value) {
    // "net/../kernel/core_pattern" starts with "net/" and is not a network setting.
    if (path.empty() || path::clean(path) != path::join("/", path)) return "is not a plain name";
    if (path == "kernel/hostname") return "is not allowed as it conflicts with the OCI \"hostname\" field";
    if (path == "kernel/domainname") {
        if (!spec.domainname.empty() && spec.domainname != value)
            return "is not allowed as it conflicts with the OCI \"domainname\" field";
        return spec.has_namespace(NamespaceType::uts) ? "" : "is not in a separate UTS namespace";
    }
    const bool ipc = path.starts_with("fs/mqueue/") ||
                     std::find(kIpcSettings.begin(), kIpcSettings.end(), path) != kIpcSettings.end();
    if (ipc) return spec.has_namespace(NamespaceType::ipc) ? "" : "is not in a separate IPC namespace";
    if (path.starts_with("net/")) {
        return spec.has_namespace(NamespaceType::network) ? "" : "is not in a separate network namespace";
    }
    // Counters of what a user namespace may create.
    if (path.starts_with("user/")) {
        return spec.has_namespace(NamespaceType::user) ? "" : "is not in a separate user namespace";
    }
    return "is not in a separate kernel namespace";
}

}  // namespace

std::string sysctl_path(std::string_view name) {
    std::string path{name};
    // The first separator decides which of the two spellings this is; in the dotted one a slash stands for a dot.
    const size_t first = path.find_first_of("./");
    if (first == std::string::npos || path[first] == '/') return path;
    for (char& character : path) {
        if (character == '.') {
            character = '/';
        } else if (character == '/') {
            character = '.';
        }
    }
    return path;
}

Status validate_sysctl(const Spec& spec) {
    for (const auto& [name, value] : spec.linux_.sysctl) {
        const std::string why = objection(spec, sysctl_path(name), value);
        if (!why.empty()) return Error{.message = "linux.sysctl: sysctl " + quoted(name) + " " + why};
    }
    return {};
}

}  // namespace rung::config

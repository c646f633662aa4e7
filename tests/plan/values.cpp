// The values declared in values.hpp.
// SPDX-License-Identifier: Apache-2.0
#include "plan/values.hpp"

namespace rung::test {

using config::NamespaceType;

kernel::HostFacts able_host() {
    kernel::HostFacts host;
    host.cgroup.layout = kernel::CgroupLayout::v1;
    for (const char* name : {"memory", "cpu", "pids", "devices"}) {
        host.cgroup.hierarchies.push_back({.controllers = {name},
                                           .mount_point = std::string("/sys/fs/cgroup/") + name,
                                           .root = "/",
                                           .own_path = "/"});
    }
    host.effective_capabilities = ~uint64_t{0};
    host.may_clone_mounts = true;
    host.last_capability = 40;
    host.memfd_noexec = true;
    host.seccomp = true;
    return host;
}

config::Spec usual_spec() {
    config::Spec spec;
    spec.root.path = "rootfs";
    spec.process.args = {"/bin/sh"};
    spec.process.cwd = "/";
    for (const NamespaceType type : {NamespaceType::mount, NamespaceType::pid, NamespaceType::network,
                                     NamespaceType::ipc, NamespaceType::uts, NamespaceType::cgroup}) {
        spec.linux_.namespaces.push_back({.type = type});
    }
    spec.mounts = {{"/proc", "proc", "proc", {"nosuid", "noexec", "nodev"}},
                   {"/dev", "tmpfs", "tmpfs", {"nosuid", "strictatime", "mode=755", "size=65536k"}},
                   {"/sys", "sysfs", "sysfs", {"nosuid", "noexec", "nodev", "ro"}}};
    return spec;
}

grant::Grant reading_grant() {
    grant::Grant grant;
    grant.filesystem = grant::Filesystem{.rootfs = grant::RootfsAccess::read_only};
    grant.tools = std::vector<grant::Tool>{{.path = "/"}};
    return grant;
}

plan::Narrowing narrowing_of(const plan::SandboxPlan& plan, const std::string& field) {
    for (const plan::Narrowing& narrowing : plan.narrowings) {
        if (narrowing.field == field) return narrowing;
    }
    return {};
}

}  // namespace rung::test

// Device nodes that a process makes for itself are bound by the devices cgroup alone.
// SPDX-License-Identifier: Apache-2.0
#include "runtime/device_rules.hpp"

#include <linux/capability.h>
#include <sys/prctl.h>

#include "base/log.hpp"
#include "cgroup/devices.hpp"

namespace rung::runtime {
namespace {

// Of the capabilities that get at devices: mknod(2), and a devtmpfs of the host that is mounted inside.
constexpr std::pair<int, const char*> kWaysToDevices[] = {{CAP_MKNOD, "CAP_MKNOD"},
                                                          {CAP_SYS_ADMIN, "CAP_SYS_ADMIN"}};

bool may_have(const config::Process& process, int capability) {
    const uint64_t bounding = process.capabilities ? process.capabilities->bounding : 0;
    // What the caller lost for good, its children cannot have.
    return (bounding >> capability & 1) != 0 && prctl(PR_CAPBSET_READ, capability, 0, 0, 0) == 1;
}

// In a user namespace of its own neither way is open to a process.
bool nothing_enforces(const std::vector<config::DeviceRule>& rules, const cgroup::Cgroup& cgroup,
                      const config::Spec& spec) {
    if (!cgroup.directory_of("devices").empty() || cgroup::is_rootless()) return false;
    if (spec.has_namespace(config::NamespaceType::user)) return false;
    return !rules.empty() && !cgroup::allows_everything(cgroup::with_usual_devices(rules));
}

}  // namespace

config::Process without_making_devices(const std::vector<config::DeviceRule>& rules,
                                       const cgroup::Cgroup& cgroup, const config::Spec& spec,
                                       config::Process process) {
    const bool asked_for = cgroup.manager == cgroup::Manager::disabled;
    if (!asked_for || !nothing_enforces(rules, cgroup, spec) || !may_have(process, CAP_MKNOD)) return process;
    log::warn(
        "linux.resources.devices: without cgroups nothing else enforces it, so the process has no CAP_MKNOD");
    config::Capabilities& sets = *process.capabilities;
    for (uint64_t* set : {&sets.bounding, &sets.effective, &sets.permitted, &sets.inheritable, &sets.ambient})
        *set &= ~(uint64_t{1} << CAP_MKNOD);
    return process;
}

Status check_device_rules(const std::vector<config::DeviceRule>& rules, const cgroup::Cgroup& cgroup,
                          const config::Spec& spec, const config::Process& process) {
    if (!nothing_enforces(rules, cgroup, spec)) return {};
    for (const auto& [capability, name] : kWaysToDevices) {
        if (!may_have(process, capability)) continue;
        return Error{
            .message =
                std::string{"linux.resources.devices: without a devices cgroup nothing denies devices to "
                            "a process with "} +
                name + " (drop it from process.capabilities, or let the container have a devices cgroup)"};
    }
    return {};
}

}  // namespace rung::runtime

// Device nodes that a process makes for itself are bound by the devices cgroup alone.
// SPDX-License-Identifier: Apache-2.0
#include "runtime/device_rules.hpp"

#include <linux/capability.h>
#include <sys/prctl.h>

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

}  // namespace

Status check_device_rules(const std::vector<config::DeviceRule>& rules, const cgroup::Cgroup& cgroup,
                          const config::Spec& spec, const config::Process& process) {
    if (!cgroup.directory_of("devices").empty() || cgroup::is_rootless()) return {};
    // In a user namespace of its own neither way is open to it.
    if (spec.has_namespace(config::NamespaceType::user)) return {};
    if (rules.empty() || cgroup::allows_everything(cgroup::with_usual_devices(rules))) return {};
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

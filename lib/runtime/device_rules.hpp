// Whether a container can be made to keep the device rules of its config.json where no cgroup enforces them.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "base/result.hpp"
#include "cgroup/cgroup.hpp"
#include "config/resources.hpp"
#include "config/spec.hpp"

namespace rung::runtime {

// Without a devices cgroup what keeps a process from a device is that no node of it is there. One that may make nodes, as the host's root may
// with CAP_MKNOD, is then refused if any rule denies a device. `process` as it will run, in `spec`'s namespaces.
Status check_device_rules(const std::vector<config::DeviceRule>& rules, const cgroup::Cgroup& cgroup,
                          const config::Spec& spec, const config::Process& process);

// Where the engine itself asked for no cgroups (podman's --cgroups=disabled, whose default capabilities may hold CAP_MKNOD): the process
// without that capability, and a warning.
config::Process without_making_devices(const std::vector<config::DeviceRule>& rules,
                                       const cgroup::Cgroup& cgroup, const config::Spec& spec,
                                       config::Process process);

}  // namespace rung::runtime

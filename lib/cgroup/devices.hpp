// Device rules: from the ordered list of config.json to what cgroup v1 files and a cgroup v2 program say.
// Pure, except for `attach_device_program`.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <linux/bpf.h>

#include <string>
#include <vector>

#include "base/result.hpp"
#include "config/resources.hpp"

namespace rung::cgroup {

// Everything is denied until a rule allows it, and of the rules that match, the last one decides. The usual
// nodes (null, zero, full, random, urandom, tty, ptmx, pts, tun) and making any node are allowed after the
// given rules, as other runtimes do: a device node made inside is still unusable unless a rule allows reading
// or writing it.
std::vector<config::DeviceRule> with_usual_devices(const std::vector<config::DeviceRule>& rules);

// The kernel's v1 model: one default and exceptions from it, which hold access that the default does not.
struct DevicePolicy {
    bool allow_by_default = false;
    std::vector<config::DeviceRule> exceptions = {};
    bool operator==(const DevicePolicy&) const = default;
};
// A rule that is narrower than an earlier opposite one cannot be said in this model, and is an error.
Result<DevicePolicy> reduce_to_policy(const std::vector<config::DeviceRule>& rules);

// Lines for `devices.allow` and `devices.deny`, one write each. `current` is what `devices.list` says now.
// What both allow stays allowed at every moment.
struct DeviceWrite {
    std::string file = {};
    std::string value = {};
    bool operator==(const DeviceWrite&) const = default;
};
std::vector<DeviceWrite> plan_device_writes(const DevicePolicy& policy, const std::string& current);

// True when the list allows everything, so that no program is needed.
bool allows_everything(const std::vector<config::DeviceRule>& rules);
// A BPF_PROG_TYPE_CGROUP_DEVICE program: returns 1 to allow, 0 to deny.
std::vector<bpf_insn> compile_device_program(const std::vector<config::DeviceRule>& rules);

// Loads the program and makes it the only one of rung's on the cgroup at `path`; a predecessor is replaced in
// one step.
Status attach_device_program(const std::string& path, const std::vector<bpf_insn>& program);

}  // namespace rung::cgroup

// From the text of config.json or process.json to a Spec or Process, refusing what cannot be meant.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "config/spec.hpp"

namespace rung::config {

// Keys match without regard to case and unknown keys are ignored, as Go's encoding/json does for runc. A NUL byte in any
// string is an error, and so is a field given in two spellings. Errors read "config.json: FIELD: what is wrong".
Result<Spec> parse_spec(std::string_view json);

// A process object alone, as `exec --process` takes it.
Result<Process> parse_process(std::string_view json);

// A resources object alone, as `update --resources` takes it.
Result<Resources> parse_resources(std::string_view json);

// A list of mounts alone, as `mounts add` takes it; validate() has not seen it.
Result<std::vector<Mount>> parse_mounts(std::string_view json);

// A seccomp object alone, as the files of seccomp-profiles/ hold it.
Result<Seccomp> parse_seccomp(std::string_view json);

// Rules over several fields: cwd absolute, hostname needs a uts namespace, mappings need a user namespace, sysctl belongs
// to a namespace the container has, and so on. parse_spec has called it.
Status validate(const Spec& spec);

// What the config.json of `rung spec` has to fit.
struct SpecTemplate {
    bool cgroup_namespace = false;  // on hosts with cgroup v2, as runc does
    bool rootless = false;          // a user namespace that maps root to `uid` and `gid`
    uint32_t uid = 0;
    uint32_t gid = 0;
};

// The config.json that `rung spec` writes: a shell with few rights, in a read-only root.
std::string default_spec_json(const SpecTemplate& wanted = {});

}  // namespace rung::config

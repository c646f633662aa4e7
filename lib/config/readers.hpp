// One reader for each part of config.json. Mistakes are recorded in the document that the object belongs to.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "config/json_reader.hpp"
#include "config/spec.hpp"

namespace rung::config {

Process read_process(const Object& process);
Linux read_linux(const Object& linux_object);
std::vector<IdMapping> read_mappings(const Object& object, std::string_view name);
MemoryPolicy read_memory_policy(const Object& policy);
Resources read_resources(const Object& resources);
// Nothing when neither a default action nor a rule is given: seccomp is then off, as for runc.
std::optional<Seccomp> read_seccomp(const Object& seccomp);

}  // namespace rung::config

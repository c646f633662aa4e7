// One reader for each part of config.json. Mistakes are recorded in the document that the object belongs to.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "config/json_reader.hpp"
#include "config/spec.hpp"

namespace rung::config {

Process read_process(const Object& process);
Linux read_linux(const Object& linux_object);
Resources read_resources(const Object& resources);
// Nothing when neither a default action nor a rule is given: seccomp is then off, as for runc.
std::optional<Seccomp> read_seccomp(const Object& seccomp);

}  // namespace rung::config

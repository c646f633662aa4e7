// The id map within a mount option, which podman hands on and crun reads: "idmap=uids=0-1-10#10-11-10;gids=@0-1-10".
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/result.hpp"
#include "config/spec.hpp"

namespace rung::config {

// Turns each into the mount's mappings, which it does without where config.json gives some, and a plain "idmap". With "@" the second number is
// an id in the container's user namespace.
Status expand_id_maps(Spec& spec);

}  // namespace rung::config

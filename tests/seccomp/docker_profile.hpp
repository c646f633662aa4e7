// Docker's default profile for x86_64, of an ordinary container with Docker's default capabilities.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "config/seccomp.hpp"

namespace rung::seccomp::test {

config::Seccomp docker_profile();

}  // namespace rung::seccomp::test

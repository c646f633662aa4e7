// Small values that the tests of this layer start from.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "config/spec.hpp"
#include "grant/grant.hpp"
#include "kernel/host_facts.hpp"
#include "plan/sandbox_plan.hpp"

namespace rung::test {

// A host with every controller of cgroup v1, all privilege and a current kernel.
kernel::HostFacts able_host();

// A container as engines ask for it: six new namespaces, /proc, /dev, /sys, a writable root.
config::Spec usual_spec();

// Reads the image and runs its programs, nothing more.
grant::Grant reading_grant();

// The first narrowing of that field, or one whose fields are all empty.
plan::Narrowing narrowing_of(const plan::SandboxPlan& plan, const std::string& field);

}  // namespace rung::test

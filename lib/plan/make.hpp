// make: config.json and the grant become one SandboxPlan. Decides; makes no system call.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "base/result.hpp"
#include "config/spec.hpp"
#include "grant/layers.hpp"
#include "kernel/host_facts.hpp"
#include "plan/image_facts.hpp"
#include "plan/sandbox_plan.hpp"

namespace rung::plan {

// No grant: the plan is config.json itself. With one: every field that this host or this build cannot enforce is an error with the reason
// grant_unenforceable ("grant_unenforceable: network.egress: ..."), a program that could not start is grant_unrunnable.
// `now` is seconds since the epoch, for notBefore and expiresAt.
Result<SandboxPlan> make(const config::Spec& spec, const std::optional<grant::Grant>& grant,
                         const kernel::HostFacts& host, int64_t now, const ImageFacts& image = {});

// The same under several layers: what a narrowing owes to the ceiling names it, and what one layer asked for and another denied is recorded.
Result<SandboxPlan> make_under_layers(const config::Spec& spec, const grant::Effective& effective,
                                      const kernel::HostFacts& host, int64_t now,
                                      const ImageFacts& image = {});

// --network=none: a network with only loopback, as a grant without egress makes it, for any container.
void cut_network(SandboxPlan& plan);

// The same narrowing for one more process of a container that `plan` describes (exec): capabilities, limits, no_new_privs.
config::Process narrow_process(const SandboxPlan& plan, const std::optional<grant::Grant>& grant,
                               const config::Process& process);

// What `rung plan` prints: the whole sandbox, one fact a line, then each narrowing with its layer and reason.
std::string print(const SandboxPlan& plan);
std::string print_json(const SandboxPlan& plan);

}  // namespace rung::plan

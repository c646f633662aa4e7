// The parts of make(): each narrows one aspect of the plan being made and records what it changed.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "config/spec.hpp"
#include "grant/grant.hpp"
#include "kernel/host_facts.hpp"
#include "plan/image_facts.hpp"
#include "plan/sandbox_plan.hpp"

namespace rung::plan {

// unenforced.cpp: what this build or this host cannot enforce, and what could not run at all.
Status check_enforceable(const config::Spec& spec, const grant::Grant& grant, const kernel::HostFacts& host);
// "grant_unenforceable: FIELD: WHAT", with that reason.
Error unenforceable(std::string_view field, std::string_view what);

// narrow_namespaces.cpp
void narrow_namespaces(SandboxPlan& plan);
void narrow_network(SandboxPlan& plan);

// narrow_filesystem.cpp, with the mounts themselves in narrow_mounts.cpp
Status narrow_filesystem(SandboxPlan& plan, const grant::Grant& grant);
Status narrow_mounts(SandboxPlan& plan, const grant::Grant& grant);
// left_out.cpp: mounts that hold something of the host and that nothing in the grant names.
void leave_out_mounts(SandboxPlan& plan, const grant::Grant& grant);
void narrow_propagation(SandboxPlan& plan);

// file_access.cpp: Landlock's rules, on top of what the mounts already keep.
void allow_files(SandboxPlan& plan, const grant::Grant& grant, const kernel::HostFacts& host,
                 const ImageFacts& image);

// narrow_resources.cpp
void narrow_devices(SandboxPlan& plan);
void narrow_limits(SandboxPlan& plan, const grant::Limits& limits);

// narrow_process.cpp
std::vector<Narrowing> narrow_privileges(config::Process& process, const grant::Grant& grant);

// What the grant says of one path: the longest path in readOnly and readWrite that covers it decides, read-only when both name it.
enum class Access { read_only, read_write };
Access granted_access(const grant::Filesystem& grant, std::string_view path);

// "a, b, c"; "none" for an empty list.
std::string list_text(const std::vector<std::string>& items);

}  // namespace rung::plan

// Hooks that run on the host's side: prestart, createRuntime, poststart, poststop (runtime-spec config.md, "POSIX-platform Hooks").
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "base/fd.hpp"
#include "base/result.hpp"
#include "config/spec.hpp"
#include "runtime/oci_state.hpp"

namespace rung::runtime {

// One after the other, in the bundle's directory, with exactly the environment the hook names (CVE-2025-23266) and the state on standard
// input. The first that fails, or outlives its timeout, is the error; the rest do not run.
// A hook is killed when the container's process, if `container` is its pidfd, dies meanwhile: whoever kills that waits for us.
Status run_hooks(const std::string& kind, const std::vector<config::Hook>& hooks, const OciState& state,
                 const Fd& container);

// The same for poststop hooks: a failure is logged and the rest run (runtime-spec runtime.md, "Lifecycle", step 13).
void run_poststop_hooks(const std::vector<config::Hook>& hooks, const OciState& state);

// For the output of hooks that the child runs: an unnamed file, and the first of what was written to it, fit for one line.
Result<Fd> make_hook_output();
Status clear_hook_output(const Fd& output);
std::string hook_output_text(const Fd& output);

}  // namespace rung::runtime

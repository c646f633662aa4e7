// From the child's report of a failed step to the words a person and an engine read. Pure.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "base/result.hpp"
#include "child/program.hpp"
#include "child/report.hpp"
#include "plan/lower.hpp"

namespace rung::runtime {

// For a report of kind `failed`, beginning "unable to start container process: "; the verb's prefix ("rung create failed: ") is main's. For
// one of kind `warned` the same words without that. With `trees` an AttachTree can name its source.
Error describe_failure(const child::Program& program, const child::Report& report,
                       const std::vector<plan::OpenTree>& trees = {});

}  // namespace rung::runtime

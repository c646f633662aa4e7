// From the child's report of a failed step to the words a person and an engine read. Pure.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "base/result.hpp"
#include "child/program.hpp"
#include "child/report.hpp"

namespace rung::runtime {

// For a report of kind `failed`. The message begins "unable to start container process: "; the verb's prefix
// ("rung create failed: ") is main's.
Error describe_failure(const child::Program& program, const child::Report& report);

// For a report of kind `warned`.
std::string describe_warning(const child::Program& program, const child::Report& report);

}  // namespace rung::runtime

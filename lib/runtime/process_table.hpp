// The output of ps(1), cut down to some processes.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

#include "base/result.hpp"

namespace rung::runtime {

// What `ps ARGUMENTS` prints on this host; ps(1) is looked for in PATH.
Result<std::string> run_ps(const std::vector<std::string>& arguments);

// Pure: the headline and the lines of `table` whose PID column names one of `pids`, which are sorted. No PID column is an error.
Result<std::string> keep_processes(const std::string& table, const std::vector<pid_t>& pids);

}  // namespace rung::runtime

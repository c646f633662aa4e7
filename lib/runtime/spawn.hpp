// Programs of the host that rung runs: hooks, and the writers of id maps.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

#include "base/fd.hpp"
#include "base/result.hpp"

namespace rung::runtime {

struct HostProgram {
    std::string path = {};
    std::vector<std::string> args = {};  // empty: the path alone
    std::vector<std::string> env = {};
    std::string directory = {};
};

// A process group of its own, no signal blocked or ignored, no descriptor beside the standard streams; standard error goes where standard
// output goes.
Result<pid_t> spawn(const HostProgram& program, const Fd& input, const Fd& output);

// The wait status of a child, once it has ended.
Result<int> wait_for_end(pid_t pid, const std::string& name);

// A memory file with `content`, rewound: neither side of such a standard stream can block the other.
Result<Fd> memory_file(const std::string& content);
// The beginning of what was written to one, without the last newline.
std::string text_of(const Fd& memory_file);

// The program of that name in PATH, or where PATH is empty in the directories where distributions have it; empty when there is none.
std::string find_program(const std::string& name);

}  // namespace rung::runtime

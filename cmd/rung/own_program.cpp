// Where rung is, for finding what is installed with it.
// SPDX-License-Identifier: Apache-2.0
#include "own_program.hpp"

#include <limits.h>
#include <sys/auxv.h>
#include <unistd.h>

#include <cstdlib>
#include <string_view>

namespace rung::cli {

namespace {

// The kernel names a program executed through a descriptor "/dev/fd/N"; from anybody else the variable means nothing.
bool is_second_execution() {
    const char* name = reinterpret_cast<const char*>(getauxval(AT_EXECFN));
    return name != nullptr && std::string_view{name}.starts_with("/dev/fd/");
}

}  // namespace

std::string own_program() {
    const char* told = std::getenv(kOwnProgram);
    std::string path = told != nullptr && is_second_execution() ? told : "";
    (void)unsetenv(kOwnProgram);  // fails for a name that is none
    if (!path.empty()) return path;
    char buffer[PATH_MAX];
    const ssize_t length = readlink("/proc/self/exe", buffer, sizeof buffer);
    return length < 0 ? "" : std::string{buffer, static_cast<size_t>(length)};
}

}  // namespace rung::cli

// checkpoint and restore need CRIU, and this build does not drive it: what is missing is said in one line.
// SPDX-License-Identifier: Apache-2.0
#include "runtime/checkpoint.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <string_view>

#include "runtime/container.hpp"

namespace rung::runtime {
namespace {

bool is_program(const std::string& path) {
    return access(path.c_str(), X_OK) == 0;
}

bool is_in_path(const std::string& name) {
    if (name.find('/') != std::string::npos) return is_program(name);
    const char* path = getenv("PATH");
    std::string_view rest = path != nullptr ? path : "";
    while (!rest.empty()) {
        const size_t colon = std::min(rest.find(':'), rest.size());
        if (is_program(std::string{rest.substr(0, colon)} + "/" + name)) return true;
        rest.remove_prefix(std::min(colon + 1, rest.size()));
    }
    return false;
}

Error refuse(const std::string& verb, const std::string& criu) {
    if (!is_in_path(criu))
        return Error{.message =
                         verb + " needs CRIU: exec: \"" + criu + "\": executable file not found in $PATH"};
    return Error{.message = verb + " is not supported: this build does not drive CRIU"};
}

}  // namespace

Status checkpoint(const Globals& globals, const CheckpointOptions& options) {
    TRY(open_container(globals, options.id));
    return refuse("checkpoint", globals.criu);
}

Result<int> restore(const Globals& globals, const RestoreOptions& options) {
    TRY(check_id(options.container.id));
    return refuse("restore", globals.criu);
}

}  // namespace rung::runtime

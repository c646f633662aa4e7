// rung run
// SPDX-License-Identifier: Apache-2.0
#include "verbs.hpp"

namespace rung::cli {

Result<int> perform(const runtime::Globals& globals, const Run& verb) {
    if (!verb.options.pidfd_socket.empty()) return Error{.message = "--pidfd-socket is not supported"};
    return runtime::run(globals, verb.options);
}

}  // namespace rung::cli

// rung create
// SPDX-License-Identifier: Apache-2.0
#include "verbs.hpp"

namespace rung::cli {

Result<int> perform(const runtime::Globals& globals, const Create& verb) {
    if (!verb.options.pidfd_socket.empty()) return Error{.message = "--pidfd-socket is not supported"};
    TRY(runtime::create(globals, verb.options));
    return 0;
}

}  // namespace rung::cli

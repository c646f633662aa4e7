// rung wait, as runsc has it.
// SPDX-License-Identifier: Apache-2.0
#include "standard_streams.hpp"
#include "verbs.hpp"

namespace rung::cli {

Result<int> perform(const runtime::Globals& globals, const Wait& verb) {
    const int code = TRY(runtime::wait(globals, verb.id));
    // An id needs no escapes.
    TRY(print("{\"id\":\"" + verb.id + "\",\"exitStatus\":" + std::to_string(code) + "}\n"));
    return 0;
}

}  // namespace rung::cli

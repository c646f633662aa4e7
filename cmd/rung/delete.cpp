// rung delete
// SPDX-License-Identifier: Apache-2.0
#include "verbs.hpp"

namespace rung::cli {

Result<int> perform(const runtime::Globals& globals, const Delete& verb) {
    if (verb.regex) return Error{.message = "--regex is not supported"};
    TRY(runtime::remove(globals, verb.id, verb.force));
    return 0;
}

}  // namespace rung::cli

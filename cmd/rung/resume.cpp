// rung resume
// SPDX-License-Identifier: Apache-2.0
#include "verbs.hpp"

namespace rung::cli {

Result<int> perform(const runtime::Globals& globals, const Resume& verb) {
    TRY(runtime::resume(globals, verb.id));
    return 0;
}

}  // namespace rung::cli

// rung start
// SPDX-License-Identifier: Apache-2.0
#include "verbs.hpp"

namespace rung::cli {

Result<int> perform(const runtime::Globals& globals, const Start& verb) {
    TRY(runtime::start(globals, verb.id));
    return 0;
}

}  // namespace rung::cli

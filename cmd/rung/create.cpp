// rung create
// SPDX-License-Identifier: Apache-2.0
#include "verbs.hpp"

namespace rung::cli {

Result<int> perform(const runtime::Globals& globals, const Create& verb) {
    TRY(runtime::create(globals, verb.options));
    return 0;
}

}  // namespace rung::cli

// rung checkpoint and rung restore
// SPDX-License-Identifier: Apache-2.0
#include "verbs.hpp"

namespace rung::cli {

Result<int> perform(const runtime::Globals& globals, const Checkpoint& verb) {
    TRY(runtime::checkpoint(globals, verb.options));
    return 0;
}

Result<int> perform(const runtime::Globals& globals, const Restore& verb) {
    return runtime::restore(globals, verb.options);
}

}  // namespace rung::cli

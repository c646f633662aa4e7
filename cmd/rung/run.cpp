// rung run
// SPDX-License-Identifier: Apache-2.0
#include "verbs.hpp"

namespace rung::cli {

Result<int> perform(const runtime::Globals& globals, const Run& verb) {
    return runtime::run(globals, verb.options);
}

}  // namespace rung::cli

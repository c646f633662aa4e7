// rung delete
// SPDX-License-Identifier: Apache-2.0
#include "matching.hpp"
#include "verbs.hpp"

namespace rung::cli {

Result<int> perform(const runtime::Globals& globals, const Delete& verb) {
    TRY(for_each_matching(globals, verb.id, verb.regex,
                          [&](const std::string& id) { return runtime::remove(globals, id, verb.force); }));
    return 0;
}

}  // namespace rung::cli

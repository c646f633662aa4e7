// rung plan: the sandbox that a bundle and its grants come to. Nothing is created.
// SPDX-License-Identifier: Apache-2.0
#include "standard_streams.hpp"
#include "verbs.hpp"

namespace rung::cli {

Result<int> perform(const runtime::Globals& globals, const Plan& verb) {
    std::string text = TRY(runtime::describe_plan(globals, verb.options, verb.json));
    if (!text.ends_with('\n')) text += '\n';
    TRY(print(text));
    return 0;
}

}  // namespace rung::cli

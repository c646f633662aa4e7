// rung help, and what is said of a verb that rung does not have.
// SPDX-License-Identifier: Apache-2.0
#include "runtime/wording.hpp"
#include "standard_streams.hpp"
#include "verbs.hpp"

namespace rung::cli {

Result<int> perform(const runtime::Globals&, const Help& verb) {
    TRY(print(verb.text));
    return 0;
}

Result<int> perform(const runtime::Globals&, const Unknown& verb) {
    return Error{.message = std::string{runtime::wording::kNoHelp} + " for '" + verb.name +
                            "': `rung help` lists the verbs"};
}

}  // namespace rung::cli

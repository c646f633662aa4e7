// rung help, and what is said of a verb that rung does not have.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <string_view>

#include "runtime/wording.hpp"
#include "standard_streams.hpp"
#include "verbs.hpp"

namespace rung::cli {

namespace {

// What other runtimes have and engines may ask for.
constexpr std::array<std::string_view, 2> kNotSupported = {"events", "update"};

}  // namespace

Result<int> perform(const runtime::Globals&, const Help& verb) {
    TRY(print(verb.text));
    return 0;
}

Result<int> perform(const runtime::Globals&, const Unknown& verb) {
    const bool is_known =
        std::find(kNotSupported.begin(), kNotSupported.end(), verb.name) != kNotSupported.end();
    if (is_known) return Error{.message = verb.name + " is not supported by rung"};
    return Error{.message = std::string{runtime::wording::kNoHelp} + " for '" + verb.name +
                            "': `rung help` lists the verbs"};
}

}  // namespace rung::cli

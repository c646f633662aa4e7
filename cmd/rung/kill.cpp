// rung kill
// SPDX-License-Identifier: Apache-2.0
#include "runtime/signal_name.hpp"
#include "verbs.hpp"

namespace rung::cli {

Result<int> perform(const runtime::Globals& globals, const Kill& verb) {
    if (verb.regex) return Error{.message = "--regex is not supported"};
    const int number = TRY(runtime::parse_signal(verb.signal.empty() ? "TERM" : verb.signal));
    TRY(runtime::kill(globals, verb.id, number, verb.all));
    return 0;
}

}  // namespace rung::cli

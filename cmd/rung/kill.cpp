// rung kill
// SPDX-License-Identifier: Apache-2.0
#include "matching.hpp"
#include "runtime/signal_name.hpp"
#include "verbs.hpp"

namespace rung::cli {

Result<int> perform(const runtime::Globals& globals, const Kill& verb) {
    const int number = TRY(runtime::parse_signal(verb.signal.empty() ? "TERM" : verb.signal));
    TRY(for_each_matching(globals, verb.id, verb.regex, [&](const std::string& id) {
        return runtime::kill(globals, id, number, verb.all);
    }));
    return 0;
}

}  // namespace rung::cli

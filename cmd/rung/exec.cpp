// rung exec
// SPDX-License-Identifier: Apache-2.0
#include "runtime/wording.hpp"
#include "verbs.hpp"

namespace rung::cli {

Result<int> perform(const runtime::Globals& globals, const Exec& verb) {
    if (verb.options.process_file.empty() && verb.options.args.empty()) {
        return Error{.message = std::string{runtime::wording::kEmptyArgs}};
    }
    return runtime::exec(globals, verb.options);
}

}  // namespace rung::cli

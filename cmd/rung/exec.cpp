// rung exec
// SPDX-License-Identifier: Apache-2.0
#include "runtime/wording.hpp"
#include "verbs.hpp"

namespace rung::cli {

namespace {

// Silently without effect would be worse than refused: each of these restricts the process.
Status refuse_unsupported(const Exec& verb) {
    if (!verb.process_label.empty()) return Error{.message = "--process-label is not supported"};
    if (!verb.apparmor.empty()) return Error{.message = "--apparmor is not supported"};
    if (!verb.cgroup.empty()) return Error{.message = "--cgroup is not supported"};
    if (!verb.pidfd_socket.empty()) return Error{.message = "--pidfd-socket is not supported"};
    return {};
}

}  // namespace

Result<int> perform(const runtime::Globals& globals, const Exec& verb) {
    TRY(refuse_unsupported(verb));
    if (verb.options.process_file.empty() && verb.options.args.empty()) {
        return Error{.message = std::string{runtime::wording::kEmptyArgs}};
    }
    return runtime::exec(globals, verb.options);
}

}  // namespace rung::cli

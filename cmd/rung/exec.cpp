// rung exec
// SPDX-License-Identifier: Apache-2.0
#include "runtime/wording.hpp"
#include "verbs.hpp"

namespace rung::cli {

namespace {

// Silently without effect would be worse than refused: each of these restricts the process.
Status refuse_unsupported(const runtime::ExecOptions& options) {
    if (!options.process_label.empty()) return Error{.message = "--process-label is not supported"};
    if (!options.apparmor.empty()) return Error{.message = "--apparmor is not supported"};
    if (!options.cgroups.empty()) return Error{.message = "--cgroup is not supported"};
    if (!options.pidfd_socket.empty()) return Error{.message = "--pidfd-socket is not supported"};
    return {};
}

}  // namespace

Result<int> perform(const runtime::Globals& globals, const Exec& verb) {
    TRY(refuse_unsupported(verb.options));
    if (verb.options.process_file.empty() && verb.options.args.empty()) {
        return Error{.message = std::string{runtime::wording::kEmptyArgs}};
    }
    return runtime::exec(globals, verb.options);
}

}  // namespace rung::cli

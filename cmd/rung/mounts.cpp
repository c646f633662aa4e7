// rung mounts add|remove: crun's.
// SPDX-License-Identifier: Apache-2.0
#include "verbs.hpp"

namespace rung::cli {

Result<int> perform(const runtime::Globals& globals, const Mounts& verb) {
    if (verb.change != "add" && verb.change != "remove")
        return Error{.message = "rung: \"mounts\" can add or remove, not \"" + verb.change + "\""};
    const auto change = verb.change == "add" ? runtime::MountChange::add : runtime::MountChange::remove;
    TRY(runtime::change_mounts(globals, verb.id, change, verb.file));
    return 0;
}

}  // namespace rung::cli

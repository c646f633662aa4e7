// rung state: the OCI state, and what runc adds to it, pretty-printed.
// SPDX-License-Identifier: Apache-2.0
#include "container_json.hpp"
#include "standard_streams.hpp"
#include "verbs.hpp"

namespace rung::cli {

Result<int> perform(const runtime::Globals& globals, const State& verb) {
    runtime::ContainerInfo container = TRY(runtime::inspect(globals, verb.id));
    container.owner.clear();  // only `list` tells it
    TRY(print(to_json(container) + "\n"));
    return 0;
}

}  // namespace rung::cli

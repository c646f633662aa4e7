// rung ps: the container's processes, as ps(1) describes them on the host or as their ids alone.
// SPDX-License-Identifier: Apache-2.0
#include <string>
#include <vector>

#include "runtime/process_table.hpp"
#include "standard_streams.hpp"
#include "verbs.hpp"

namespace rung::cli {

namespace {

// What Go's encoder makes of a list, an empty one included.
std::string to_json(const std::vector<int>& pids) {
    if (pids.empty()) return "null\n";
    std::string text;
    for (const int pid : pids)
        text += (text.empty() ? "[" : ",") + std::to_string(pid);
    return text + "]\n";
}

}  // namespace

Result<int> perform(const runtime::Globals& globals, const Ps& verb) {
    const std::vector<int> pids = TRY(runtime::processes(globals, verb.id));
    if (verb.format == "json") {
        TRY(print(to_json(pids)));
        return 0;
    }
    if (verb.format != "table") return Error{.message = "invalid format option"};
    const std::vector<std::string> everything = {"-ef"};
    const std::string table = TRY(runtime::run_ps(verb.arguments.empty() ? everything : verb.arguments));
    TRY(print(TRY(runtime::keep_processes(table, pids))));
    return 0;
}

}  // namespace rung::cli

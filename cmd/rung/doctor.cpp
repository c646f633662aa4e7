// rung doctor: what this host can enforce of a grant, field by field, and what is missing.
// SPDX-License-Identifier: Apache-2.0
#include <nlohmann/json.hpp>

#include <algorithm>

#include "grant_file.hpp"
#include "kernel/probe.hpp"
#include "plan/abilities.hpp"
#include "standard_streams.hpp"
#include "verbs.hpp"

namespace rung::cli {
namespace {

using nlohmann::ordered_json;

std::string table_of(const std::vector<plan::Ability>& abilities) {
    size_t width = 0;
    for (const plan::Ability& ability : abilities)
        width = std::max(width, ability.field.size());
    std::string text;
    for (const plan::Ability& ability : abilities) {
        std::string line = ability.field;
        line.resize(width + 2, ' ');
        text += line + (ability.missing.empty() ? "yes" : "no   " + ability.missing) + "\n";
    }
    return text;
}

std::string json_of(const std::vector<plan::Ability>& abilities) {
    ordered_json list = ordered_json::array();
    for (const plan::Ability& ability : abilities) {
        list.push_back(
            {{"field", ability.field}, {"enforced", ability.missing.empty()}, {"missing", ability.missing}});
    }
    return list.dump(2, ' ', false, ordered_json::error_handler_t::replace) + "\n";
}

}  // namespace

Result<int> perform(const runtime::Globals&, const Doctor& verb) {
    const kernel::HostFacts host = TRY(kernel::probe());
    const auto abilities = plan::abilities_of(host);
    TRY(print(verb.json ? json_of(abilities) : table_of(abilities)));
    for (const std::string& file : verb.files)
        TRY(plan::check_host(TRY(read_grant(file)), host).context(file));
    return 0;
}

}  // namespace rung::cli

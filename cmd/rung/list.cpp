// rung list: a table for people, JSON for programs, or only the ids.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "container_json.hpp"
#include "standard_streams.hpp"
#include "verbs.hpp"

namespace rung::cli {

namespace {

using Row = std::array<std::string, 6>;

// Columns at least 12 wide and 3 apart, the last one ragged: runc's layout, which scripts cut by position.
std::string to_table(const std::vector<Row>& rows) {
    std::array<size_t, 6> widths = {};
    for (const Row& row : rows) {
        for (size_t column = 0; column < row.size(); ++column) {
            widths[column] = std::max({widths[column], row[column].size() + 3, size_t{12}});
        }
    }
    std::string text;
    for (const Row& row : rows) {
        for (size_t column = 0; column + 1 < row.size(); ++column) {
            text += row[column] + std::string(widths[column] - row[column].size(), ' ');
        }
        text += row.back() + "\n";
    }
    return text;
}

std::string to_table(const std::vector<runtime::ContainerInfo>& containers) {
    std::vector<Row> rows = {{"ID", "PID", "STATUS", "BUNDLE", "CREATED", "OWNER"}};
    for (const runtime::ContainerInfo& container : containers) {
        rows.push_back({container.id, std::to_string(container.pid), container.status, container.bundle,
                        container.created, container.owner});
    }
    return to_table(rows);
}

}  // namespace

Result<int> perform(const runtime::Globals& globals, const List& verb) {
    if (verb.format != "table" && verb.format != "json") return Error{.message = "invalid format option"};
    const std::vector<runtime::ContainerInfo> containers = TRY(runtime::list(globals));
    std::string text;
    if (verb.quiet) {
        for (const runtime::ContainerInfo& container : containers)
            text += container.id + "\n";
    } else {
        text = verb.format == "json" ? to_json(containers) + "\n" : to_table(containers);
    }
    TRY(print(text));
    return 0;
}

}  // namespace rung::cli

// A grant's text as a tree of nodes that still know where they stood, the same for YAML and JSON.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <compare>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"

namespace rung::grant {

// What bounds a text, and how errors call the whole of it.
struct DocumentLimits {
    std::string_view name = "grant";
    std::size_t size = 64 * 1024;
    std::size_t depth = 8;
};

struct Mark {
    std::size_t line = 0;  // from 1; 0 = unknown
    std::size_t column = 0;
    auto operator<=>(const Mark&) const = default;
};

// `unclear` is a plain YAML scalar that some readers take for a number or a boolean and others for a string
// (yes, 0x10, 1e3): no field accepts one.
enum class Kind { null, boolean, number, string, unclear, list, map };

struct Node {
    Kind kind = Kind::null;
    std::string text = {};  // of a scalar, with quotes and escapes resolved
    Mark mark = {};
    std::string name = {};  // of a map's member; unique among its siblings
    std::vector<Node> children = {};
    bool set_aside = false;  // known to be wrong: the readers pass over it, to find what else is
};

// Fails with grant_parse_error, grant_duplicate_key or grant_too_large. Text that opens with `{"` is read as
// JSON, anything else as YAML.
Result<Node> read_document(std::string_view text, const DocumentLimits& limits);

// "CODE: FIELD: WHAT (line L, column C)" in one line of printable ASCII.
Error refusal(std::string_view code, std::string_view field, std::string_view what, Mark mark);

// What a refusal is made of, for a program.
struct Place {
    std::string field = {};
    std::string what = {};
    Mark mark = {};
    bool operator==(const Place&) const = default;
};
Place place_of(const Error& refusal);

// Text from a grant as an error quotes it: in quotes, escaped, cut when long.
std::string quoted(std::string_view text);

}  // namespace rung::grant

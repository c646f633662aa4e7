// Field: a node with the name under which errors mention it, and the strict readers of single values.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.hpp"
#include "grant/document.hpp"

namespace rung::grant {

// Points into the tree: the tree outlives it.
struct Field {
    const Node* node = nullptr;
    std::string name = {};  // "network.egress[0].host", "grant" for the whole
    bool is_whole = false;
};

Error refuse(const Field& field, std::string_view code, std::string_view what);

// A map whose every member is expected.
class Section {
  public:
    // Fails with grant_unknown_field on a member that is not in `known`.
    static Result<Section> of(const Field& field, std::initializer_list<std::string_view> known);

    std::optional<Field> find(std::string_view name) const;
    Result<Field> require(std::string_view name) const;

  private:
    explicit Section(Field field) : field_(std::move(field)) {}

    Field field_;
};

// The member `member` of the map `parent`, whose name is "parent.member", or "member" at the top.
Field member_field(const Field& parent, const Node& member);

struct Range {
    uint64_t least = 0;
    uint64_t most = 0;
};

Result<std::vector<Field>> read_list(const Field& field, Range entries);
Result<std::string> read_string(const Field& field);
Result<uint64_t> read_integer(const Field& field, Range range);
Result<bool> read_boolean(const Field& field);
// The index of the field's text in `choices`.
Result<std::size_t> read_choice(const Field& field, std::initializer_list<std::string_view> choices);
Result<uint64_t> read_bytes(const Field& field);
Result<uint64_t> read_cpu_milli(const Field& field);
// 1 to 63 of a-z, 0-9 and '-', not at the ends.
Result<std::string> read_dns_label(const Field& field);
bool is_dns_label(std::string_view text);

// A string of 1 to `longest` ASCII letters, digits and characters of `others`.
Result<std::string> read_identifier(const Field& field, std::size_t longest, std::string_view others);

// Fails when two entries of a list of strings are equal.
Status refuse_repeats(const Field& list, std::vector<std::string> entries);

}  // namespace rung::grant

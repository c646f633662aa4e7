// TreeBuilder: what the YAML and the JSON reader feed, and where the rules that both share are kept.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "grant/document.hpp"

namespace rung::grant {

// Refuses nesting deeper than the limit, a key given twice, a key that is not a scalar, and NUL inside a
// scalar.
class TreeBuilder {
  public:
    // `limits` outlives it.
    explicit TreeBuilder(const DocumentLimits& limits) : limits_(limits) {}

    Status open(Kind list_or_map, Mark mark);
    Status close(Mark mark);
    // Inside a map scalars are keys and values by turns.
    Status add_scalar(Kind kind, std::string text, Mark mark);

    bool is_complete() const { return complete_; }
    Node take() { return std::move(root_); }

  private:
    struct Frame {
        Node node = {};
        std::set<std::string> names = {};
        bool has_key = false;  // the next value belongs to `key`
        std::string key = {};
    };

    bool expects_key() const;
    std::string field_name() const;
    Status set_key(std::string text, Mark mark);
    Status add(Node node);

    const DocumentLimits& limits_;
    std::vector<Frame> frames_ = {};
    Node root_ = {};
    bool complete_ = false;
};

Result<Node> read_json(std::string_view text, const DocumentLimits& limits);
Result<Node> read_yaml(std::string_view text, const DocumentLimits& limits);

}  // namespace rung::grant

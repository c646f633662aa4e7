// The rules that hold for every grant's text, whichever syntax it is written in.
// SPDX-License-Identifier: Apache-2.0
#include "grant/tree_builder.hpp"

#include <utility>

namespace rung::grant {

bool TreeBuilder::expects_key() const {
    return !frames_.empty() && frames_.back().node.kind == Kind::map && !frames_.back().has_key;
}

// The name of the value that comes next: "network.egress[2].ports".
std::string TreeBuilder::field_name() const {
    std::string name;
    for (const Frame& frame : frames_) {
        if (frame.node.kind == Kind::list) {
            name += "[" + std::to_string(frame.node.children.size()) + "]";
        } else if (frame.has_key) {
            name += (name.empty() ? "" : ".") + frame.key;
        }
    }
    return name.empty() ? std::string{limits_.name} : name;
}

Status TreeBuilder::open(Kind list_or_map, Mark mark) {
    if (expects_key()) {
        return refusal("grant_parse_error", field_name(), "a key must be a plain name", mark);
    }
    if (frames_.size() == limits_.depth) {
        return refusal("grant_too_large", field_name(),
                       "is nested deeper than " + std::to_string(limits_.depth) + " levels", mark);
    }
    frames_.push_back(Frame{.node = Node{.kind = list_or_map, .mark = mark}});
    return {};
}

Status TreeBuilder::close(Mark mark) {
    if (frames_.empty() || frames_.back().has_key) {
        return refusal("grant_parse_error", field_name(), "ends where a value is missing", mark);
    }
    Node node = std::move(frames_.back().node);
    frames_.pop_back();
    return add(std::move(node));
}

Status TreeBuilder::add_scalar(Kind kind, std::string text, Mark mark) {
    if (text.find('\0') != std::string::npos) {
        return refusal("grant_parse_error", field_name(), "holds a NUL character", mark);
    }
    if (expects_key()) return set_key(std::move(text), mark);
    return add(Node{.kind = kind, .text = std::move(text), .mark = mark});
}

Status TreeBuilder::set_key(std::string text, Mark mark) {
    Frame& frame = frames_.back();
    if (!frame.names.insert(text).second) {
        return refusal("grant_duplicate_key", field_name(), quoted(text) + " is given twice", mark);
    }
    frame.key = std::move(text);
    frame.has_key = true;
    return {};
}

Status TreeBuilder::add(Node node) {
    if (frames_.empty()) {
        if (complete_) return refusal("grant_parse_error", limits_.name, "must be one document", node.mark);
        root_ = std::move(node);
        complete_ = true;
        return {};
    }
    Frame& frame = frames_.back();
    if (frame.has_key) node.name = std::exchange(frame.key, {});
    frame.has_key = false;
    frame.node.children.push_back(std::move(node));
    return {};
}

}  // namespace rung::grant

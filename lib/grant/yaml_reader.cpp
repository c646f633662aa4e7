// YAML text to nodes: yaml-cpp's events, minus what YAML has beyond maps, lists and plain or quoted scalars.
// SPDX-License-Identifier: Apache-2.0
#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/parser.h>

#include <algorithm>
#include <exception>
#include <sstream>
#include <utility>

#include "grant/plain_scalar.hpp"
#include "grant/tree_builder.hpp"

namespace rung::grant {

namespace {

// How an event stops yaml-cpp's parser; never leaves read_yaml.
struct Stop {
    Error error = {};
};

class Events final : public YAML::EventHandler {
  public:
    Events(std::string_view text, const DocumentLimits& limits)
        : text_(text), limits_(limits), builder_(limits) {}

    TreeBuilder& builder() { return builder_; }

    void OnDocumentStart(const YAML::Mark&) override {}
    void OnDocumentEnd() override {}
    void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override {
        refuse_properties(mark, "?", anchor);
        keep(builder_.add_scalar(Kind::null, {}, from(mark)));
    }
    void OnAlias(const YAML::Mark& mark, YAML::anchor_t) override {
        refuse(mark, "YAML aliases are not accepted");
    }
    void OnAnchor(const YAML::Mark& mark, const std::string&) override {
        refuse(mark, "YAML anchors are not accepted");
    }
    void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                  const std::string& value) override {
        refuse_properties(mark, tag, anchor);
        // yaml-cpp gives the tag "!" to what is quoted or a block, "?" to plain text.
        const Kind kind = tag == "!" ? Kind::string : plain_scalar_kind(value);
        if (value == "<<") refuse(mark, "YAML merge keys are not accepted");
        keep(builder_.add_scalar(kind, value, from(mark)));
    }
    void OnSequenceStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                         YAML::EmitterStyle::value) override {
        refuse_properties(mark, tag, anchor);
        open(Kind::list, mark);
    }
    void OnSequenceEnd() override { keep(builder_.close(opened_)); }
    void OnMapStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                    YAML::EmitterStyle::value) override {
        refuse_properties(mark, tag, anchor);
        open(Kind::map, mark);
    }
    void OnMapEnd() override { keep(builder_.close(opened_)); }

  private:
    // yaml-cpp counts from 0.
    static Mark from(const YAML::Mark& mark) {
        return {.line = static_cast<std::size_t>(mark.line) + 1,
                .column = static_cast<std::size_t>(mark.column) + 1};
    }
    [[noreturn]] void refuse(const YAML::Mark& mark, std::string_view what) const {
        throw Stop{refusal("grant_parse_error", limits_.name, what, from(mark))};
    }
    static void keep(Status status) {
        if (!status) throw Stop{std::move(status).error()};
    }
    void open(Kind kind, const YAML::Mark& mark) {
        opened_ = from(mark);
        keep(builder_.open(kind, opened_));
    }
    void refuse_properties(const YAML::Mark& mark, std::string_view tag, YAML::anchor_t anchor) {
        // "! 1" has the tag of a quoted scalar: only the text tells them apart.
        const auto position = static_cast<std::size_t>(std::max(mark.pos, 0));
        const bool written_tag = position < text_.size() && text_[position] == '!';
        if (written_tag || (tag != "?" && tag != "!")) refuse(mark, "YAML tags are not accepted");
        if (anchor != 0) refuse(mark, "YAML anchors are not accepted");
        // Whatever the text, there are no more events than characters: a parser that does not advance is
        // stopped.
        if (++events_ > text_.size() + 1) refuse(mark, "is not valid YAML");
    }

    std::string_view text_;
    const DocumentLimits& limits_;
    TreeBuilder builder_;
    Mark opened_ = {};
    std::size_t events_ = 0;
};

Result<Node> read_events(std::string_view text, const DocumentLimits& limits) {
    Events events{text, limits};
    std::istringstream stream{std::string{text}};
    YAML::Parser parser{stream};
    if (!parser.HandleNextDocument(events) || !events.builder().is_complete()) {
        return refusal("grant_parse_error", limits.name, "is empty", {});
    }
    Node root = events.builder().take();
    if (parser.HandleNextDocument(events)) {
        return refusal("grant_parse_error", limits.name, "must be one document, with nothing after it", {});
    }
    return root;
}

}  // namespace

Result<Node> read_yaml(std::string_view text, const DocumentLimits& limits) {
    try {
        return read_events(text, limits);
    } catch (Stop& stop) {
        return std::move(stop.error);
    } catch (const YAML::Exception& exception) {
        Mark mark;
        if (!exception.mark.is_null()) {
            mark = {.line = static_cast<std::size_t>(exception.mark.line) + 1,
                    .column = static_cast<std::size_t>(exception.mark.column) + 1};
        }
        return refusal("grant_parse_error", limits.name, "is not valid YAML: " + exception.msg, mark);
    } catch (const std::exception& exception) {
        return refusal("grant_parse_error", limits.name,
                       std::string{"cannot be read as YAML: "} + exception.what(), {});
    }
}

}  // namespace rung::grant

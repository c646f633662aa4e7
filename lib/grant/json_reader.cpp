// JSON text to nodes: nlohmann's events and not its DOM, which hides duplicate keys, the digits of a number and
// where things stood.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <iterator>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "grant/tree_builder.hpp"

namespace rung::grant {

namespace {

constexpr std::string_view kBetweenTokens = " \t\r\n,:";
constexpr std::string_view kBehindWords = " \t\r\n,]}";

// What the parser reads from. Its copies share one place, so that an event can ask how far the parser has come.
struct SharedIterator {
    using iterator_category = std::input_iterator_tag;
    using value_type = char;
    using difference_type = std::ptrdiff_t;
    using pointer = const char*;
    using reference = const char&;

    const char** next = nullptr;

    reference operator*() const { return **next; }
    SharedIterator& operator++() {
        ++*next;
        return *this;
    }
    bool operator==(const SharedIterator& other) const { return *next == *other.next; }
};

// The names and parameters are nlohmann's; an event that returns false ends the parsing.
class JsonEvents {
  public:
    using number_integer_t = nlohmann::json::number_integer_t;
    using number_unsigned_t = nlohmann::json::number_unsigned_t;
    using number_float_t = nlohmann::json::number_float_t;
    using string_t = nlohmann::json::string_t;
    using binary_t = nlohmann::json::binary_t;

    JsonEvents(std::string_view text, const DocumentLimits& limits)
        : text_(text), limits_(limits), builder_(limits) {}

    Result<Node> read() {
        const char* end = text_.data() + text_.size();
        if (nlohmann::json::sax_parse(SharedIterator{&next_}, SharedIterator{&end}, this))
            return builder_.take();
        return *std::move(error_);
    }

    bool null() { return add_word(Kind::null); }
    bool boolean(bool) { return add_word(Kind::boolean); }
    bool number_integer(number_integer_t) { return add_word(Kind::number); }
    bool number_unsigned(number_unsigned_t) { return add_word(Kind::number); }
    bool number_float(number_float_t, const string_t&) { return add_word(Kind::number); }
    bool string(string_t& value) {
        const Mark mark = pass_token();
        return keep(builder_.add_scalar(Kind::string, std::move(value), mark));
    }
    bool key(string_t& name) { return string(name); }
    bool binary(binary_t&) { return false; }  // JSON has none
    bool start_object(std::size_t) { return keep(builder_.open(Kind::map, pass_token())); }
    bool start_array(std::size_t) { return keep(builder_.open(Kind::list, pass_token())); }
    bool end_object() { return keep(builder_.close(pass_token())); }
    bool end_array() { return keep(builder_.close(pass_token())); }

    // `count` characters were read, one more than there are when the text stops too early.
    bool parse_error(std::size_t count, const std::string&, const nlohmann::json::exception& exception) {
        // "[json.exception...] parse error at line 1, column 2: syntax error ...": the place is ours to name.
        const std::string_view what = exception.what();
        const std::size_t start = what.find("syntax error");
        const std::string_view cause =
            start == std::string_view::npos ? "a number is too large" : what.substr(start);
        return keep(refusal("grant_parse_error", limits_.name, "is not valid JSON: " + std::string{cause},
                            advance_to(std::min(count - 1, text_.size()))));
    }

  private:
    // Kept as it is written: 0.1 has no exact binary value.
    bool add_word(Kind kind) {
        const Mark mark = advance_to_token();
        const std::string_view rest = text_.substr(position_);
        const std::string_view word = rest.substr(0, rest.find_first_of(kBehindWords));
        position_ += word.size();
        return keep(builder_.add_scalar(kind, std::string{word}, mark));
    }

    // Any token but a word: it ends where the parser stands.
    Mark pass_token() {
        const Mark mark = advance_to_token();
        position_ = static_cast<std::size_t>(next_ - text_.data());
        return mark;
    }

    Mark advance_to_token() {
        return advance_to(std::min(text_.find_first_not_of(kBetweenTokens, position_), text_.size()));
    }

    // No token holds a newline, so those between the tokens are all there are.
    Mark advance_to(std::size_t offset) {
        for (; position_ < offset; ++position_) {
            if (text_[position_] != '\n') continue;
            ++line_;
            line_start_ = position_ + 1;
        }
        return {.line = line_, .column = offset - line_start_ + 1};
    }

    bool keep(Status status) {
        if (status) return true;
        error_ = std::move(status).error();
        return false;
    }

    std::string_view text_;
    const DocumentLimits& limits_;
    const char* next_ = text_.data();  // what the parser reads next
    std::size_t position_ = 0;         // behind the last token that became an event
    std::size_t line_ = 1;
    std::size_t line_start_ = 0;
    TreeBuilder builder_;
    std::optional<Error> error_ = {};
};

}  // namespace

Result<Node> read_json(std::string_view text, const DocumentLimits& limits) {
    return JsonEvents{text, limits}.read();
}

}  // namespace rung::grant

// JSON text to nodes (RFC 8259, nothing more): a reader of our own because a DOM hides duplicate keys and
// has no line numbers.
// SPDX-License-Identifier: Apache-2.0
#include <optional>
#include <utility>

#include "grant/tree_builder.hpp"
#include "grant/utf8.hpp"

namespace rung::grant {

namespace {

class JsonReader {
  public:
    explicit JsonReader(std::string_view text) : text_(text) {}

    Result<Node> read() {
        TRY(read_value());
        skip_space();
        if (position_ != text_.size()) return syntax_error("there is text after the end");
        return builder_.take();
    }

  private:
    // Recursion is bounded: the builder refuses to open more than kMaxDepth levels.
    Status read_value() {
        skip_space();
        if (peek() == '{') return read_object();
        if (peek() == '[') return read_array();
        if (peek() == '"') {
            const Mark mark = here();
            return builder_.add_scalar(Kind::string, TRY(read_string()), mark);
        }
        return read_word();
    }

    Status read_object() {
        const Mark mark = here();
        TRY(builder_.open(Kind::map, mark));
        ++position_;
        if (next_is('}')) return builder_.close(mark);
        do {
            skip_space();
            const Mark key_mark = here();
            if (peek() != '"') return syntax_error("a key in double quotes is missing");
            TRY(builder_.add_scalar(Kind::string, TRY(read_string()), key_mark));
            if (!next_is(':')) return syntax_error("a colon is missing");
            TRY(read_value());
        } while (next_is(','));
        if (!next_is('}')) return syntax_error("a comma or closing brace is missing");
        return builder_.close(mark);
    }

    Status read_array() {
        const Mark mark = here();
        TRY(builder_.open(Kind::list, mark));
        ++position_;
        if (next_is(']')) return builder_.close(mark);
        do {
            TRY(read_value());
        } while (next_is(','));
        if (!next_is(']')) return syntax_error("a comma or closing bracket is missing");
        return builder_.close(mark);
    }

    // true, false, null or a number.
    Status read_word() {
        const Mark mark = here();
        const std::size_t end = text_.find_first_of(" \t\r\n,:[]{}\"", position_);
        const std::string_view word =
            text_.substr(position_, end == std::string_view::npos ? end : end - position_);
        const std::optional<Kind> kind = word_kind(word);
        if (!kind) return syntax_error("a value is missing or malformed");
        position_ += word.size();
        return builder_.add_scalar(*kind, std::string{word}, mark);
    }

    static std::optional<Kind> word_kind(std::string_view word) {
        if (word == "true" || word == "false") return Kind::boolean;
        if (word == "null") return Kind::null;
        if (is_number(word)) return Kind::number;
        return std::nullopt;
    }

    static bool is_number(std::string_view word) {
        const auto take = [&word](std::string_view one_of) {
            if (word.empty() || one_of.find(word[0]) == std::string_view::npos) return false;
            word.remove_prefix(1);
            return true;
        };
        const auto take_digits = [&take] {
            if (!take("0123456789")) return false;
            while (take("0123456789")) {
            }
            return true;
        };
        take("-");
        if (!take("0") && !take_digits()) return false;
        if (take(".") && !take_digits()) return false;
        if (take("eE")) {
            take("+-");
            if (!take_digits()) return false;
        }
        return word.empty();
    }

    Result<std::string> read_string() {
        std::string value;
        for (++position_; position_ < text_.size(); ++position_) {
            const char character = text_[position_];
            if (character == '"') {
                ++position_;
                return value;
            }
            if (static_cast<unsigned char>(character) < 0x20) break;
            if (character != '\\') {
                value += character;
                continue;
            }
            ++position_;
            TRY(append_escape(value));
        }
        return syntax_error("a string does not end on its line");
    }

    // At the character behind the backslash; ends on the escape's last character.
    Status append_escape(std::string& value) {
        constexpr std::string_view kNames = "\"\\/bfnrt";
        constexpr std::string_view kValues = "\"\\/\b\f\n\r\t";
        if (peek() == 'u') return append_unicode_escape(value);
        const std::size_t index = kNames.find(peek());
        if (index == std::string_view::npos) return syntax_error("there is no such escape");
        value += kValues[index];
        return {};
    }

    Status append_unicode_escape(std::string& value) {
        uint32_t code_point = TRY(read_hexadecimal());
        if (code_point >= 0xd800 && code_point < 0xdc00 && text_.substr(position_ + 1, 2) == "\\u") {
            position_ += 2;
            const uint32_t low = TRY(read_hexadecimal());
            if (low < 0xdc00 || low > 0xdfff) return syntax_error("a surrogate stands alone");
            code_point = 0x10000 + ((code_point - 0xd800) << 10) + (low - 0xdc00);
        }
        if (code_point >= 0xd800 && code_point <= 0xdfff) return syntax_error("a surrogate stands alone");
        append_utf8(value, code_point);
        return {};
    }

    // Four digits behind the 'u' at `position_`; ends on the last of them.
    Result<uint32_t> read_hexadecimal() {
        uint32_t value = 0;
        for (int digit = 0; digit < 4; ++digit) {
            ++position_;
            const char character = peek();
            const std::size_t index = std::string_view{"0123456789abcdef0123456789ABCDEF"}.find(character);
            if (character == '\0' || index == std::string_view::npos) {
                return syntax_error("\\u takes four hexadecimal digits");
            }
            value = value * 16 + static_cast<uint32_t>(index % 16);
        }
        return value;
    }

    void skip_space() {
        for (; position_ < text_.size(); ++position_) {
            if (text_[position_] == '\n') {
                ++line_;
                line_start_ = position_ + 1;
            } else if (text_[position_] != ' ' && text_[position_] != '\t' && text_[position_] != '\r') {
                return;
            }
        }
    }

    bool next_is(char wanted) {
        skip_space();
        if (peek() != wanted) return false;
        ++position_;
        return true;
    }

    // '\0' at the end; the text itself holds none.
    char peek() const { return position_ < text_.size() ? text_[position_] : '\0'; }
    Mark here() const { return {.line = line_, .column = position_ - line_start_ + 1}; }
    Error syntax_error(std::string_view what) const {
        return refusal("grant_parse_error", "grant", std::string{"is not valid JSON: "} + std::string{what},
                       here());
    }

    std::string_view text_;
    std::size_t position_ = 0;
    std::size_t line_ = 1;
    std::size_t line_start_ = 0;
    TreeBuilder builder_ = {};
};

}  // namespace

Result<Node> read_json(std::string_view text) {
    return JsonReader{text}.read();
}

}  // namespace rung::grant

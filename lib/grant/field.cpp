// Strict readers of single values: a value of the wrong type is refused, never converted.
// SPDX-License-Identifier: Apache-2.0
#include "grant/field.hpp"

#include <algorithm>
#include <charconv>

#include "grant/parse.hpp"
#include "grant/plain_scalar.hpp"

namespace rung::grant {

namespace {

std::string_view kind_name(Kind kind) {
    switch (kind) {
        case Kind::null:
            return "empty";
        case Kind::boolean:
            return "a boolean";
        case Kind::number:
            return "a number";
        case Kind::string:
            return "a string";
        case Kind::unclear:
            return "a word that YAML readers disagree on";
        case Kind::list:
            return "a list";
        case Kind::map:
            return "a map";
    }
    return "unknown";
}

Error wrong_kind(const Field& field, std::string_view wanted) {
    return refuse(field, "grant_parse_error",
                  "must be " + std::string{wanted} + ", but is " + std::string{kind_name(field.node->kind)});
}

bool is_letter_or_digit(char character) {
    return (character >= 'a' && character <= 'z') || (character >= 'A' && character <= 'Z') ||
           (character >= '0' && character <= '9');
}

// A quantity may be written as a number or as a string.
Result<std::string> read_quantity(const Field& field) {
    if (field.node->kind != Kind::number && field.node->kind != Kind::string) {
        return wrong_kind(field, "a quantity such as 64Mi");
    }
    return field.node->text;
}

Result<uint64_t> name_field(Result<uint64_t> parsed, const Field& field) {
    if (!parsed) return refuse(field, parsed.error().reason, parsed.error().message);
    return parsed;
}

}  // namespace

Error refuse(const Field& field, std::string_view code, std::string_view what) {
    return refusal(code, field.name, what, field.node->mark);
}

Field member_field(const Field& parent, const Node& member) {
    return Field{.node = &member, .name = parent.is_whole ? member.name : parent.name + "." + member.name};
}

Result<Section> Section::of(const Field& field, std::initializer_list<std::string_view> known) {
    if (field.node->kind != Kind::map) return wrong_kind(field, "a map");
    for (const Node& member : field.node->children) {
        if (!member.set_aside && std::find(known.begin(), known.end(), member.name) == known.end()) {
            return refuse(member_field(field, member), "grant_unknown_field", "there is no such field");
        }
    }
    return Section{field};
}

std::optional<Field> Section::find(std::string_view name) const {
    for (const Node& member : field_.node->children) {
        if (member.name == name && !member.set_aside) return member_field(field_, member);
    }
    return std::nullopt;
}

Result<Field> Section::require(std::string_view name) const {
    if (auto found = find(name)) return *std::move(found);
    return refuse(field_, "grant_parse_error", "must have a field " + quoted(name));
}

Result<std::vector<Field>> read_list(const Field& field, Range entries) {
    if (field.node->kind != Kind::list) return wrong_kind(field, "a list");
    const std::size_t count = field.node->children.size();
    if (count < entries.least) return refuse(field, "grant_parse_error", "must not be empty");
    if (count > entries.most) {
        return refuse(field, "grant_too_large",
                      "has " + std::to_string(count) + " entries, at most " + std::to_string(entries.most) +
                          " are accepted");
    }
    std::vector<Field> fields;
    for (std::size_t index = 0; index < count; ++index) {
        const Node& entry = field.node->children[index];
        if (entry.set_aside) continue;
        fields.push_back({.node = &entry, .name = field.name + "[" + std::to_string(index) + "]"});
    }
    return fields;
}

Result<std::string> read_string(const Field& field) {
    const Kind kind = field.node->kind;
    if (kind == Kind::string) return field.node->text;
    if (kind == Kind::number || kind == Kind::boolean || kind == Kind::unclear) {
        return refuse(field, "grant_parse_error",
                      "must be a string: write \"" + field.node->text + "\" in quotes");
    }
    return wrong_kind(field, "a string");
}

Result<uint64_t> read_integer(const Field& field, Range range) {
    if (field.node->kind != Kind::number) return wrong_kind(field, "a whole number in plain decimal digits");
    const std::string& text = field.node->text;
    uint64_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    const bool negative = text.starts_with('-');
    if (!negative && (end != text.data() + text.size())) {
        return refuse(field, "grant_parse_error", "must be a whole number in plain decimal digits");
    }
    if (negative || error != std::errc{} || value < range.least || value > range.most) {
        return refuse(field, "grant_parse_error",
                      "must be from " + std::to_string(range.least) + " to " + std::to_string(range.most));
    }
    return value;
}

Result<bool> read_boolean(const Field& field) {
    if (field.node->kind != Kind::boolean) return wrong_kind(field, "true or false");
    return field.node->text == "true";
}

Result<std::size_t> read_choice(const Field& field, std::initializer_list<std::string_view> choices) {
    const std::string text = TRY(read_string(field));
    const auto* const found = std::find(choices.begin(), choices.end(), text);
    if (found != choices.end()) return static_cast<std::size_t>(found - choices.begin());
    std::string list;
    for (const std::string_view choice : choices)
        list += (list.empty() ? "" : ", ") + std::string{choice};
    return refuse(field, "grant_parse_error", quoted(text) + " is not one of " + list);
}

Result<uint64_t> read_bytes(const Field& field) {
    return name_field(parse_bytes(TRY(read_quantity(field))), field);
}

Result<uint64_t> read_cpu_milli(const Field& field) {
    return name_field(parse_cpu_milli(TRY(read_quantity(field))), field);
}

bool is_dns_label(std::string_view text) {
    const auto fits = [](char character) {
        return (character >= 'a' && character <= 'z') || (character >= '0' && character <= '9') ||
               character == '-';
    };
    return !text.empty() && text.size() <= 63 && std::all_of(text.begin(), text.end(), fits) &&
           text.front() != '-' && text.back() != '-';
}

Result<std::string> read_dns_label(const Field& field) {
    std::string text = TRY(read_string(field));
    if (is_dns_label(text)) return text;
    return refuse(field, "grant_parse_error",
                  quoted(text) + " must be 1 to 63 lower-case letters, digits and inner hyphens");
}

Result<std::string> read_identifier(const Field& field, std::size_t longest, std::string_view others) {
    std::string text = TRY(read_string(field));
    const auto fits = [&](char character) {
        return is_letter_or_digit(character) || others.find(character) != std::string_view::npos;
    };
    if (!text.empty() && text.size() <= longest && std::all_of(text.begin(), text.end(), fits)) return text;
    return refuse(field, "grant_parse_error",
                  quoted(text) + " must be 1 to " + std::to_string(longest) + " letters, digits and " +
                      std::string{others});
}

Status refuse_repeats(const Field& list, std::vector<std::string> entries) {
    std::sort(entries.begin(), entries.end());
    const auto repeated = std::adjacent_find(entries.begin(), entries.end());
    if (repeated == entries.end()) return {};
    return refuse(list, "grant_parse_error", "lists " + quoted(*repeated) + " twice");
}

}  // namespace rung::grant

// The only place of this layer that sees the JSON library, and where its exceptions end.
// SPDX-License-Identifier: Apache-2.0
#include "config/json_reader.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>

namespace rung::config {
namespace {

using Json = nlohmann::json;

char lower(char character) {
    return character >= 'A' && character <= 'Z' ? static_cast<char>(character - 'A' + 'a') : character;
}

bool same_name(std::string_view left, std::string_view right) {
    return left.size() == right.size() &&
           std::equal(left.begin(), left.end(), right.begin(),
                      [](char a, char b) { return a == b || lower(a) == lower(b); });
}

// "line 3, column 7" of the byte at `offset`.
std::string position(std::string_view text, size_t offset) {
    const std::string_view before = text.substr(0, offset);
    const auto line = std::count(before.begin(), before.end(), '\n') + 1;
    const size_t newline = before.rfind('\n');
    const size_t column = newline == std::string_view::npos ? offset + 1 : offset - newline;
    return "line " + std::to_string(line) + ", column " + std::to_string(column);
}

// A NUL ends a path or a word for the kernel: what stands behind it would be read here and ignored there.
bool has_nul(const std::string& text) {
    return text.find('\0') != std::string::npos;
}

constexpr std::string_view kNul = "must not contain a NUL byte";

}  // namespace

Document::Document(std::string_view label, std::string_view text)
    : label_(label), problem_(std::make_unique<Problem>()) {
    try {
        value_ = std::make_shared<const Json>(Json::parse(text.begin(), text.end()));
        if (!value_->is_object()) *problem_ = {.message = "expected a JSON object", .found = true};
    } catch (const Json::parse_error& error) {
        // `byte` counts from 1 and stands on the last byte read, or past the end of a text that stops too early.
        const bool stops = error.byte > text.size();
        const std::string what = stops ? "the JSON text ends too early, at " : "not valid JSON at ";
        const size_t offset = error.byte == 0 ? 0 : error.byte - 1;
        *problem_ = {.message = what + position(text, std::min(offset, text.size())), .found = true};
    } catch (const Json::exception&) {
        *problem_ = {.message = "not valid JSON: a number is too large", .found = true};
    }
}

Object Document::root() const {
    const Json* value = problem_->found ? nullptr : value_.get();
    return Object{value, nullptr, {}, Object::kNoIndex, problem_.get()};
}

Status Document::status() const {
    if (!problem_->found) return {};
    return Error{.message = label_ + ": " + problem_->message};
}

std::string Object::path() const {
    if (parent_ == nullptr) return {};
    std::string text = parent_->path();
    if (!text.empty()) text += '.';
    text += name_;
    if (index_ != kNoIndex) text += "[" + std::to_string(index_) + "]";
    return text;
}

void Object::refuse(std::string_view name, std::string_view what) const {
    refuse_item(name, kNoIndex, what);
}

void Object::refuse_item(std::string_view name, size_t index, std::string_view what) const {
    if (problem_->found) return;
    const Object field{nullptr, this, name, index, problem_};
    // The merged objects stay: others point into them.
    problem_->message = field.path() + ": " + std::string{what};
    problem_->found = true;
}

const Json* Object::find(std::string_view name) const {
    if (value_ == nullptr) return nullptr;
    const Json* found = nullptr;
    for (const auto& [key, value] : value_->get_ref<const Json::object_t&>()) {
        if (!same_name(key, name) || value.is_null()) continue;
        found = found == nullptr ? &value : merge(name, *found, value);
    }
    return found;
}

// "cpu" and "CPU" side by side: Go reads both into one object. Of a value that is given twice it takes whichever comes last; two readers of
// one file could then disagree on what it says.
const Json* Object::merge(std::string_view name, const Json& one, const Json& other) const {
    auto merged = std::make_shared<Json>(one);
    const bool are_objects = one.is_object() && other.is_object();
    if (are_objects) merged->insert(other.begin(), other.end());
    if (!are_objects || merged->size() != one.size() + other.size())
        refuse(name, "given twice, in different spellings");
    problem_->merged.push_back(merged);
    return merged.get();
}

const Json* Object::find_list(std::string_view name) const {
    const Json* value = find(name);
    if (value == nullptr || value->is_array()) return value;
    refuse(name, "expected a list");
    return nullptr;
}

const Json* Object::find_object(std::string_view name) const {
    const Json* value = find(name);
    if (value == nullptr || value->is_object()) return value;
    refuse(name, "expected an object");
    return nullptr;
}

bool Object::has(std::string_view name) const {
    const Json* value = find(name);
    return value != nullptr && !value->empty();
}

bool Object::has_object(std::string_view name) const {
    return find_object(name) != nullptr;
}

bool Object::names(std::string_view name) const {
    return find(name) != nullptr;
}

bool Object::boolean(std::string_view name) const {
    return optional_boolean(name).value_or(false);
}

std::optional<bool> Object::optional_boolean(std::string_view name) const {
    const Json* value = find(name);
    if (value == nullptr) return {};
    if (value->is_boolean()) return value->get<bool>();
    refuse(name, "expected true or false");
    return {};
}

std::string Object::text(std::string_view name) const {
    const Json* value = find(name);
    if (value == nullptr) return {};
    if (!value->is_string()) {
        refuse(name, "expected a string");
        return {};
    }
    const auto& text = value->get_ref<const std::string&>();
    if (has_nul(text)) refuse(name, kNul);
    return text;
}

std::optional<int64_t> Object::signed_number(std::string_view name, int64_t least, int64_t most) const {
    const Json* value = find(name);
    if (value == nullptr) return {};
    const bool fits = value->is_number_integer() &&
                      !(value->is_number_unsigned() &&
                        value->get<uint64_t>() > static_cast<uint64_t>(std::numeric_limits<int64_t>::max()));
    if (fits && value->get<int64_t>() >= least && value->get<int64_t>() <= most) return value->get<int64_t>();
    refuse(name, "expected an integer from " + std::to_string(least) + " to " + std::to_string(most));
    return {};
}

std::optional<uint64_t> Object::unsigned_number(std::string_view name, uint64_t most) const {
    const Json* value = find(name);
    if (value == nullptr) return {};
    if (value->is_number_unsigned() && value->get<uint64_t>() <= most) return value->get<uint64_t>();
    refuse(name, "expected an integer from 0 to " + std::to_string(most));
    return {};
}

std::optional<int64_t> Object::int64(std::string_view name) const {
    return signed_number(name, std::numeric_limits<int64_t>::min(), std::numeric_limits<int64_t>::max());
}

std::optional<uint64_t> Object::uint64(std::string_view name) const {
    return unsigned_number(name, std::numeric_limits<uint64_t>::max());
}

std::optional<int32_t> Object::int32(std::string_view name) const {
    const auto number =
        signed_number(name, std::numeric_limits<int32_t>::min(), std::numeric_limits<int32_t>::max());
    if (!number) return {};
    return static_cast<int32_t>(*number);
}

std::optional<uint32_t> Object::uint32(std::string_view name) const {
    const auto number = unsigned_number(name, std::numeric_limits<uint32_t>::max());
    if (!number) return {};
    return static_cast<uint32_t>(*number);
}

std::optional<uint16_t> Object::uint16(std::string_view name) const {
    const auto number = unsigned_number(name, std::numeric_limits<uint16_t>::max());
    if (!number) return {};
    return static_cast<uint16_t>(*number);
}

std::vector<std::string> Object::texts(std::string_view name) const {
    std::vector<std::string> texts;
    const Json* list = find_list(name);
    if (list == nullptr) return texts;
    texts.reserve(list->size());
    for (const Json& item : *list) {
        if (!item.is_string()) {
            refuse_item(name, texts.size(), "expected a string");
            return texts;
        }
        const auto& text = item.get_ref<const std::string&>();
        if (has_nul(text)) refuse_item(name, texts.size(), kNul);
        texts.push_back(text);
    }
    return texts;
}

std::vector<uint32_t> Object::uint32s(std::string_view name) const {
    std::vector<uint32_t> numbers;
    const Json* list = find_list(name);
    if (list == nullptr) return numbers;
    for (const Json& item : *list) {
        if (!item.is_number_unsigned() || item.get<uint64_t>() > std::numeric_limits<uint32_t>::max()) {
            refuse_item(name, numbers.size(), "expected an integer from 0 to 4294967295");
            return numbers;
        }
        numbers.push_back(item.get<uint32_t>());
    }
    return numbers;
}

std::map<std::string, std::string> Object::text_map(std::string_view name) const {
    std::map<std::string, std::string> texts;
    const Json* value = find_object(name);
    if (value == nullptr) return texts;
    const Object map{value, this, name, kNoIndex, problem_};
    for (const auto& [key, item] : value->get_ref<const Json::object_t&>()) {
        if (!item.is_string()) {
            map.refuse(key, "expected a string");
            return texts;
        }
        const auto& text = item.get_ref<const std::string&>();
        if (has_nul(key) || has_nul(text)) map.refuse(key, kNul);
        texts.emplace_hint(texts.end(), key, text);
    }
    return texts;
}

Object Object::object(std::string_view name) const& {
    return Object{find_object(name), this, name, kNoIndex, problem_};
}

std::vector<Object> Object::objects(std::string_view name) const& {
    std::vector<Object> objects;
    const Json* list = find_list(name);
    if (list == nullptr) return objects;
    objects.reserve(list->size());
    for (const Json& item : *list) {
        if (!item.is_object()) {
            refuse_item(name, objects.size(), "expected an object");
            return objects;
        }
        objects.push_back(Object{&item, this, name, objects.size(), problem_});
    }
    return objects;
}

std::vector<std::pair<std::string, Object>> Object::members() const& {
    std::vector<std::pair<std::string, Object>> members;
    if (value_ == nullptr) return members;
    for (const auto& [key, item] : value_->get_ref<const Json::object_t&>()) {
        if (!item.is_object()) {
            refuse(key, "expected an object");
            return members;
        }
        if (has_nul(key)) refuse(key, kNul);
        members.emplace_back(key, Object{&item, this, key, kNoIndex, problem_});
    }
    return members;
}

}  // namespace rung::config

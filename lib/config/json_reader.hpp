// Reading JSON as Go does for runc: keys in any case, null as absent; the first mistake is named by its path.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.hpp"

namespace rung::config {

// What is wrong with a document. Reading goes on after a mistake, with empty values; the first one is kept.
struct Problem {
    std::string message = {};
    bool found = false;
    std::vector<std::shared_ptr<const nlohmann::json>> merged = {};  // objects that stood in several pieces
};

// One JSON object and where it stands in its document; or nothing, of which every field is absent.
// It points to its parent, which has to be a named variable: reading from a temporary does not compile.
class Object {
  public:
    bool has(std::string_view name) const;         // present, and neither null nor an empty list or object
    bool has_object(std::string_view name) const;  // present and an object, if an empty one
    bool names(std::string_view name) const;       // present and not null

    bool boolean(std::string_view name) const;  // absent = false
    std::optional<bool> optional_boolean(std::string_view name) const;
    std::string text(std::string_view name) const;  // absent = ""

    std::optional<int64_t> int64(std::string_view name) const;
    std::optional<uint64_t> uint64(std::string_view name) const;
    std::optional<int32_t> int32(std::string_view name) const;
    std::optional<uint32_t> uint32(std::string_view name) const;
    std::optional<uint16_t> uint16(std::string_view name) const;

    std::vector<std::string> texts(std::string_view name) const;
    std::vector<uint32_t> uint32s(std::string_view name) const;
    std::map<std::string, std::string> text_map(std::string_view name) const;

    Object object(std::string_view name) const&;
    std::vector<Object> objects(std::string_view name) const&;
    std::vector<std::pair<std::string, Object>> members() const&;  // when every value is an object
    Object object(std::string_view name) const&& = delete;
    std::vector<Object> objects(std::string_view name) const&& = delete;
    std::vector<std::pair<std::string, Object>> members() const&& = delete;

    // Records that the field `name` is wrong: "config.json: process.NAME: WHAT".
    void refuse(std::string_view name, std::string_view what) const;

  private:
    friend class Document;
    static constexpr size_t kNoIndex = std::numeric_limits<size_t>::max();

    Object(const nlohmann::json* value, const Object* parent, std::string_view name, size_t index,
           Problem* problem)
        : value_(value), parent_(parent), name_(name), index_(index), problem_(problem) {}

    std::string path() const;
    void refuse_item(std::string_view name, size_t index, std::string_view what) const;
    const nlohmann::json* find(std::string_view name) const;  // nullptr when absent or null
    const nlohmann::json* merge(std::string_view name, const nlohmann::json& one,
                                const nlohmann::json& other) const;
    const nlohmann::json* find_list(std::string_view name) const;    // nullptr when not a list either
    const nlohmann::json* find_object(std::string_view name) const;  // nullptr when not an object either
    std::optional<int64_t> signed_number(std::string_view name, int64_t least, int64_t most) const;
    std::optional<uint64_t> unsigned_number(std::string_view name, uint64_t most) const;

    const nlohmann::json* value_ = nullptr;
    const Object* parent_ = nullptr;
    std::string_view name_ = {};  // points into the JSON value, or to the name asked for
    size_t index_ = kNoIndex;     // the place in a list
    Problem* problem_ = nullptr;
};

// A parsed JSON text whose top level is an object. `label` names it in errors: "config.json".
class Document {
  public:
    Document(std::string_view label, std::string_view text);
    Document(const Document&) = delete;
    Document& operator=(const Document&) = delete;

    Object root() const;
    Status status() const;

  private:
    std::string label_ = {};
    std::shared_ptr<const nlohmann::json> value_ = {};
    std::unique_ptr<Problem> problem_ = {};
};

}  // namespace rung::config

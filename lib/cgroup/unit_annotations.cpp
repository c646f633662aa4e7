// org.systemd.property.* annotations: GVariant text (docs.gtk.org, "GVariant Text Format") into typed properties.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <optional>
#include <string_view>

#include "cgroup/unit.hpp"

namespace rung::cgroup {

namespace {

constexpr std::string_view kPrefix = "org.systemd.property.";

struct Allowed {
    std::string_view name;
    std::string_view type;
};
// Sorted. Time is in microseconds here; an annotation may say "...Sec", in seconds.
constexpr std::array kAllowed = {
    Allowed{"After", "as"},          Allowed{"Before", "as"},        Allowed{"CollectMode", "s"},
    Allowed{"Description", "s"},     Allowed{"Documentation", "as"}, Allowed{"FinalKillSignal", "i"},
    Allowed{"KillMode", "s"},        Allowed{"KillSignal", "i"},     Allowed{"OOMPolicy", "s"},
    Allowed{"RuntimeMaxUSec", "t"},  Allowed{"SendSIGHUP", "b"},     Allowed{"SendSIGKILL", "b"},
    Allowed{"TimeoutStopUSec", "t"},
};

std::string_view trimmed(std::string_view text) {
    const size_t first = text.find_first_not_of(" \t\n");
    if (first == std::string_view::npos) return {};
    return text.substr(first, text.find_last_not_of(" \t\n") - first + 1);
}

// Takes one quoted text from the front of `rest`.
std::optional<std::string> take_quoted(std::string_view& rest) {
    if (rest.empty() || (rest.front() != '\'' && rest.front() != '"')) return {};
    const char quote = rest.front();
    std::string text;
    for (size_t at = 1; at < rest.size(); ++at) {
        if (rest[at] == quote) {
            rest.remove_prefix(at + 1);
            return text;
        }
        if (rest[at] == '\0') return {};
        if (rest[at] == '\\' && ++at == rest.size()) return {};
        text += rest[at];
    }
    return {};
}

std::optional<std::vector<std::string>> parse_texts(std::string_view text) {
    if (text.size() < 2 || text.front() != '[' || text.back() != ']') return {};
    std::string_view rest = trimmed(text.substr(1, text.size() - 2));
    std::vector<std::string> texts;
    while (!rest.empty()) {
        const auto one = take_quoted(rest);
        if (!one) return {};
        texts.push_back(*one);
        rest = trimmed(rest);
        if (rest.empty()) break;
        if (rest.front() != ',') return {};
        rest = trimmed(rest.substr(1));
        if (rest.empty()) return {};
    }
    return texts;
}

std::optional<std::string> parse_text(std::string_view text) {
    const auto one = take_quoted(text);
    if (!one || !text.empty()) return {};
    return one;
}

// "uint64 5", "int32 5", or the bare "5", which stands for whatever the property is.
std::optional<std::string_view> without_type(std::string_view text, std::string_view type) {
    const size_t space = text.find(' ');
    if (space == std::string_view::npos) return text;
    if (text.substr(0, space) != type) return {};
    return trimmed(text.substr(space));
}

template <typename Number>
std::optional<std::string> parse_number(std::string_view text, std::string_view type) {
    const auto digits = without_type(text, type);
    if (!digits) return {};
    Number value = 0;
    const auto parsed = std::from_chars(digits->data(), digits->data() + digits->size(), value);
    if (parsed.ec != std::errc{} || parsed.ptr != digits->data() + digits->size()) return {};
    return std::to_string(value);
}

// Seconds, of whatever type and perhaps with a fraction, as microseconds.
std::optional<std::string> microseconds(std::string_view text) {
    const size_t space = text.find(' ');
    const std::string_view digits = space == std::string_view::npos ? text : trimmed(text.substr(space));
    double seconds = 0;
    const auto parsed = std::from_chars(digits.data(), digits.data() + digits.size(), seconds);
    const bool is_whole = parsed.ec == std::errc{} && parsed.ptr == digits.data() + digits.size();
    if (!is_whole || !(seconds >= 0) || seconds > 1e12) return {};
    return std::to_string(static_cast<uint64_t>(std::llround(seconds * 1e6)));
}

std::optional<std::vector<std::string>> parse_value(std::string_view text, std::string_view type) {
    if (type == "as") return parse_texts(text);
    std::optional<std::string> value;
    if (type == "s") value = parse_text(text);
    if (type == "b" && (text == "true" || text == "false")) value = std::string{text};
    if (type == "i") value = parse_number<int32_t>(text, "int32");
    if (type == "t") value = parse_number<uint64_t>(text, "uint64");
    if (!value) return {};
    return std::vector{*value};
}

bool is_in_seconds(std::string_view name) {
    return name.ends_with("Sec") && !name.ends_with("USec");
}

const Allowed* find_allowed(std::string_view name) {
    const auto found = std::find_if(kAllowed.begin(), kAllowed.end(),
                                    [&](const Allowed& allowed) { return allowed.name == name; });
    return found == kAllowed.end() ? nullptr : &*found;
}

Result<UnitProperty> property_of(const std::string& key, std::string_view text) {
    std::string name = key.substr(kPrefix.size());
    const bool seconds = is_in_seconds(name);
    if (seconds) name.insert(name.size() - 3, "U");
    const Allowed* allowed = find_allowed(name);
    if (allowed == nullptr)
        return Error{.message = "annotation " + key + ": a container may not set this property of its unit"};
    std::optional<std::vector<std::string>> values;
    if (!seconds) {
        values = parse_value(trimmed(text), allowed->type);
    } else if (const auto value = microseconds(trimmed(text))) {
        values = std::vector{*value};
    }
    if (!values) {
        return Error{.message = "annotation " + key + ": \"" + std::string{text} +
                                "\" is not a value of type " + std::string{allowed->type} +
                                " in GVariant text"};
    }
    return UnitProperty{.name = name, .type = std::string{allowed->type}, .values = std::move(*values)};
}

}  // namespace

Result<std::vector<UnitProperty>> properties_of_annotations(
    const std::map<std::string, std::string>& annotations) {
    std::vector<UnitProperty> properties;
    for (const auto& [key, text] : annotations) {
        if (key.starts_with(kPrefix)) properties.push_back(TRY(property_of(key, text)));
    }
    return properties;
}

}  // namespace rung::cgroup

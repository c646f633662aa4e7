// The reading order and the conversions of Go's flag package.
// SPDX-License-Identifier: Apache-2.0
#include "flags.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <limits>

namespace rung::cli {

namespace {

// "-bundle=x" -> {"bundle", "x"}.
struct Split {
    std::string name = {};
    std::optional<std::string> value = {};
};

Split split_flag(const std::string& word) {
    const size_t begin = word.find_first_not_of('-');
    const size_t equals = word.find('=', begin);
    if (equals == std::string::npos) return {.name = word.substr(begin), .value = {}};
    return {.name = word.substr(begin, equals - begin), .value = word.substr(equals + 1)};
}

bool is_flag(const std::string& word) {
    return word.size() > 1 && word[0] == '-' && word.find_first_not_of('-') != std::string::npos;
}

Error wrong_value(const std::string& name, const std::string& value, std::string_view wanted) {
    return Error{.message = "invalid value \"" + value + "\" for flag -" + name + ": " + std::string{wanted}};
}

// strconv.ParseBool
std::optional<bool> parse_bool(std::string_view text) {
    constexpr std::array<std::string_view, 6> kTrue = {"1", "t", "T", "TRUE", "true", "True"};
    constexpr std::array<std::string_view, 6> kFalse = {"0", "f", "F", "FALSE", "false", "False"};
    if (std::find(kTrue.begin(), kTrue.end(), text) != kTrue.end()) return true;
    if (std::find(kFalse.begin(), kFalse.end(), text) != kFalse.end()) return false;
    return {};
}

template <typename Number>
std::optional<Number> parse_number(std::string_view text) {
    Number value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc{} || end != text.data() + text.size()) return {};
    return value;
}

// Gives one flag's value to its target.
struct Giver {
    const std::string& name;
    const std::string& value;

    Status operator()(bool* target) const {
        const auto parsed = parse_bool(value);
        if (!parsed) return wrong_value(name, value, "neither true nor false");
        *target = *parsed;
        return {};
    }
    Status operator()(std::optional<bool>* target) const {
        bool parsed = false;
        TRY((*this)(&parsed));
        *target = parsed;
        return {};
    }
    Status operator()(std::string* target) const {
        *target = value;
        return {};
    }
    Status operator()(std::optional<std::string>* target) const {
        *target = value;
        return {};
    }
    Status operator()(int* target) const {
        const auto parsed = parse_number<int>(value);
        if (!parsed) return wrong_value(name, value, "not a number");
        *target = *parsed;
        return {};
    }
    Status operator()(std::vector<std::string>* target) const {
        target->push_back(value);
        return {};
    }
    Status operator()(std::vector<uint32_t>* target) const {
        const auto parsed = parse_number<uint32_t>(value);
        if (!parsed) return wrong_value(name, value, "not a positive number");
        target->push_back(*parsed);
        return {};
    }
};

std::string dashed(const std::string& name) {
    return (name.size() == 1 ? "-" : "--") + name;
}

}  // namespace

bool Flags::Flag::is_switch() const {
    return std::holds_alternative<bool*>(target) || std::holds_alternative<std::optional<bool>*>(target);
}

void Flags::add(std::string_view names, Target target, std::string about) {
    Flag flag{.target = target, .about = std::move(about)};
    while (!names.empty()) {
        const size_t comma = std::min(names.find(','), names.size());
        flag.names.emplace_back(names.substr(0, comma));
        names.remove_prefix(std::min(comma + 1, names.size()));
    }
    flags_.push_back(std::move(flag));
}

const Flags::Flag* Flags::find(std::string_view name) const {
    for (const Flag& flag : flags_) {
        if (std::find(flag.names.begin(), flag.names.end(), name) != flag.names.end()) return &flag;
    }
    return nullptr;
}

Result<Flags::Read> Flags::read(const Words& words, Order order) const {
    Read read;
    for (size_t index = 0; index < words.size(); ++index) {
        const std::string& word = words[index];
        if (word == "--" || (order == Order::flags_first && !is_flag(word))) {
            const auto from = words.begin() + static_cast<std::ptrdiff_t>(index) + (word == "--" ? 1 : 0);
            read.rest.insert(read.rest.end(), from, words.end());
            break;
        }
        if (!is_flag(word)) {
            read.rest.push_back(word);
            continue;
        }
        Split split = split_flag(word);
        if (split.name == "help" || split.name == "h") {
            read.help = true;
            break;
        }
        const Flag* flag = find(split.name);
        if (flag == nullptr) return Error{.message = "flag provided but not defined: -" + split.name};
        if (!split.value && flag->is_switch()) split.value = "true";
        if (!split.value && index + 1 == words.size())
            return Error{.message = "flag needs an argument: -" + split.name};
        const std::string& value = split.value ? *split.value : words[++index];
        TRY(std::visit(Giver{split.name, value}, flag->target));
    }
    return read;
}

std::string Flags::describe() const {
    std::vector<std::pair<std::string, std::string>> lines;
    size_t width = 0;
    for (const Flag& flag : flags_) {
        if (flag.about.empty()) continue;
        std::string left;
        for (const std::string& name : flag.names) {
            left += (left.empty() ? "" : ", ") + dashed(name) + (flag.is_switch() ? "" : " value");
        }
        width = std::max(width, left.size());
        lines.emplace_back(std::move(left), flag.about);
    }
    lines.emplace_back("--help, -h", "show this");
    std::string text;
    for (auto& [left, about] : lines) {
        left.resize(std::max(width, left.size()) + 2, ' ');
        text += "   " + left + about + "\n";
    }
    return text;
}

}  // namespace rung::cli

// A library for this would be larger than the program's own start: reading the command line is part of every container's start.
// SPDX-License-Identifier: Apache-2.0
#include "flags.hpp"

#include <algorithm>
#include <array>
#include <charconv>

namespace rung::cli {

namespace {

// "-bundle=x" -> "bundle" and "x".
struct Written {
    std::string name = {};
    std::optional<std::string> value = {};
};

Written split(const std::string& word) {
    const size_t begin = word.starts_with("--") ? 2 : 1;
    const size_t equals = word.find('=', begin);
    if (equals == std::string::npos) return {.name = word.substr(begin), .value = {}};
    return {.name = word.substr(begin, equals - begin), .value = word.substr(equals + 1)};
}

// A lone "-" is a name for standard input.
bool is_flag(const std::string& word) {
    return word.size() > 1 && word[0] == '-';
}

template <typename Number>
bool to_number(const std::string& text, Number& number) {
    const char* end = text.data() + text.size();
    const auto [stop, error] = std::from_chars(text.data(), end, number);
    return error == std::errc{} && stop == end && number >= Number{0};
}

bool to_bool(const std::string& text, bool& value) {
    static constexpr std::array<std::string_view, 6> kTrue = {"true", "True", "TRUE", "t", "T", "1"};
    static constexpr std::array<std::string_view, 6> kFalse = {"false", "False", "FALSE", "f", "F", "0"};
    value = std::find(kTrue.begin(), kTrue.end(), text) != kTrue.end();
    return value || std::find(kFalse.begin(), kFalse.end(), text) != kFalse.end();
}

// Each is false for a value of the wrong form.
struct Setter {
    const std::string& text;

    bool operator()(bool* target) const { return to_bool(text, *target); }
    bool operator()(int* target) const { return to_number(text, *target); }
    bool operator()(std::string* target) const {
        *target = text;
        return true;
    }
    bool operator()(std::optional<std::string>* target) const {
        *target = text;
        return true;
    }
    bool operator()(Words* target) const {
        target->push_back(text);
        return true;
    }
    bool operator()(std::vector<uint32_t>* target) const { return to_number(text, target->emplace_back()); }
};

Status set(const Flag& flag, const Written& written, const std::string& value) {
    if (std::visit(Setter{.text = value}, flag.target)) return {};
    if (std::holds_alternative<bool*>(flag.target)) {
        return Error{.message =
                         "invalid boolean value \"" + value + "\" for -" + written.name + ": parse error"};
    }
    return Error{.message = "invalid value \"" + value + "\" for flag -" + written.name + ": parse error"};
}

}  // namespace

const Flag* Flags::find(std::string_view name) const {
    const auto found = std::find_if(flags_.begin(), flags_.end(), [&](const Flag& flag) {
        return flag.name == name || (name.size() == 1 && flag.letter == name[0]);
    });
    return found == flags_.end() ? nullptr : &*found;
}

Result<Read> Flags::read(const Words& words, Order order) const {
    Read read;
    for (auto word = words.begin(); word != words.end(); ++word) {
        const bool ends = *word == "--";
        if (ends || (!is_flag(*word) && order == Order::flags_first)) {
            read.positionals.insert(read.positionals.end(), ends ? word + 1 : word, words.end());
            break;
        }
        if (!is_flag(*word)) {
            read.positionals.push_back(*word);
            continue;
        }
        const Written written = split(*word);
        if (written.name == "help" || written.name == "h") {
            read.help = true;
            break;
        }
        const Flag* flag = find(written.name);
        if (flag == nullptr) return Error{.message = "flag provided but not defined: -" + written.name};
        if (written.value) {
            TRY(set(*flag, written, *written.value));
        } else if (std::holds_alternative<bool*>(flag->target)) {
            TRY(set(*flag, written, "true"));
        } else if (word + 1 == words.end()) {
            return Error{.message = "flag needs an argument: -" + written.name};
        } else {
            TRY(set(*flag, written, *++word));
        }
    }
    return read;
}

std::string Flags::help() const {
    std::string text;
    for (const Flag& flag : flags_) {
        std::string line = "  --" + std::string{flag.name};
        if (flag.letter != '\0') line += std::string{", -"} + flag.letter;
        if (!std::holds_alternative<bool*>(flag.target)) line += " VALUE";
        line.resize(std::max<size_t>(line.size() + 1, 34), ' ');
        text += line + std::string{flag.about} + "\n";
    }
    return text;
}

}  // namespace rung::cli

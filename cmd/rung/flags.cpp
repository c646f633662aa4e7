// The reading order of Go's flag package before CLI11's conversions.
// SPDX-License-Identifier: Apache-2.0
#include "flags.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>

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

std::string dashed(const std::string& name) {
    return (name.size() == 1 ? "-" : "--") + name;
}

// "bundle,b" -> "--bundle,-b"
std::string dashed_names(std::string_view names) {
    std::string all;
    while (!names.empty()) {
        const size_t comma = std::min(names.find(','), names.size());
        all += (all.empty() ? "" : ",") + dashed(std::string{names.substr(0, comma)});
        names.remove_prefix(std::min(comma + 1, names.size()));
    }
    return all;
}

bool is_switch(const CLI::Option& option) {
    return option.get_items_expected_max() == 0;
}

// Declares one flag by the type of what it sets.
struct Declare {
    CLI::App& app;
    const std::string& names;
    const std::string& about;

    CLI::Option* operator()(bool* target) const { return app.add_flag(names, *target, about); }
    CLI::Option* operator()(std::optional<bool>* target) const {
        return app.add_flag_function(
            names, [target](int64_t count) { *target = count > 0; }, about);
    }
    CLI::Option* operator()(std::string* target) const { return app.add_option(names, *target, about); }
    // Through a function: to CLI11 an empty value would be none.
    CLI::Option* operator()(std::optional<std::string>* target) const {
        return app.add_option_function<std::string>(
            names, [target](const std::string& value) { *target = value; }, about);
    }
    CLI::Option* operator()(int* target) const {
        const auto not_empty = [](const std::string& text) {
            return std::string{text.empty() ? "is empty" : ""};
        };
        return app.add_option(names, *target, about)->check(not_empty);
    }
    template <typename Value>
    CLI::Option* operator()(std::vector<Value>* target) const {
        return app.add_option(names, *target, about)
            ->expected(1)
            ->allow_extra_args(false)
            ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
    }
};

// CLI11 throws; nothing beyond this function does.
Status give_values(CLI::App& app, Words flags) {
    std::reverse(flags.begin(), flags.end());  // it takes them from the back
    try {
        app.parse(std::move(flags));
    } catch (const CLI::Error& error) {
        return Error{.message = std::string{"invalid value for a flag: "} + error.what()};
    }
    return {};
}

}  // namespace

Flags::Flags() : app_(std::make_unique<CLI::App>()) {
    app_->set_help_flag();
    app_->option_defaults()->multi_option_policy(CLI::MultiOptionPolicy::TakeLast);
}

Flags::~Flags() = default;

void Flags::add(std::string_view names, Target target, std::string about) {
    const std::string all = dashed_names(names);
    (void)std::visit(Declare{*app_, all, about}, target);
}

Result<Flags::Read> Flags::read(const Words& words, Order order) {
    Read read;
    Words flags;  // "--name=true", or "--name" and its value
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
        const Split split = split_flag(word);
        if (split.name == "help" || split.name == "h") {
            read.help = true;
            break;
        }
        const CLI::Option* option = app_->get_option_no_throw(dashed(split.name));
        if (option == nullptr) return Error{.message = "flag provided but not defined: -" + split.name};
        if (is_switch(*option)) {
            flags.push_back(dashed(option->get_lnames().front()) + "=" + split.value.value_or("true"));
            continue;
        }
        if (!split.value && index + 1 == words.size())
            return Error{.message = "flag needs an argument: -" + split.name};
        flags.push_back(dashed(option->get_lnames().front()));
        flags.push_back(split.value ? *split.value : words[++index]);
    }
    TRY(give_values(*app_, std::move(flags)));
    return read;
}

std::string Flags::describe() const {
    std::vector<std::pair<std::string, std::string>> lines;
    size_t width = 0;
    for (const CLI::Option* option : app_->get_options()) {
        if (option->get_description().empty()) continue;
        const std::string value = is_switch(*option) ? "" : " value";
        std::string left = dashed(option->get_lnames().front()) + value;
        for (const std::string& letter : option->get_snames())
            left += ", -" + letter + value;
        width = std::max(width, left.size());
        lines.emplace_back(std::move(left), option->get_description());
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

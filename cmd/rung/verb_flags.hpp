// What each verb takes: its flags, and where its other words go.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <climits>
#include <span>
#include <string>
#include <string_view>

#include "flags.hpp"
#include "options.hpp"

namespace rung::cli {

inline constexpr size_t kAnyNumber = INT_MAX;

struct Entry {
    std::string_view name = {};
    std::string_view usage = {};  // the words after the flags
    std::string_view about = {};
    size_t least = 0;  // how many words
    size_t most = 0;
    Order order = Order::interspersed;
    Verb (*blank)() = nullptr;  // the verb before any of its words is read
};

// Every verb, in the order of help.
std::span<const Entry> entries();
const Entry* find_entry(const std::string& name);

void declare_flags(Flags& flags, Verb& verb);
void place_words(Verb& verb, Words words);

}  // namespace rung::cli

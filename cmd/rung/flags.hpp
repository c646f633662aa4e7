// Command-line flags as Go's flag package reads them, since engines were written against that: `-name` is `--name`, `--name=value` is
// `--name value`, short flags are not joined, `--` ends them.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/result.hpp"

namespace rung::cli {

using Words = std::vector<std::string>;

// What a flag sets. A bool needs no value; a list grows with each use, anything else keeps the last value. Numbers are not negative.
using Target =
    std::variant<bool*, int*, std::string*, std::optional<std::string>*, Words*, std::vector<uint32_t>*>;

struct Flag {
    std::string_view name = {};
    Target target = {};
    std::string_view about = {};
    char letter = '\0';  // "-b" for "--bundle"
};

// May flags stand behind the first word that is none?
enum class Order { interspersed, flags_first };

struct Read {
    bool help = false;  // --help or -h was there; nothing behind it was read
    Words positionals = {};
};

class Flags {
  public:
    void add(Flag flag) { flags_.push_back(flag); }

    // Sets the targets. Errors have the words of Go's package.
    Result<Read> read(const Words& words, Order order) const;

    // One line each, in the order of add().
    std::string help() const;

  private:
    const Flag* find(std::string_view name) const;

    std::vector<Flag> flags_ = {};
};

}  // namespace rung::cli

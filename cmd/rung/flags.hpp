// Flags of a command line, read as Go programs read them, since that is what engines were written against: `-name` is `--name`,
// `--name=value` is `--name value`, `--` ends them, and of several values the last one counts.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/result.hpp"

namespace CLI {
class App;
}

namespace rung::cli {

using Words = std::vector<std::string>;

// May flags stand between and behind the other words, or does the first word that is none end them?
enum class Order { interspersed, flags_first };

// Where a value goes. A switch (bool) takes none, or one behind an equals sign; a vector collects every value that is given.
using Target = std::variant<bool*, std::optional<bool>*, std::string*, std::optional<std::string>*, int*,
                            std::vector<std::string>*, std::vector<uint32_t>*>;

// Declares flags to CLI11, which converts values; the reading order is Go's and is done here.
class Flags {
  public:
    Flags();
    ~Flags();
    Flags(const Flags&) = delete;
    Flags& operator=(const Flags&) = delete;

    // "bundle,b": the long name first. `about` is a line of help; without one the flag is left out there.
    void add(std::string_view names, Target target, std::string about = {});

    struct Read {
        bool help = false;  // --help or -h: nothing behind it was looked at
        Words rest = {};
    };
    // Gives each target its value. That a flag is unknown or lacks its value is worded as Go's flag package words it.
    Result<Read> read(const Words& words, Order order);

    // A line for each flag, as `--help` shows them.
    std::string describe() const;

  private:
    std::unique_ptr<CLI::App> app_;
};

}  // namespace rung::cli

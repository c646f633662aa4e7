// Flags by Go's rules.
// SPDX-License-Identifier: Apache-2.0
#include "flags.hpp"

#include <doctest/doctest.h>

using namespace rung;
using cli::Flags;
using cli::Order;

TEST_CASE("one dash is two, and a value may stand behind an equals sign") {
    std::string text;
    int number = 0;
    bool on = false;
    Flags flags;
    flags.add("text,t", &text);
    flags.add("number,n", &number);
    flags.add("on,o", &on);

    const auto read = flags.read({"-text", "a", "--number=7", "-o", "rest"}, Order::flags_first);

    REQUIRE(read);
    CHECK(text == "a");
    CHECK(number == 7);
    CHECK(on);
    CHECK(read->rest == cli::Words{"rest"});
}

TEST_CASE("the last value counts, a list keeps all, and what was not said stays unknown") {
    std::string text;
    std::vector<std::string> list;
    std::optional<bool> unsaid;
    std::optional<bool> said;
    Flags flags;
    flags.add("text", &text);
    flags.add("list,l", &list);
    flags.add("unsaid", &unsaid);
    flags.add("said", &said);

    REQUIRE(flags.read({"--text=a", "-l", "1", "--text", "", "-l=2", "--said=false"}, Order::interspersed));

    CHECK(text.empty());
    CHECK(list == std::vector<std::string>{"1", "2"});
    CHECK(!unsaid);
    CHECK(said == false);
}

TEST_CASE("flags may stand behind words, or words end them") {
    bool on = false;
    Flags flags;
    flags.add("on", &on);

    CHECK(flags.read({"a", "--on", "b"}, Order::interspersed)->rest == cli::Words{"a", "b"});
    CHECK(on);
    CHECK(flags.read({"a", "--on"}, Order::flags_first)->rest == cli::Words{"a", "--on"});
    CHECK(flags.read({"--", "--on"}, Order::interspersed)->rest == cli::Words{"--on"});
    CHECK(flags.read({"-"}, Order::interspersed)->rest == cli::Words{"-"});
}

TEST_CASE("wrong values are refused by name") {
    bool on = false;
    int number = 0;
    std::vector<uint32_t> ids;
    Flags flags;
    flags.add("on", &on);
    flags.add("number", &number);
    flags.add("ids", &ids);

    CHECK(flags.read({"--on=maybe"}, Order::interspersed).error().message.find("--on") != std::string::npos);
    CHECK(!flags.read({"--number", "1x"}, Order::interspersed));
    CHECK(!flags.read({"--number", ""}, Order::interspersed));
    CHECK(!flags.read({"--ids", "-1"}, Order::interspersed));
    CHECK(!flags.read({"--ids", "4294967296"}, Order::interspersed));
    CHECK(flags.read({"--number"}, Order::interspersed).error().message == "flag needs an argument: -number");
    CHECK(flags.read({"--other"}, Order::interspersed).error().message ==
          "flag provided but not defined: -other");
}

TEST_CASE("help is asked for in the midst, and described flags are listed") {
    std::string text;
    Flags flags;
    flags.add("text,t", &text, "some text");
    flags.add("hidden", &text);

    CHECK(flags.read({"a", "-h", "--other"}, Order::interspersed)->help);
    CHECK(flags.describe().find("--text value, -t value  some text") != std::string::npos);
    CHECK(flags.describe().find("hidden") == std::string::npos);
}

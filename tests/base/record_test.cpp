// Records as lines and back.
// SPDX-License-Identifier: Apache-2.0
#include "base/record.hpp"

#include <doctest/doctest.h>

using namespace rung;

TEST_CASE("a record is one line whatever its fields hold") {
    const Record record = {"start", "a\tb", "", "c\nd", "e\\t", "\\"};

    const std::string line = to_line(record);

    CHECK(line == "start\ta\\tb\t\tc\\nd\te\\\\t\t\\\\");
    CHECK(from_line(line) == record);
}

TEST_CASE("an empty line is one empty field, and a stray backslash stands for itself") {
    CHECK(from_line("") == Record{""});
    CHECK(from_line("a\\x\tb\\") == Record{"a\\x", "b\\"});
}

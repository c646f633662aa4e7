// SPDX-License-Identifier: Apache-2.0
#include "runtime/process_table.hpp"

#include <doctest/doctest.h>

using namespace rung;

TEST_CASE("a table of processes is cut down to some, with its headline") {
    const std::string table =
        "UID        PID  PPID  C STIME TTY          TIME CMD\n"
        "root         1     0  0 21:37 ?        00:00:00 init\n"
        "root        10     1  0 21:37 ?        00:00:00 sleep 1\n"
        "root       110     1  0 21:37 ?        00:00:00 sleep 10\n";

    const auto kept = runtime::keep_processes(table, {10, 11});

    REQUIRE(kept);
    CHECK(*kept ==
          "UID        PID  PPID  C STIME TTY          TIME CMD\n"
          "root        10     1  0 21:37 ?        00:00:00 sleep 1\n");
}

TEST_CASE("the column of process ids is found wherever it is") {
    const auto kept = runtime::keep_processes("%CPU COMMAND PID\n 0.0 a 1\n 0.0 b 2\n", {2});

    REQUIRE(kept);
    CHECK(*kept == "%CPU COMMAND PID\n 0.0 b 2\n");
}

TEST_CASE("no processes leave the headline") {
    const auto kept = runtime::keep_processes("PID CMD\n1 init", {});

    REQUIRE(kept);
    CHECK(*kept == "PID CMD\n");
}

TEST_CASE("a table without process ids is an error") {
    CHECK_FALSE(runtime::keep_processes("CMD\ninit\n", {1}));
    CHECK_FALSE(runtime::keep_processes("", {1}));
    CHECK_FALSE(runtime::keep_processes("PPID CMD\n1 init\n", {1}));
}

TEST_CASE("a line without a number in that column is an error") {
    CHECK_FALSE(runtime::keep_processes("CMD PID\ninit one\n", {1}));
    CHECK_FALSE(runtime::keep_processes("CMD PID\ninit\n", {1}));
}

// Signal names as engines write them.
// SPDX-License-Identifier: Apache-2.0
#include "runtime/signal_name.hpp"

#include <doctest/doctest.h>

#include <csignal>

using rung::runtime::parse_signal;

TEST_CASE("a signal has a name with or without SIG, in any case, or a number") {
    CHECK(*parse_signal("SIGTERM") == SIGTERM);
    CHECK(*parse_signal("kill") == SIGKILL);
    CHECK(*parse_signal("sigCont") == SIGCONT);
    CHECK(*parse_signal("CLD") == SIGCHLD);
    CHECK(*parse_signal("15") == 15);
    CHECK(*parse_signal("0") == 0);
    CHECK(*parse_signal("64") == 64);
}

TEST_CASE("a real-time signal is named by its distance from either end") {
    CHECK(*parse_signal("RTMIN") == SIGRTMIN);
    CHECK(*parse_signal("SIGRTMIN+3") == SIGRTMIN + 3);
    CHECK(*parse_signal("rtmax-2") == SIGRTMAX - 2);
}

TEST_CASE("what is no signal is refused by name") {
    for (const char* text :
         {"", "SIG", "BOGUS", "-1", "65", "9x", " 9", "RTMIN-1", "RTMAX+1", "RTMIN+99", "99999999999"}) {
        const auto number = parse_signal(text);

        REQUIRE_MESSAGE(!number, text);
        CHECK(number.error().message == "unknown signal \"" + std::string{text} + "\"");
    }
}

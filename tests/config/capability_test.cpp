// Capability names and numbers.
// SPDX-License-Identifier: Apache-2.0
#include "config/capability.hpp"

#include <doctest/doctest.h>
#include <linux/capability.h>

using namespace rung::config;

TEST_CASE("names and numbers are those of the kernel") {
    CHECK(capability_number("CAP_CHOWN") == CAP_CHOWN);
    CHECK(capability_number("CAP_KILL") == CAP_KILL);
    CHECK(capability_number("CAP_SYS_ADMIN") == CAP_SYS_ADMIN);
    CHECK(capability_number("CAP_SETFCAP") == CAP_SETFCAP);
    CHECK(capability_number("CAP_AUDIT_READ") == CAP_AUDIT_READ);
    CHECK(capability_number("CAP_CHECKPOINT_RESTORE") == CAP_CHECKPOINT_RESTORE);
    CHECK(last_capability() == CAP_LAST_CAP);
}

TEST_CASE("every number's name leads back to it") {
    for (int number = 0; number <= last_capability(); ++number) {
        CHECK(capability_number(capability_name(number)) == number);
    }
}

TEST_CASE("unknown names have no number: case and prefix matter") {
    CHECK_FALSE(capability_number("CAP_NOPE"));
    CHECK_FALSE(capability_number("cap_kill"));
    CHECK_FALSE(capability_number("KILL"));
    CHECK(capability_name(63) == "CAP_63");
}

TEST_CASE("a set is listed by number") {
    CHECK(capability_names(0).empty());
    CHECK(capability_names((1u << CAP_KILL) | (1u << CAP_CHOWN)) ==
          std::vector<std::string>{"CAP_CHOWN", "CAP_KILL"});
}

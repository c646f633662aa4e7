// Values of flags: bytes with units, durations, and the limits that `update` takes.
// SPDX-License-Identifier: Apache-2.0
#include "limit_values.hpp"

#include <doctest/doctest.h>

#include "duration.hpp"

using namespace rung;
using namespace std::chrono_literals;

TEST_CASE("bytes may have a unit of 1024") {
    CHECK(*cli::parse_bytes("67108864") == 67108864);
    CHECK(*cli::parse_bytes("50M") == 50 << 20);
    CHECK(*cli::parse_bytes("1.5g") == 3LL << 29);
    CHECK(*cli::parse_bytes("512kb") == 512 << 10);
    CHECK(*cli::parse_bytes("1 GiB") == 1 << 30);
    CHECK(*cli::parse_bytes("7b") == 7);
    CHECK(*cli::parse_bytes("-1") == -1);
}

TEST_CASE("what is no size is refused") {
    for (const char* text : {"", "x", "1x", "-2", "1kk", "1 k b", "1bb", "9999999P", "nan", "inf"})
        CHECK_FALSE(cli::parse_bytes(text));
}

TEST_CASE("flags of update become resources, and what is not given stays unset") {
    const auto resources = cli::resources_of({{"memory", "1M"}, {"pids-limit", "0"}, {"cpu-quota", "-1"}});

    REQUIRE(resources);
    CHECK(*resources ==
          config::Resources{.memory = {.limit = 1 << 20}, .cpu = {.quota = -1}, .pids_limit = 0});
}

TEST_CASE("the first value that cannot be meant is named") {
    const auto resources = cli::resources_of({{"cpu-share", "many"}});

    REQUIRE_FALSE(resources);
    CHECK(resources.error().message.starts_with("invalid value for cpu-share: "));
    CHECK_FALSE(cli::resources_of({{"blkio-weight", "70000"}}));
    CHECK_FALSE(cli::resources_of({{"cpu-period", "-1"}}));
}

TEST_CASE("a duration is numbers with units") {
    CHECK(cli::parse_duration("5s") == 5s);
    CHECK(cli::parse_duration("100ms") == 100ms);
    CHECK(cli::parse_duration("1m30s") == 90s);
    CHECK(cli::parse_duration("1.5h") == 90min);
    CHECK(cli::parse_duration("0") == 0s);
    CHECK(cli::parse_duration("-2s") == -2s);
}

TEST_CASE("a number without a unit is no duration") {
    for (const char* text : {"", "5", "s", "5x", "1m30", "9999999h", "-"})
        CHECK_FALSE(cli::parse_duration(text));
}

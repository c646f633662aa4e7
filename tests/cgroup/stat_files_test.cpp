// The shapes of the kernel's statistics files.
// SPDX-License-Identifier: Apache-2.0
#include "cgroup/stat_files.hpp"

#include <doctest/doctest.h>

#include <limits>

#include "cgroup/oom.hpp"

using namespace rung::cgroup;

TEST_CASE("a count is a number, or the greatest one for max") {
    CHECK(*parse_count("42\n") == 42);
    CHECK(*parse_count("max\n") == std::numeric_limits<uint64_t>::max());
    CHECK(*parse_count("-1\n") == 0);
    CHECK_FALSE(parse_count("4x\n"));
    CHECK_FALSE(parse_count(""));
}

TEST_CASE("counts are read by name, and other lines passed over") {
    const std::map<std::string, uint64_t> expected = {{"cache", 1}, {"rss", 2}};

    CHECK(parse_counts("cache 1\nrss 2\n\nheadline\na b c\nname x\n") == expected);
}

TEST_CASE("a list of processors has ranges and single ones") {
    CHECK(parse_list("0-2,5\n") == std::vector<uint16_t>{0, 1, 2, 5});
    CHECK(parse_list("\n").empty());
}

TEST_CASE("pressure has two lines of four numbers") {
    const Pressures pressures = parse_pressures(
        "some avg10=1.50 avg60=0.25 avg300=0.00 total=77\nfull avg10=0.00 avg60=0.00 avg300=0.50 total=3\n");

    CHECK(pressures.some.avg10 == doctest::Approx(1.5));
    CHECK(pressures.some.avg60 == doctest::Approx(0.25));
    CHECK(pressures.some.total == 77);
    CHECK(pressures.full.avg300 == doctest::Approx(0.5));
    CHECK(pressures.full.total == 3);
}

TEST_CASE("block devices of v1 have an operation, and totals are passed over") {
    const auto entries = parse_block_io("8:0 Read 100\n8:0 Write 0\n254:16 Total 100\n7:1 5\nTotal 100\n");

    REQUIRE(entries.size() == 4);
    CHECK(entries[0].major == 8);
    CHECK(entries[0].operation == "Read");
    CHECK(entries[0].value == 100);
    CHECK(entries[2].minor == 16);
    CHECK(entries[3].operation.empty());
    CHECK(entries[3].value == 5);
}

TEST_CASE("block devices of v2 are told in the tables of v1") {
    const auto tables = parse_io("254:0 rbytes=4096 wbytes=1 rios=2 wios=3 dbytes=0 dios=0\n");

    REQUIRE(tables.size() == 2);
    const auto& bytes = tables.at("io_service_bytes");
    REQUIRE(bytes.size() == 2);
    CHECK(bytes[0].major == 254);
    CHECK(bytes[0].operation == "Read");
    CHECK(bytes[0].value == 4096);
    CHECK(bytes[1].operation == "Write");
    CHECK(tables.at("io_serviced")[1].value == 3);
}

TEST_CASE("kills for want of memory are counted in both dialects") {
    CHECK(parse_oom_counts("oom_kill_disable 0\nunder_oom 0\noom_kill 2\n") == OomCounts{.kills = 2});
    CHECK(parse_oom_counts("oom_kill_disable 1\nunder_oom 1\noom_kill 0\n") == OomCounts{.waits = true});
    CHECK(parse_oom_counts("low 0\nhigh 0\nmax 9\noom 3\noom_kill 1\noom_group_kill 0\n") ==
          OomCounts{.kills = 1});
}

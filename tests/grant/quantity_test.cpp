// Kubernetes quantities and RFC 3339 times.
// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include "grant/parse.hpp"
#include "grant/timestamp.hpp"

namespace rung::grant {

TEST_CASE("bytes are read with binary and decimal units") {
    CHECK(*parse_bytes("1") == 1);
    CHECK(*parse_bytes("64Ki") == 65536);
    CHECK(*parse_bytes("64Mi") == 64ull << 20);
    CHECK(*parse_bytes("2Gi") == 2ull << 30);
    CHECK(*parse_bytes("3Ti") == 3ull << 40);
    CHECK(*parse_bytes("5k") == 5000);
    CHECK(*parse_bytes("5M") == 5000000);
    CHECK(*parse_bytes("5G") == 5000000000);
    CHECK(*parse_bytes("5T") == 5000000000000);
    CHECK(*parse_bytes("999999999999999999") == 999999999999999999);
    CHECK(*parse_bytes("8388607Ti") == 8388607ull << 40);
}

TEST_CASE("other ways to write bytes are refused, overflow included") {
    for (const char* text :
         {"", "0", "01", "-1", "+1", "1.5Gi", "1e3", "1K", "1ki", "1 Mi", "Mi", "1MiB", "1m", "1Pi", "1Mi ",
          "8388608Ti", "999999999999999999T", "1000000000000000000", "99999999999999999999999999"}) {
        CAPTURE(text);

        const auto bytes = parse_bytes(text);

        REQUIRE(!bytes);
        CHECK(bytes.error().reason == "grant_parse_error");
    }
}

TEST_CASE("CPUs are read in thousandths") {
    CHECK(*parse_cpu_milli("1") == 1000);
    CHECK(*parse_cpu_milli("0.5") == 500);
    CHECK(*parse_cpu_milli("0.001") == 1);
    CHECK(*parse_cpu_milli("2.25") == 2250);
    CHECK(*parse_cpu_milli("500m") == 500);
    CHECK(*parse_cpu_milli("1500m") == 1500);
    CHECK(*parse_cpu_milli("1000000") == 1000000000);
}

TEST_CASE("other ways to write CPUs are refused, overflow included") {
    for (const char* text :
         {"", "0", "0.0", "0.000", "0m", "05m", "m", "-1", "1.", ".5", "0.0001", "1.5m", "1e3", "1 ", "1,5",
          "1.2.3", "1000001", "1000000001m", "999999999999999999999"}) {
        CAPTURE(text);

        const auto milli = parse_cpu_milli(text);

        REQUIRE(!milli);
        CHECK(milli.error().reason == "grant_parse_error");
    }
}

TEST_CASE("times become seconds since the epoch") {
    CHECK(parse_timestamp("1970-01-01T00:00:00Z", Rounding::down) == 0);
    CHECK(parse_timestamp("2027-01-01T00:00:00Z", Rounding::down) == 1798761600);
    CHECK(parse_timestamp("2027-01-01T01:30:00+01:30", Rounding::down) == 1798761600);
    CHECK(parse_timestamp("2026-12-31T22:00:00-02:00", Rounding::down) == 1798761600);
    CHECK(parse_timestamp("2024-02-29T12:00:00Z", Rounding::down) == 1709208000);
    CHECK(parse_timestamp("1970-01-01T00:00:01.250Z", Rounding::down) == 1);
    CHECK(parse_timestamp("1970-01-01T00:00:01.250Z", Rounding::up) == 2);
    CHECK(parse_timestamp("1970-01-01T00:00:01.000Z", Rounding::up) == 1);
}

TEST_CASE("anything else is no time") {
    for (const char* text : {"",
                             "2027",
                             "2027-01-01",
                             "2027-01-01T00:00:00",
                             "2027-01-01t00:00:00Z",
                             "2027-01-01T00:00:00z",
                             "2027-01-01 00:00:00Z",
                             "2027-13-01T00:00:00Z",
                             "2027-00-01T00:00:00Z",
                             "2027-02-29T00:00:00Z",
                             "2027-01-01T24:00:00Z",
                             "2027-01-01T00:60:00Z",
                             "2027-01-01T00:00:60Z",
                             "2027-01-01T00:00:00.Z",
                             "2027-01-01T00:00:00+1:00",
                             "2027-01-01T00:00:00+24:00",
                             "2027-01-01T00:00:00Z ",
                             " 2027-01-01T00:00:00Z",
                             "+2027-01-01T00:00:00Z",
                             "2027-1-01T00:00:00Z",
                             "2027-01-01T00:00:00ZZ"}) {
        CAPTURE(text);

        CHECK(parse_timestamp(text, Rounding::down) == std::nullopt);
    }
}

}  // namespace rung::grant

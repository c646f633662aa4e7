// What an update may change under a grant.
// SPDX-License-Identifier: Apache-2.0
#include "plan/update.hpp"

#include <doctest/doctest.h>

using namespace rung;

namespace {

const config::CpuResources kNow{.quota = 50000, .period = 100000};

}  // namespace

TEST_CASE("a grant without limits lets every update through") {
    const config::Resources asked{
        .memory = {.limit = -1, .swap = -1}, .cpu = {.quota = -1, .burst = 1000}, .pids_limit = -1};

    const auto allowed = plan::within_limits({}, asked, kNow);

    REQUIRE(allowed);
    CHECK(*allowed == asked);
}

TEST_CASE("memory up to the grant is allowed, and leaves no swap") {
    const auto allowed = plan::within_limits({.memory = 100}, {.memory = {.limit = 100}}, kNow);

    REQUIRE(allowed);
    CHECK(allowed->memory == config::MemoryResources{.limit = 100, .swap = 100, .forbids_swap = true});
}

TEST_CASE("memory beyond the grant is refused, with or without swap") {
    const grant::Limits limits{.memory = 100};

    for (const config::MemoryResources& memory :
         {config::MemoryResources{.limit = 101}, config::MemoryResources{.limit = -1},
          config::MemoryResources{.swap = 100}, config::MemoryResources{.swap = -1},
          config::MemoryResources{.limit = 50, .swap = 51}}) {
        const auto allowed = plan::within_limits(limits, {.memory = memory}, kNow);
        REQUIRE_FALSE(allowed);
        CHECK(allowed.error().reason == "exceeds_grant");
        CHECK(allowed.error().message.starts_with("exceeds_grant: limits.memory: "));
    }
}

TEST_CASE("a zero changes nothing and is allowed") {
    const config::Resources asked{.memory = {.limit = 0, .swap = 0}, .cpu = {.quota = 0, .period = 0}};

    const auto allowed = plan::within_limits({.memory = 100, .cpu_milli = 100, .pids = 1}, asked, kNow);

    REQUIRE(allowed);
    CHECK(*allowed == asked);
}

TEST_CASE("a quota alone is measured with the period of now, and a period with the quota of now") {
    const grant::Limits limits{.cpu_milli = 500};

    CHECK(plan::within_limits(limits, {.cpu = {.quota = 50000}}, kNow));
    CHECK_FALSE(plan::within_limits(limits, {.cpu = {.quota = 50001}}, kNow));
    CHECK(plan::within_limits(limits, {.cpu = {.period = 100000}}, kNow));
    CHECK_FALSE(plan::within_limits(limits, {.cpu = {.period = 99999}}, kNow));
    CHECK_FALSE(plan::within_limits(limits, {.cpu = {.quota = -1}}, kNow));
    CHECK_FALSE(plan::within_limits(limits, {.cpu = {.burst = 1}}, kNow));
    CHECK_FALSE(plan::within_limits(limits, {.cpu = {.period = 100000}}, {}));
}

TEST_CASE("processes up to the grant are allowed") {
    const grant::Limits limits{.pids = 20};

    CHECK(plan::within_limits(limits, {.pids_limit = 20}, kNow));
    CHECK(plan::within_limits(limits, {.pids_limit = 0}, kNow));
    CHECK_FALSE(plan::within_limits(limits, {.pids_limit = 21}, kNow));
    CHECK_FALSE(plan::within_limits(limits, {.pids_limit = -1}, kNow));
}

TEST_CASE("a file by its own name is refused where the grant limits it") {
    const config::Resources memory{.unified = {{"memory.max", "1"}}};

    CHECK_FALSE(plan::within_limits({.memory = 100}, memory, kNow));
    CHECK(plan::within_limits({.pids = 100}, memory, kNow));
    CHECK_FALSE(plan::within_limits({.pids = 100}, {.unified = {{"pids.max", "1"}}}, kNow));
    CHECK_FALSE(plan::within_limits({.cpu_milli = 100}, {.unified = {{"cpu.max", "1 100000"}}}, kNow));
}

// The limits of config.json and the grant: the minimum, wherever config.json wrote its own.
// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>
#include <sys/resource.h>

#include "plan/make.hpp"
#include "plan/values.hpp"

namespace rung {
namespace {

using test::able_host;
using test::narrowing_of;
using test::reading_grant;
using test::usual_spec;

config::Resources met(const config::Resources& asked, const grant::Limits& limits) {
    config::Spec spec = usual_spec();
    spec.linux_.resources = asked;
    grant::Grant grant = reading_grant();
    grant.limits = limits;
    const auto plan = plan::make(spec, grant, able_host(), 0);
    REQUIRE(plan);
    return plan->spec.linux_.resources;
}

}  // namespace

TEST_CASE("memory is the lower of both, and never with swap") {
    const auto lowered = met({.memory = {.limit = 4096, .swap = -1}}, {.memory = 1024}).memory;
    const auto kept = met({.memory = {.limit = 512}}, {.memory = 1024}).memory;
    const auto set = met({.memory = {.limit = -1}}, {.memory = 1024}).memory;

    CHECK(lowered == config::MemoryResources{.limit = 1024, .swap = 1024, .forbids_swap = true});
    CHECK(kept == config::MemoryResources{.limit = 512, .swap = 512, .forbids_swap = true});
    CHECK(set == config::MemoryResources{.limit = 1024, .swap = 1024, .forbids_swap = true});
}

TEST_CASE("a v2 file that would replace a limit is folded into it") {
    config::Resources asked;
    asked.unified = {{"memory.max", "512"},
                     {"memory.swap.max", "max"},
                     {"pids.max", "max"},
                     {"cpu.max", "max 100000"},
                     {"memory.high", "256"}};

    const auto resources = met(asked, {.memory = 1024, .cpu_milli = 500, .pids = 7});

    CHECK(resources.memory.limit == 512);
    CHECK(resources.memory.swap == 512);
    CHECK(resources.pids_limit == 7);
    CHECK(resources.cpu.quota == 50000);
    CHECK(resources.unified == std::map<std::string, std::string>{{"memory.high", "256"}});
}

TEST_CASE("cpu compares shares of time, not numbers") {
    const auto kept = met({.cpu = {.quota = 10000, .period = 50000}}, {.cpu_milli = 500}).cpu;
    const auto lowered =
        met({.cpu = {.quota = 40000, .period = 50000, .realtime_runtime = {}}}, {.cpu_milli = 500}).cpu;
    const auto set = met({}, {.cpu_milli = 1500}).cpu;
    const auto small = met({}, {.cpu_milli = 1}).cpu;

    CHECK(kept == config::CpuResources{.quota = 10000, .period = 50000});
    CHECK(lowered == config::CpuResources{.quota = 25000, .period = 50000});
    CHECK(set == config::CpuResources{.quota = 150000, .period = 100000});
    CHECK(small == config::CpuResources{.quota = 1000, .period = 1000000});
}

TEST_CASE("a burst above the quota is gone") {
    CHECK_FALSE(met({.cpu = {.quota = 1000, .burst = 1000}}, {.cpu_milli = 500}).cpu.burst);
}

TEST_CASE("zero processes is a limit and minus one is none") {
    CHECK(met({.pids_limit = 0}, {.pids = 10}).pids_limit == 0);
    CHECK(met({.pids_limit = -1}, {.pids = 10}).pids_limit == 10);
    CHECK(met({}, {.pids = 10}).pids_limit == 10);
}

TEST_CASE("a limit that the grant leaves out stays as config.json has it") {
    const config::Resources asked{.memory = {.limit = 4096, .swap = 8192}, .pids_limit = 9};

    const auto resources = met(asked, {});

    CHECK(resources.memory == asked.memory);
    CHECK(resources.pids_limit == 9);
}

TEST_CASE("a task that is out of memory is not left hanging") {
    CHECK_FALSE(met({.memory = {.disable_oom_killer = true}}, {}).memory.disable_oom_killer.value_or(false));
}

TEST_CASE("open files are added when config.json has no such limit") {
    grant::Grant grant = reading_grant();
    grant.limits.open_files = 64;

    const auto plan = plan::make(usual_spec(), grant, able_host(), 0);

    REQUIRE(plan);
    CHECK(plan->spec.process.rlimits == std::vector<config::Rlimit>{{RLIMIT_NOFILE, 64, 64}});
    CHECK(narrowing_of(*plan, "process.rlimits[RLIMIT_NOFILE]").effective == "64");
}

}  // namespace rung

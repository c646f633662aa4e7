// The plan under a ceiling: which layer each narrowing is laid to, and what the ceiling asks of the host.
// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <algorithm>
#include <string>

#include "grant/parse.hpp"
#include "plan/make.hpp"
#include "plan/values.hpp"

namespace rung::plan {

namespace {

grant::Layer layer(const char* name, const std::string& fields) {
    const auto grant = grant::parse_grant("grantVersion: \"1\"\ntools: [/]\n" + fields);
    REQUIRE(grant);
    return {.name = name, .grant = *grant};
}

std::string layer_of(const SandboxPlan& plan, const std::string& field) {
    const auto found = std::find_if(plan.narrowings.begin(), plan.narrowings.end(),
                                    [&](const Narrowing& each) { return each.field == field; });
    return found == plan.narrowings.end() ? "none" : found->layer;
}

}  // namespace

TEST_CASE("a limit is laid to the layer that is lowest") {
    const auto by_ceiling = grant::meet_layers(
        {.grants = {layer("g", "filesystem: {rootfs: readOnly}\nlimits: {pids: 20, memory: 1Mi}")},
         .ceiling = layer("c", "filesystem: {rootfs: readOnly}\nlimits: {pids: 10, memory: 2Mi}")});
    REQUIRE(by_ceiling);

    const auto plan = make_under_layers(test::usual_spec(), *by_ceiling, test::able_host(), 0);

    REQUIRE(plan);
    CHECK(layer_of(*plan, "linux.resources.pids.limit") == "ceiling");
    CHECK(layer_of(*plan, "linux.resources.memory.limit") == "grant");
    CHECK(layer_of(*plan, "limits.pids") == "ceiling");
    CHECK(layer_of(*plan, "limits.memory") == "none");
}

TEST_CASE("a host without the Landlock that the ceiling requires is told so") {
    auto effective = grant::meet_layers({.grants = {layer("g", "filesystem: {rootfs: readOnly}")}});
    REQUIRE(effective);
    effective->requirements = {.landlock = true, .landlock_abi = 3};
    kernel::HostFacts host = test::able_host();

    host.landlock_abi = 3;
    CHECK(make_under_layers(test::usual_spec(), *effective, host, 0));

    host.landlock_abi = 2;
    CHECK(make_under_layers(test::usual_spec(), *effective, host, 0).error().message ==
          "grant_unenforceable: requirements.landlock: the ceiling requires Landlock ABI 3, this kernel has "
          "only ABI 2");

    effective->requirements.landlock = false;
    CHECK(make_under_layers(test::usual_spec(), *effective, host, 0));
}

}  // namespace rung::plan

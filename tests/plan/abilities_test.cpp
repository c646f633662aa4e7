// What a host can enforce, field by field.
// SPDX-License-Identifier: Apache-2.0
#include "plan/abilities.hpp"

#include <doctest/doctest.h>

#include "plan/values.hpp"

namespace rung {
namespace {

std::string missing(const kernel::HostFacts& host, const std::string& field) {
    for (const plan::Ability& ability : plan::abilities_of(host)) {
        if (ability.field == field) return ability.missing;
    }
    return "there is no such field";
}

}  // namespace

TEST_CASE("a host with Landlock can keep the image closed, one without says what it lacks") {
    kernel::HostFacts with = test::able_host();
    with.landlock_abi = 7;
    const kernel::HostFacts without = test::able_host();

    CHECK(missing(with, "filesystem.rootfs: none") == "");
    CHECK(missing(with, "tools") == "");
    CHECK(missing(without, "filesystem.rootfs: none").starts_with("this kernel has no Landlock"));
    CHECK(missing(without, "tools").starts_with("this kernel has no Landlock"));
    CHECK(missing(without, "filesystem.rootfs: readOnly") == "");
}

TEST_CASE("a limit needs its controller") {
    kernel::HostFacts host = test::able_host();
    host.cgroup.hierarchies.pop_back();
    host.cgroup.hierarchies.pop_back();

    CHECK(missing(host, "limits.pids").find("\"pids\"") != std::string::npos);
    CHECK(missing(host, "limits.memory") == "");
}

TEST_CASE("a grant that this build cannot enforce is refused as create refuses it") {
    grant::Grant grant = test::reading_grant();
    grant.isolation = grant::Isolation::microvm;

    const auto checked = plan::check_host(grant, test::able_host());

    REQUIRE(!checked);
    CHECK(checked.error().reason == "grant_unenforceable");
    CHECK(plan::check_host(test::reading_grant(), test::able_host()));
}

}  // namespace rung

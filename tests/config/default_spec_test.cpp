// The configuration that `rung spec` writes.
// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include "config/parse.hpp"

using namespace rung::config;

TEST_CASE("the default configuration is a valid one, for a shell in a read-only root") {
    const auto spec = parse_spec(default_spec_json());

    REQUIRE(spec);
    CHECK(spec->process.args == std::vector<std::string>{"sh"});
    CHECK(spec->process.terminal);
    CHECK(spec->process.no_new_privileges);
    CHECK(spec->root == Root{.path = "rootfs", .read_only = true});
    CHECK(spec->mounts.size() == 7);
    CHECK(spec->linux_.namespaces.size() == 5);
    CHECK_FALSE(spec->has_namespace(NamespaceType::user));
    CHECK(spec->linux_.masked_paths.size() == 10);
}

TEST_CASE("the rootless configuration maps root to the user and keeps the host's network") {
    const auto spec = parse_spec(default_spec_json({.rootless = true, .uid = 1000, .gid = 1001}));

    REQUIRE(spec);
    CHECK(spec->linux_.uid_mappings ==
          std::vector<IdMapping>{{.container_id = 0, .host_id = 1000, .size = 1}});
    CHECK(spec->linux_.gid_mappings ==
          std::vector<IdMapping>{{.container_id = 0, .host_id = 1001, .size = 1}});
    CHECK_FALSE(spec->has_namespace(NamespaceType::network));
    CHECK(spec->mounts[5].source == "/sys");
    CHECK(spec->linux_.resources == Resources{});
}

TEST_CASE("a cgroup namespace is added when it is wanted") {
    const auto spec = parse_spec(default_spec_json({.cgroup_namespace = true}));

    REQUIRE(spec);
    CHECK(spec->has_namespace(NamespaceType::cgroup));
}

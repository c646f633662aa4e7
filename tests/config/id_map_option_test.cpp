// Id maps within a mount option.
// SPDX-License-Identifier: Apache-2.0
#include "config/id_map_option.hpp"

#include <doctest/doctest.h>

using namespace rung::config;

namespace {

Spec spec_with(const std::string& option) {
    Spec spec;
    spec.mounts = {
        {.destination = "/data", .type = "bind", .source = "/s", .options = {"bind", option, "ro"}}};
    spec.linux_.uid_mappings = {{.container_id = 0, .host_id = 0, .size = 1},
                                {.container_id = 1, .host_id = 2, .size = 1000}};
    return spec;
}

std::string error_of(const std::string& option) {
    Spec spec = spec_with(option);
    const auto expanded = expand_id_maps(spec);
    return expanded ? "" : expanded.error().message;
}

}  // namespace

TEST_CASE("the ranges of an idmap option become the mount's mappings") {
    Spec spec = spec_with("idmap=uids=0-1-10#10-11-5;gids=0-100-10");

    REQUIRE(expand_id_maps(spec));

    const Mount& mount = spec.mounts[0];
    CHECK(mount.options == std::vector<std::string>{"bind", "idmap", "ro"});
    CHECK(mount.uid_mappings == std::vector<IdMapping>{{.container_id = 0, .host_id = 1, .size = 10},
                                                       {.container_id = 10, .host_id = 11, .size = 5}});
    CHECK(mount.gid_mappings == std::vector<IdMapping>{{.container_id = 0, .host_id = 100, .size = 10}});
}

TEST_CASE("a relative range begins at an id of the user namespace") {
    Spec spec = spec_with("idmap=uids=@1-3-10");

    REQUIRE(expand_id_maps(spec));

    CHECK(spec.mounts[0].uid_mappings ==
          std::vector<IdMapping>{{.container_id = 1, .host_id = 4, .size = 10}});
}

TEST_CASE("mappings of the configuration come first, and a plain option stays") {
    Spec given = spec_with("idmap=uids=0-1-10;gids=0-1-10");
    given.mounts[0].uid_mappings =
        given.mounts[0].gid_mappings = {{.container_id = 5, .host_id = 6, .size = 7}};
    Spec plain = spec_with("idmap");

    REQUIRE(expand_id_maps(given));
    REQUIRE(expand_id_maps(plain));

    CHECK(given.mounts[0].uid_mappings ==
          std::vector<IdMapping>{{.container_id = 5, .host_id = 6, .size = 7}});
    CHECK(plain.mounts[0].uid_mappings.empty());
}

TEST_CASE("what is no id map is named") {
    CHECK(error_of("idmap=users=0-1-10") ==
          "mounts[0].options: an id map has uids= and gids=, not \"users=0-1-10\"");
    for (const char* range :
         {"", "0", "0-1", "0-1-0", "0-1-x", "-1-1-1", "0-1-10-5", "0-1-4294967296", "0--1"}) {
        CHECK(error_of(std::string{"idmap=uids="} + range) ==
              "mounts[0].options: invalid mapping specified \"" + std::string{range} + "\"");
    }
    CHECK(error_of("idmap=uids=@0-5000-1") ==
          "mounts[0].options: the user namespace has no id for the relative mapping \"@0-5000-1\"");
}

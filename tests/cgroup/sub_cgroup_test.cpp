// exec --cgroup: which directories a process joins.
// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include "cgroup/cgroup.hpp"

using namespace rung;
using cgroup::Cgroup;
using cgroup::sub_cgroup;
using kernel::CgroupLayout;

namespace {

const Cgroup kV1{.layout = CgroupLayout::v1,
                 .v1 = {{.controllers = {"cpu", "cpuacct"}, .path = "/cg/cpu/box"},
                        {.controllers = {"memory"}, .path = "/cg/memory/box"}}};
const Cgroup kV2{.layout = CgroupLayout::v2, .unified = "/cg/box"};

}  // namespace

TEST_CASE("no path leaves the container's own cgroup") {
    CHECK(*sub_cgroup(kV1, {}) == kV1);
    CHECK(*sub_cgroup(kV2, {}) == kV2);
}

TEST_CASE("a path without controllers is for every hierarchy") {
    const auto v1 = sub_cgroup(kV1, {"a/b"});
    const auto v2 = sub_cgroup(kV2, {"/a/"});

    REQUIRE(v1);
    CHECK(v1->v1[0].path == "/cg/cpu/box/a/b");
    CHECK(v1->v1[1].path == "/cg/memory/box/a/b");
    REQUIRE(v2);
    CHECK(v2->unified == "/cg/box/a");
    CHECK(*sub_cgroup(kV2, {"/"}) == kV2);
}

TEST_CASE("a path with controllers is for theirs, mounted together or not") {
    const auto found = sub_cgroup(kV1, {"cpu,cpuacct:sub", "memory:mem"});

    REQUIRE(found);
    CHECK(found->v1[0].path == "/cg/cpu/box/sub");
    CHECK(found->v1[1].path == "/cg/memory/box/mem");
    CHECK(sub_cgroup(kV1, {"memory:mem"})->v1[0].path == "/cg/cpu/box");
}

TEST_CASE("no path leads out of the container's cgroup") {
    for (const char* path : {"..", "../box2", "a/../..", "/../x", "a/..", "a/../b"}) {
        CHECK(sub_cgroup(kV1, {path}).error().message.starts_with("bad sub cgroup path"));
        CHECK(sub_cgroup(kV2, {path}).error().message.starts_with("bad sub cgroup path"));
        CHECK(!sub_cgroup(kV1, {std::string{"memory:"} + path}));
    }
    CHECK(sub_cgroup(kV2, {"a../..b"}));
}

TEST_CASE("controllers that are unknown, empty or named twice are refused") {
    CHECK(sub_cgroup(kV1, {"nosuch:a"}).error().message.starts_with("unknown controller nosuch"));
    CHECK(!sub_cgroup(kV1, {":a"}));
    CHECK(!sub_cgroup(kV1, {"cpu,:a"}));
    CHECK(!sub_cgroup(kV1, {"cpu:a", "cpu:b"}));
    CHECK(!sub_cgroup(kV1, {"a", "b"}));
    CHECK(!sub_cgroup(kV2, {"memory:a"}));
    CHECK(!sub_cgroup(Cgroup{.layout = CgroupLayout::v2}, {"a"}));
}

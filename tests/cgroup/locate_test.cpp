// Where cgroupsPath leads.
// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include "cgroup/cgroup.hpp"

using namespace rung;
using cgroup::Cgroup;
using cgroup::Directory;
using kernel::CgroupFacts;
using kernel::CgroupLayout;

namespace {

const CgroupFacts kHybrid{
    .layout = CgroupLayout::v1,
    .hierarchies = {{.controllers = {"cpu", "cpuacct"},
                     .mount_point = "/sys/fs/cgroup/cpu",
                     .root = "/",
                     .own_path = "/"},
                    {.controllers = {"memory"},
                     .mount_point = "/sys/fs/cgroup/memory",
                     .root = "/",
                     .own_path = "/own/1"}},
    .unified = {{.mount_point = "/sys/fs/cgroup/unified", .root = "/", .own_path = "/"}}};

CgroupFacts v2_host(const std::string& root, const std::string& own_path) {
    return {.layout = CgroupLayout::v2,
            .unified = {{.mount_point = "/sys/fs/cgroup", .root = root, .own_path = own_path}}};
}

}  // namespace

TEST_CASE("an absolute path lies below every mount point") {
    const Cgroup found = cgroup::locate(kHybrid, "/docker/abc", "id");

    CHECK(found == Cgroup{.layout = CgroupLayout::v1,
                          .v1 = {{.controllers = {"cpu", "cpuacct"},
                                  .path = "/sys/fs/cgroup/cpu/docker/abc",
                                  .mount_point = "/sys/fs/cgroup/cpu"},
                                 {.controllers = {"memory"},
                                  .path = "/sys/fs/cgroup/memory/docker/abc",
                                  .mount_point = "/sys/fs/cgroup/memory"}},
                          .unified = "/sys/fs/cgroup/unified/docker/abc",
                          .unified_mount_point = "/sys/fs/cgroup/unified"});
}

TEST_CASE("a relative path on v1 lies below the caller's own cgroup of each hierarchy") {
    const Cgroup found = cgroup::locate(kHybrid, "a/b", "id");

    CHECK(found.directory_of("cpuacct") == "/sys/fs/cgroup/cpu/a/b");
    CHECK(found.directory_of("memory") == "/sys/fs/cgroup/memory/own/1/a/b");
    CHECK(found.unified == "/sys/fs/cgroup/unified/a/b");
}

TEST_CASE("without a path the id names the cgroup") {
    const Cgroup found = cgroup::locate(kHybrid, "", "id");

    CHECK(found.directory_of("memory") == "/sys/fs/cgroup/memory/own/1/id");
}

TEST_CASE("a controller that no hierarchy has is in no directory") {
    const Cgroup found = cgroup::locate(kHybrid, "/a", "id");

    CHECK(found.directory_of("pids").empty());
}

TEST_CASE("dots cannot leave the mount or the caller's own cgroup") {
    CHECK(cgroup::locate(kHybrid, "/../../etc", "id").directory_of("memory") == "/sys/fs/cgroup/memory/etc");
    CHECK(cgroup::locate(kHybrid, "../../etc", "id").directory_of("memory") ==
          "/sys/fs/cgroup/memory/own/1/etc");
    CHECK(cgroup::locate(v2_host("/", "/a/b"), "../../../etc", "id").unified == "/sys/fs/cgroup/a/etc");
}

TEST_CASE("a relative path on v2 lies beside the caller's own cgroup") {
    CHECK(cgroup::locate(v2_host("/", "/user.slice/shell.scope"), "a", "id").unified ==
          "/sys/fs/cgroup/user.slice/a");
    CHECK(cgroup::locate(v2_host("/", "/shell.scope"), "", "id").unified == "/sys/fs/cgroup/id");
    CHECK(cgroup::locate(v2_host("/", "/"), "", "id").unified == "/sys/fs/cgroup/id");
}

TEST_CASE("inside a container, paths count from what is mounted there") {
    CHECK(cgroup::locate(v2_host("/docker/abc", "/docker/abc/init"), "", "id").unified ==
          "/sys/fs/cgroup/id");
    CHECK(cgroup::locate(v2_host("/docker/abc", "/docker/abc/x/init"), "", "id").unified ==
          "/sys/fs/cgroup/x/id");
    CHECK(cgroup::locate(v2_host("/docker/abc", "/docker/abc"), "/top", "id").unified ==
          "/sys/fs/cgroup/top");
}

TEST_CASE("a host without cgroups gives a cgroup without directories") {
    CHECK(cgroup::locate(CgroupFacts{}, "/a", "id") == Cgroup{});
}

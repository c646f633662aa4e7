// Which cgroup hierarchies a host has, read from literal kernel tables.
// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include "kernel/probe.hpp"

using rung::kernel::CgroupFacts;
using rung::kernel::CgroupLayout;
using rung::kernel::CgroupMount;
using rung::kernel::parse_cgroup_facts;

TEST_CASE("a cgroup2 mount at the usual place is cgroup v2") {
    const char* mountinfo =
        "22 1 254:0 / / rw,relatime shared:1 - ext4 /dev/vda rw\n"
        "30 22 0:26 / /sys/fs/cgroup rw,nosuid,nodev,noexec,relatime shared:9 - cgroup2 cgroup2 "
        "rw,nsdelegate\n";
    const char* self_cgroup = "0::/user.slice/session-1.scope\n";

    const CgroupFacts facts = parse_cgroup_facts(mountinfo, self_cgroup);

    CHECK(facts.layout == CgroupLayout::v2);
    CHECK(facts.hierarchies.empty());
    REQUIRE(facts.unified.size() == 1);
    CHECK(facts.unified[0] == CgroupMount{.mount_point = "/sys/fs/cgroup",
                                          .root = "/",
                                          .own_path = "/user.slice/session-1.scope"});
}

TEST_CASE("v1 hierarchies are listed in mount order, each with its own path") {
    const char* mountinfo =
        "30 22 0:27 / /sys/fs/cgroup rw - tmpfs tmpfs rw,mode=755\n"
        "31 30 0:28 / /sys/fs/cgroup/cpu,cpuacct rw,relatime - cgroup cgroup rw,cpu,cpuacct\n"
        "32 30 0:29 / /sys/fs/cgroup/memory rw,relatime - cgroup cgroup rw,memory\n";
    const char* self_cgroup =
        "4:memory:/process/1\n"
        "1:cpu,cpuacct:/\n";

    const CgroupFacts facts = parse_cgroup_facts(mountinfo, self_cgroup);

    CHECK(facts.layout == CgroupLayout::v1);
    CHECK(facts.unified.empty());
    REQUIRE(facts.hierarchies.size() == 2);
    CHECK(facts.hierarchies[0] == CgroupMount{.controllers = {"cpu", "cpuacct"},
                                              .mount_point = "/sys/fs/cgroup/cpu,cpuacct",
                                              .root = "/",
                                              .own_path = "/"});
    CHECK(facts.hierarchies[1] == CgroupMount{.controllers = {"memory"},
                                              .mount_point = "/sys/fs/cgroup/memory",
                                              .root = "/",
                                              .own_path = "/process/1"});
}

TEST_CASE("a hybrid host is v1 and keeps its cgroup2 mount beside the hierarchies") {
    const char* mountinfo =
        "30 22 0:27 / /sys/fs/cgroup rw - tmpfs tmpfs rw\n"
        "31 30 0:28 / /sys/fs/cgroup/pids rw - cgroup cgroup rw,pids\n"
        "32 30 0:37 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n";
    const char* self_cgroup =
        "8:pids:/\n"
        "0::/a\n";

    const CgroupFacts facts = parse_cgroup_facts(mountinfo, self_cgroup);

    CHECK(facts.layout == CgroupLayout::v1);
    CHECK(facts.hierarchies.size() == 1);
    REQUIRE(facts.unified.size() == 1);
    CHECK(facts.unified[0].mount_point == "/sys/fs/cgroup/unified");
    CHECK(facts.unified[0].own_path == "/a");
}

TEST_CASE("a named hierarchy is told apart from other mount options") {
    const char* mountinfo =
        "36 30 0:36 / /sys/fs/cgroup/systemd rw - cgroup cgroup "
        "rw,xattr,release_agent=/lib/systemd/systemd-cgroups-agent,name=systemd\n";
    const char* self_cgroup = "9:name=systemd:/init.scope\n";

    const CgroupFacts facts = parse_cgroup_facts(mountinfo, self_cgroup);

    REQUIRE(facts.hierarchies.size() == 1);
    CHECK(facts.hierarchies[0].controllers == std::vector<std::string>{"name=systemd"});
    CHECK(facts.hierarchies[0].own_path == "/init.scope");
}

TEST_CASE("of several mounts of one hierarchy the first is taken") {
    const char* mountinfo =
        "31 30 0:28 / /sys/fs/cgroup/pids rw - cgroup cgroup rw,pids\n"
        "90 30 0:28 /inner /mnt/pids rw - cgroup cgroup rw,pids\n";
    const char* self_cgroup = "8:pids:/\n";

    const CgroupFacts facts = parse_cgroup_facts(mountinfo, self_cgroup);

    REQUIRE(facts.hierarchies.size() == 1);
    CHECK(facts.hierarchies[0].mount_point == "/sys/fs/cgroup/pids");
}

TEST_CASE("the mounted root of a hierarchy inside a container is kept") {
    const char* mountinfo =
        "900 890 0:31 /docker/abc /sys/fs/cgroup/memory ro,nosuid master:15 - cgroup cgroup rw,memory\n";
    const char* self_cgroup = "4:memory:/docker/abc/nested\n";

    const CgroupFacts facts = parse_cgroup_facts(mountinfo, self_cgroup);

    REQUIRE(facts.hierarchies.size() == 1);
    CHECK(facts.hierarchies[0].root == "/docker/abc");
    CHECK(facts.hierarchies[0].own_path == "/docker/abc/nested");
}

TEST_CASE("escaped characters and colons in paths are read back") {
    const char* mountinfo =
        "31 30 0:28 /a\\134b /mnt/my\\040cgroups rw - cgroup cgroup rw,pids\n"
        "32 30 0:29 / /mnt/not\\04escaped\\ rw - cgroup cgroup rw,cpu\n";
    const char* self_cgroup =
        "8:pids:/test.slice:cri:1\n"
        "2:cpu:/\n";

    const CgroupFacts facts = parse_cgroup_facts(mountinfo, self_cgroup);

    REQUIRE(facts.hierarchies.size() == 2);
    CHECK(facts.hierarchies[0].mount_point == "/mnt/my cgroups");
    CHECK(facts.hierarchies[0].root == "/a\\b");
    CHECK(facts.hierarchies[0].own_path == "/test.slice:cri:1");
    CHECK(facts.hierarchies[1].mount_point == "/mnt/not\\04escaped\\");
}

TEST_CASE("a cgroup2 mount at the usual place wins over v1 hierarchies mounted elsewhere") {
    const char* mountinfo =
        "30 22 0:26 / /mnt/other rw - cgroup2 cgroup2 rw\n"
        "31 22 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n"
        "32 22 0:40 / /mnt/systemd rw - cgroup cgroup rw,name=systemd\n";
    const char* self_cgroup =
        "1:name=systemd:/\n"
        "0::/x\n";

    const CgroupFacts facts = parse_cgroup_facts(mountinfo, self_cgroup);

    CHECK(facts.layout == CgroupLayout::v2);
    CHECK(facts.hierarchies.empty());
    REQUIRE(facts.unified.size() == 1);
    CHECK(facts.unified[0].mount_point == "/sys/fs/cgroup");
}

TEST_CASE("a host without cgroup mounts, and malformed tables, have no layout") {
    CHECK(parse_cgroup_facts("", "").layout == CgroupLayout::none);
    CHECK(parse_cgroup_facts("22 1 254:0 / / rw - ext4 /dev/vda rw\n", "0::/\n").layout ==
          CgroupLayout::none);
    CHECK(parse_cgroup_facts("- cgroup\n - - - \n1 2 3\n\n", ":\n::\nx\n").layout == CgroupLayout::none);
}

// Limits as control-file writes, in both dialects.
// SPDX-License-Identifier: Apache-2.0
#include "cgroup/plan_writes.hpp"

#include <doctest/doctest.h>

using namespace rung;
using cgroup::Cgroup;
using cgroup::Write;
using config::Resources;
using kernel::CgroupLayout;

namespace {

const Cgroup kV2{
    .layout = CgroupLayout::v2, .unified = "/sys/fs/cgroup/c", .unified_mount_point = "/sys/fs/cgroup"};

const Cgroup kV1{
    .layout = CgroupLayout::v1,
    .v1 = {{.controllers = {"cpu", "cpuacct"}, .path = "/cg/cpu/c", .mount_point = "/cg/cpu"},
           {.controllers = {"cpuset"}, .path = "/cg/cpuset/c", .mount_point = "/cg/cpuset"},
           {.controllers = {"memory"}, .path = "/cg/memory/c", .mount_point = "/cg/memory"},
           {.controllers = {"pids"}, .path = "/cg/pids/c", .mount_point = "/cg/pids"},
           {.controllers = {"blkio"}, .path = "/cg/blkio/c", .mount_point = "/cg/blkio"},
           {.controllers = {"hugetlb"}, .path = "/cg/hugetlb/c", .mount_point = "/cg/hugetlb"},
           {.controllers = {"net_cls", "net_prio"}, .path = "/cg/net/c", .mount_point = "/cg/net"},
           {.controllers = {"rdma"}, .path = "/cg/rdma/c", .mount_point = "/cg/rdma"}}};

// "memory.max=1048576", one for each write: the shape in which a plan is easily read.
std::vector<std::string> planned(const Cgroup& where, const Resources& resources) {
    const Result<std::vector<Write>> writes = cgroup::plan_writes(where, resources);
    if (!writes) return {"error: " + writes.error().message};
    std::vector<std::string> lines;
    for (const Write& write : *writes)
        lines.push_back(write.spelling.file + "=" + write.spelling.value);
    return lines;
}

using Lines = std::vector<std::string>;

}  // namespace

TEST_CASE("memory limits on v1 are written as they are") {
    const Resources resources{
        .memory = {.limit = 67108864, .reservation = 33554432, .swap = 134217728, .swappiness = 10}};

    CHECK(planned(kV1, resources) == Lines{"memory.limit_in_bytes=67108864",
                                           "memory.memsw.limit_in_bytes=134217728",
                                           "memory.soft_limit_in_bytes=33554432", "memory.swappiness=10"});
}

TEST_CASE("memory limits on v2 count swap alone") {
    const Resources resources{.memory = {.limit = 67108864, .reservation = 33554432, .swap = 134217728}};

    CHECK(planned(kV2, resources) ==
          Lines{"memory.swap.max=67108864", "memory.max=67108864", "memory.low=33554432"});
}

TEST_CASE("memory and swap of the same size mean no swap") {
    const Resources resources{.memory = {.limit = 67108864, .swap = 67108864}};

    CHECK(planned(kV2, resources) == Lines{"memory.swap.max=0", "memory.max=67108864"});
}

TEST_CASE("no swap needs no file where nothing is granted, and one under a grant") {
    const auto may_be_absent = [](const config::MemoryResources& memory) {
        const auto writes = cgroup::plan_v2_writes({.memory = memory});
        return writes && writes->front().spelling.file == "memory.swap.max" && writes->front().may_be_absent;
    };

    CHECK(may_be_absent({.limit = 4096, .swap = 4096}));
    CHECK_FALSE(may_be_absent({.limit = 4096, .swap = 4096, .forbids_swap = true}));
    CHECK_FALSE(may_be_absent({.limit = 4096, .swap = 8192}));
}

TEST_CASE("an unlimited memory lifts the limit of swap as well") {
    const Resources resources{.memory = {.limit = -1}};

    CHECK(planned(kV1, resources) == Lines{"memory.limit_in_bytes=-1", "memory.memsw.limit_in_bytes=-1"});
    CHECK(planned(kV2, resources) == Lines{"memory.swap.max=max", "memory.max=max"});
}

TEST_CASE("swap below memory, or without it, cannot be said on v2") {
    CHECK(planned(kV2, {.memory = {.limit = 2000, .swap = 1000}}) ==
          Lines{"error: invalid configuration: linux.resources.memory.swap: memory+swap limit should be >= "
                "memory limit"});
    CHECK(planned(kV2, {.memory = {.swap = 1000}}) ==
          Lines{"error: invalid configuration: linux.resources.memory.swap: unable to set swap limit without "
                "memory limit"});
}

TEST_CASE("the zeros that engines send for absent options write nothing") {
    const Resources docker{
        .memory = {.limit = 0, .reservation = 0, .swap = 0, .kernel = 0, .disable_oom_killer = false},
        .cpu = {.shares = 0, .quota = 0, .period = 0, .realtime_runtime = 0, .realtime_period = 0},
        .block_io = {.weight = 0},
        .network_class_id = 0};

    CHECK(planned(kV1, docker).empty());
    CHECK(planned(kV2, docker).empty());
    CHECK(planned(Cgroup{}, docker).empty());
}

TEST_CASE("a limit whose controller is missing is refused by its name") {
    CHECK(planned(Cgroup{}, {.pids_limit = 5}) == Lines{"error: cannot set pids limit: container could not "
                                                        "join or create cgroup (linux.resources.pids.limit: "
                                                        "the container has no cgroup)"});
    CHECK(planned(Cgroup{}, {.pids_limit = -1}).empty());
}

TEST_CASE("pids limits: -1 is no limit, and 0 is the tightest") {
    CHECK(planned(kV1, {.pids_limit = -1}) == Lines{"pids.max=max"});
    CHECK(planned(kV2, {.pids_limit = 0}) == Lines{"pids.max=1"});
    CHECK(planned(kV2, {.pids_limit = 100}) == Lines{"pids.max=100"});
    CHECK(planned(kV2, {}).empty());
}

TEST_CASE("shares become a weight whose default is the default") {
    CHECK(cgroup::weight_of_shares(1) == 1);
    CHECK(cgroup::weight_of_shares(2) == 1);
    CHECK(cgroup::weight_of_shares(1024) == 100);
    CHECK(cgroup::weight_of_shares(2000) == 170);
    CHECK(cgroup::weight_of_shares(262144) == 10000);
    CHECK(cgroup::weight_of_shares(9999999) == 10000);
    CHECK(planned(kV2, {.cpu = {.shares = 1024}}) == Lines{"cpu.weight=100"});
    CHECK(planned(kV1, {.cpu = {.shares = 1024}}) == Lines{"cpu.shares=1024"});
}

TEST_CASE("shares that v1 would silently change are refused") {
    CHECK(
        planned(kV1, {.cpu = {.shares = 1}}) ==
        Lines{
            "error: invalid configuration: linux.resources.cpu.shares: the minimum allowed cpu-shares is 2"});
    CHECK(planned(kV1, {.cpu = {.shares = 262145}}) ==
          Lines{"error: invalid configuration: linux.resources.cpu.shares: the maximum allowed cpu-shares is "
                "262144"});
}

TEST_CASE("quota, period and burst") {
    const Resources resources{.cpu = {.quota = 50000, .burst = 1000, .period = 100000}};
    const Resources unlimited{.cpu = {.quota = -1, .period = 50000}};

    CHECK(planned(kV1, resources) ==
          Lines{"cpu.cfs_period_us=100000", "cpu.cfs_quota_us=50000", "cpu.cfs_burst_us=1000"});
    CHECK(planned(kV2, resources) == Lines{"cpu.max=50000 100000", "cpu.max.burst=1000"});
    CHECK(planned(kV1, unlimited) == Lines{"cpu.cfs_period_us=50000", "cpu.cfs_quota_us=-1"});
    CHECK(planned(kV2, unlimited) == Lines{"cpu.max=max 50000"});
    CHECK(planned(kV2, {.cpu = {.quota = 50000}}) == Lines{"cpu.max=50000"});
}

TEST_CASE("an idle group gets no shares, and a woken one gets them after it woke") {
    CHECK(planned(kV1, {.cpu = {.shares = 512, .idle = 1}}) == Lines{"cpu.idle=1"});
    CHECK(planned(kV1, {.cpu = {.shares = 512, .idle = 0}}) == Lines{"cpu.idle=0", "cpu.shares=512"});
    CHECK(planned(kV2, {.cpu = {.shares = 1024, .idle = 0}}) == Lines{"cpu.idle=0", "cpu.weight=100"});
}

TEST_CASE("realtime limits, network classes and the like exist on v1 only") {
    const Resources resources{.memory = {.kernel_tcp = 4096, .disable_oom_killer = true},
                              .cpu = {.realtime_runtime = 1000, .realtime_period = 100000},
                              .network_class_id = 5,
                              .network_priorities = {{.name = "lo", .priority = 7}}};

    CHECK(planned(kV1, resources) == Lines{"memory.kmem.tcp.limit_in_bytes=4096", "memory.oom_control=1",
                                           "cpu.rt_period_us=100000", "cpu.rt_runtime_us=1000",
                                           "net_cls.classid=5", "net_prio.ifpriomap=lo 7"});
    CHECK(
        planned(kV2, {.network_class_id = 5}) ==
        Lines{"error: invalid configuration: linux.resources.network.classID: cgroup v2 has no such limit"});
    CHECK(
        planned(kV2, {.memory = {.swappiness = 0}}) ==
        Lines{
            "error: invalid configuration: linux.resources.memory.swappiness: cgroup v2 has no such limit"});
}

TEST_CASE("cpusets are spelt alike") {
    const Resources resources{.cpu = {.cpus = "0-1", .mems = "0"}};

    CHECK(planned(kV1, resources) == Lines{"cpuset.cpus=0-1", "cpuset.mems=0"});
    CHECK(planned(kV2, resources) == Lines{"cpuset.cpus=0-1", "cpuset.mems=0"});
}

TEST_CASE("block io weights name both schedulers' files") {
    const Resources resources{
        .block_io = {.weight = 500, .weight_devices = {{.major = 8, .minor = 0, .weight = 100}}}};

    const auto v1 = cgroup::plan_writes(kV1, resources);
    const auto v2 = cgroup::plan_writes(kV2, resources);

    REQUIRE(v1);
    REQUIRE(v1->size() == 2);
    CHECK((*v1)[0] == Write{.controller = "blkio",
                            .spelling = {"blkio.weight", "500"},
                            .field = "blockIO.weight",
                            .otherwise = cgroup::Spelling{"blkio.bfq.weight", "500"}});
    REQUIRE(v2);
    REQUIRE(v2->size() == 2);
    CHECK((*v2)[0].spelling == cgroup::Spelling{"io.bfq.weight", "500"});
    CHECK((*v2)[0].otherwise == cgroup::Spelling{"io.weight", "4950"});
    CHECK((*v2)[1].spelling == cgroup::Spelling{"io.bfq.weight", "8:0 100"});
}

TEST_CASE("block io throttles, and how a rate of 0 lifts one") {
    const Resources resources{.block_io = {.read_bps = {{.major = 8, .minor = 0, .rate = 1000}},
                                           .write_iops = {{.major = 8, .minor = 16, .rate = 0}}}};

    CHECK(planned(kV1, resources) ==
          Lines{"blkio.throttle.read_bps_device=8:0 1000", "blkio.throttle.write_iops_device=8:16 0"});
    CHECK(planned(kV2, resources) == Lines{"io.max=8:0 rbps=1000", "io.max=8:16 wiops=max"});
}

TEST_CASE("huge pages are limited by size, and a size is never a path") {
    const Resources resources{.hugepage_limits = {{.page_size = "2MB", .limit = 4194304}}};

    CHECK(planned(kV1, resources) ==
          Lines{"hugetlb.2MB.limit_in_bytes=4194304", "hugetlb.2MB.rsvd.limit_in_bytes=4194304"});
    CHECK(planned(kV2, resources) == Lines{"hugetlb.2MB.max=4194304", "hugetlb.2MB.rsvd.max=4194304"});
    for (const char* size : {"../../x", "", "MB", "2", "0MB", "2MB/../x", "2mb"}) {
        CHECK(
            planned(kV2, {.hugepage_limits = {{.page_size = size, .limit = 1}}}) ==
            Lines{std::string{
                      "error: invalid configuration: linux.resources.hugepageLimits: invalid page size \""} +
                  size + "\""});
    }
}

TEST_CASE("rdma limits are one line for a device") {
    const Resources resources{.rdma = {{"mlx5_0", {.handles = 2, .objects = 2000}}, {"none", {}}}};

    CHECK(planned(kV1, resources) == Lines{"rdma.max=mlx5_0 hca_handle=2 hca_object=2000"});
    CHECK(planned(kV2, resources) == Lines{"rdma.max=mlx5_0 hca_handle=2 hca_object=2000"});
}

TEST_CASE("unified files come last and are files of the cgroup only") {
    CHECK(planned(kV2, {.pids_limit = 5, .unified = {{"memory.high", "1000"}, {"pids.max", "7"}}}) ==
          Lines{"pids.max=5", "memory.high=1000", "pids.max=7"});
    CHECK(planned(kV2, {.unified = {{"../pids.max", "7"}}}) ==
          Lines{"error: invalid configuration: linux.resources.unified[\"../pids.max\"]: must be a file "
                "name, not a path"});
    CHECK(planned(kV2, {.unified = {{"pids", "7"}}}) ==
          Lines{"error: invalid configuration: linux.resources.unified[\"pids\"]: must begin with a "
                "controller and a dot"});
    CHECK(planned(kV1, {.unified = {{"memory.high", "1000"}}}) ==
          Lines{"error: invalid configuration: cannot use unified on cgroup v1"});
}

// A container's systemd unit: names, places, limits and annotations as values.
// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include "cgroup/plan_writes.hpp"
#include "cgroup/unit.hpp"

using namespace rung;
using cgroup::Unit;
using cgroup::UnitOwner;
using cgroup::UnitProperty;

namespace {

// "SLICE NAME", or the error.
std::string named(const std::string& cgroups_path, const std::string& id = "box",
                  UnitOwner owner = UnitOwner::system) {
    const auto unit = cgroup::name_unit(cgroups_path, id, owner);
    return unit ? unit->slice + " " + unit->name : "error: " + unit.error().message;
}

std::string slice_path(const std::string& slice) {
    const auto path = cgroup::path_of_slice(slice);
    return path ? *path : "error: " + path.error().message;
}

std::string text_of(const UnitProperty& property) {
    std::string text = property.name + " " + property.type;
    for (const std::string& value : property.values)
        text += " " + value;
    return text;
}

using Lines = std::vector<std::string>;

Lines v2_properties(const config::Resources& resources) {
    const auto writes = cgroup::plan_v2_writes(resources);
    REQUIRE(writes);
    Lines lines;
    for (const UnitProperty& property : cgroup::properties_of_writes(*writes))
        lines.push_back(text_of(property));
    return lines;
}

Lines v1_properties(const config::Resources& resources) {
    const auto writes = cgroup::plan_v1_writes(resources);
    REQUIRE(writes);
    Lines lines;
    for (const UnitProperty& property : cgroup::properties_of_writes(*writes))
        lines.push_back(text_of(property));
    return lines;
}

std::string annotated(const std::string& name, const std::string& text) {
    const auto properties = cgroup::properties_of_annotations({{"org.systemd.property." + name, text}});
    if (!properties) return "error: " + properties.error().message;
    return properties->empty() ? "" : text_of(properties->front());
}

}  // namespace

TEST_CASE("a path of three parts names slice and scope") {
    CHECK(named("machine.slice:cri-containerd:1a2b") == "machine.slice cri-containerd-1a2b.scope");
    CHECK(named("user-a.slice::1a2b") == "user-a.slice 1a2b.scope");
    CHECK(named(":docker:1a2b") == "system.slice docker-1a2b.scope");
    CHECK(named("") == "system.slice rung-box.scope");
    CHECK(named("", "box", UnitOwner::user) == "user.slice rung-box.scope");
    CHECK(named("", "a+b") == "system.slice rung-a\\x2bb.scope");
}

TEST_CASE("a path that names no scope is an error") {
    CHECK(named("/docker/1a2b") ==
          "error: linux.cgroupsPath: expected cgroupsPath to be of format \"slice:prefix:name\" for systemd "
          "cgroups, "
          "got \"/docker/1a2b\" instead");
    CHECK(named("a:b:c:d").find("error: linux.cgroupsPath: expected") == 0);
    CHECK(named("a.slice:b:").find("has no name") != std::string::npos);
    CHECK(named("a.slice:b:c.slice").find("is a slice") != std::string::npos);
    CHECK(named("a/b.slice:b:c") == "error: linux.cgroupsPath: invalid slice name: a/b.slice");
    CHECK(named("..:b:c") == "error: linux.cgroupsPath: invalid slice name: ..");
    CHECK(named("a.slice:b:../../c") == "a.slice b-..\\x2f..\\x2fc.scope");
    CHECK(named("a.slice:b:" + std::string(250, 'c')).find("longer than 255 bytes") != std::string::npos);
}

TEST_CASE("a dash in a slice's name is a step down") {
    CHECK(slice_path("system.slice") == "/system.slice");
    CHECK(slice_path("a-b-c.slice") == "/a.slice/a-b.slice/a-b-c.slice");
    CHECK(slice_path("-.slice") == "/");
    for (const char* wrong : {"", ".slice", "a", "a--b.slice", "-a.slice", "a-.slice", "a/b.slice"})
        CHECK(slice_path(wrong).find("error: linux.cgroupsPath: invalid slice name") == 0);
}

TEST_CASE("a unit lies in every hierarchy at the path that its slice gives") {
    const kernel::CgroupFacts hybrid{.layout = kernel::CgroupLayout::v1,
                                     .hierarchies = {{.controllers = {"memory"},
                                                      .mount_point = "/sys/fs/cgroup/memory",
                                                      .own_path = "/x"}},
                                     .unified = {{.mount_point = "/sys/fs/cgroup/unified"}}};

    const auto cgroup = cgroup::locate_unit(hybrid, {.name = "rung-a.scope", .slice = "b-c.slice"}, "");
    const auto of_user = cgroup::locate_unit(hybrid, {.name = "rung-a.scope", .slice = "user.slice"},
                                             "/user.slice/user-7.slice/user@7.service");

    REQUIRE(cgroup);
    CHECK(cgroup->v1.at(0).path == "/sys/fs/cgroup/memory/b.slice/b-c.slice/rung-a.scope");
    CHECK(cgroup->unified == "/sys/fs/cgroup/unified/b.slice/b-c.slice/rung-a.scope");
    REQUIRE(of_user);
    CHECK(of_user->unified ==
          "/sys/fs/cgroup/unified/user.slice/user-7.slice/user@7.service/user.slice/rung-a.scope");
}

TEST_CASE("limits are unit properties as well") {
    CHECK(
        v2_properties({.memory = {.limit = 1 << 20, .reservation = 1 << 19, .swap = 3 << 20},
                       .cpu = {.shares = 1024, .quota = 20000, .period = 50000, .cpus = "0-2,9", .mems = "0"},
                       .pids_limit = 0}) ==
        Lines{"AllowedCPUs ay 7 2", "AllowedMemoryNodes ay 1", "MemorySwapMax t 2097152",
              "MemoryMax t 1048576", "MemoryLow t 524288", "CPUWeight t 100", "TasksMax t 1",
              "CPUQuotaPeriodUSec t 50000", "CPUQuotaPerSecUSec t 400000"});
    CHECK(v1_properties(
              {.memory = {.limit = 1 << 20}, .cpu = {.shares = 512, .quota = 20000, .period = 50000}}) ==
          Lines{"MemoryLimit t 1048576", "CPUShares t 512", "CPUQuotaPeriodUSec t 50000",
                "CPUQuotaPerSecUSec t 400000"});
}

TEST_CASE("no limit is systemd's infinity") {
    const std::string infinity = "18446744073709551615";
    CHECK(v2_properties({.memory = {.limit = -1}, .cpu = {.quota = -1}, .pids_limit = -1}) ==
          Lines{"MemorySwapMax t " + infinity, "MemoryMax t " + infinity, "TasksMax t " + infinity,
                "CPUQuotaPerSecUSec t " + infinity});
}

TEST_CASE("a quota is rounded up to a whole percent") {
    CHECK(v2_properties({.cpu = {.quota = 33333, .period = 100000}}) ==
          Lines{"CPUQuotaPeriodUSec t 100000", "CPUQuotaPerSecUSec t 340000"});
}

TEST_CASE("a unified file has the last word in the unit too, and others stay with the file") {
    CHECK(v2_properties({.memory = {.limit = 1 << 20},
                         .unified = {{"memory.max", "4096"},
                                     {"memory.high", "max"},
                                     {"memory.oom.group", "1"},
                                     {"cpu.max", "max 20000"},
                                     {"hugetlb.2MB.max", "0"}}}) ==
          Lines{"MemoryHigh t 18446744073709551615", "MemoryMax t 4096", "CPUQuotaPeriodUSec t 20000",
                "CPUQuotaPerSecUSec t 18446744073709551615"});
    CHECK(v2_properties({.cpu = {.shares = 1024, .idle = 1}}) == Lines{"CPUWeight t 0"});
    CHECK(v2_properties({.cpu = {.idle = 0}}) == Lines{"CPUWeight t 18446744073709551615"});
    CHECK(v2_properties({.cpu = {.shares = 1024, .idle = 0}}) == Lines{"CPUWeight t 100"});
}

TEST_CASE("a unified value of several lines is written line by line") {
    const auto writes =
        cgroup::plan_v2_writes({.unified = {{"io.max", "8:0 rbps=1\n8:16 rbps=2\n"}, {"memory.low", ""}}});

    REQUIRE(writes);
    REQUIRE(writes->size() == 3);
    CHECK(writes->at(0).spelling == cgroup::Spelling{"io.max", "8:0 rbps=1"});
    CHECK(writes->at(1).spelling == cgroup::Spelling{"io.max", "8:16 rbps=2"});
    CHECK(writes->at(2).spelling == cgroup::Spelling{"memory.low", ""});
}

TEST_CASE("a unified file that acts on processes is no limit") {
    for (const char* file :
         {"cgroup.procs", "cgroup.threads", "cgroup.kill", "cgroup.freeze", "cgroup.subtree_control"})
        CHECK_FALSE(cgroup::plan_v2_writes({.unified = {{file, "1"}}}));
    CHECK(cgroup::plan_v2_writes({.unified = {{"cgroup.max.depth", "3"}}}));
}

TEST_CASE("device rules go into the unit by number") {
    const auto policy =
        cgroup::reduce_to_policy({{.allow = false},
                                  {.allow = true, .type = 'c', .major = 1, .minor = 3, .access = "rwm"},
                                  {.allow = true, .type = 'c', .major = 136, .access = "rw"},
                                  {.allow = true, .type = 'b', .access = "m"}});
    REQUIRE(policy);

    const auto properties = cgroup::properties_of_devices(*policy);

    REQUIRE(properties.size() == 2);
    CHECK(text_of(properties[0]) == "DevicePolicy s strict");
    CHECK(text_of(properties[1]) == "DeviceAllow a(ss) /dev/char/1:3 rwm char-136 rw block-* m");
}

TEST_CASE("a list that allows everything leaves the unit open") {
    const auto properties = cgroup::properties_of_devices({.allow_by_default = true});

    REQUIRE(properties.size() == 1);
    CHECK(text_of(properties[0]) == "DevicePolicy s auto");
}

TEST_CASE("annotations set what belongs to the unit's own life") {
    CHECK(annotated("TimeoutStopUSec", "uint64 123456789") == "TimeoutStopUSec t 123456789");
    CHECK(annotated("TimeoutStopSec", "1.5") == "TimeoutStopUSec t 1500000");
    CHECK(annotated("TimeoutStopSec", "uint64 2") == "TimeoutStopUSec t 2000000");
    CHECK(annotated("CollectMode", "'inactive-or-failed'") == "CollectMode s inactive-or-failed");
    CHECK(annotated("KillSignal", "37") == "KillSignal i 37");
    CHECK(annotated("KillSignal", "int32 37") == "KillSignal i 37");
    CHECK(annotated("SendSIGHUP", " true ") == "SendSIGHUP b true");
    CHECK(annotated("After", "['a.service', \"b\\\"c\"]") == "After as a.service b\"c");
    CHECK(annotated("After", "[]") == "After as");
    CHECK(cgroup::properties_of_annotations({{"org.systemd.other", "?"}, {"x", "y"}})->empty());
}

TEST_CASE("annotations that could start a program, lift a limit or open a device are refused") {
    for (const char* name :
         {"ExecStartPre", "ExecStart", "MemoryMax", "TasksMax", "DeviceAllow", "DevicePolicy", "Delegate",
          "Slice", "IPIngressFilterPath", "ManagedOOMPreference", "User", ""}) {
        CHECK(annotated(name, "'x'") == "error: annotation org.systemd.property." + std::string{name} +
                                            ": a container may not set this property of its unit");
    }
}

TEST_CASE("an odd value is an error, not a guess") {
    for (const char* odd :
         {"", "abc", "-1", "int64 5", "uint64", "uint64 -5", "uint64 5x", "99999999999999999999"})
        CHECK(annotated("TimeoutStopUSec", odd).find("is not a value of type t") != std::string::npos);
    for (const char* odd : {"", "-1", "nan", "inf", "1e300", "x"})
        CHECK(annotated("TimeoutStopSec", odd).find("error:") == 0);
    for (const char* odd : {"x", "'x", "x'", "'x' y", "'x\\", "\"x'"})
        CHECK(annotated("CollectMode", odd).find("is not a value of type s") != std::string::npos);
    for (const char* odd : {"'x'", "[", "]", "['x'", "['x',]", "['x' 'y']", "[x]", "[,]"})
        CHECK(annotated("After", odd).find("is not a value of type as") != std::string::npos);
    CHECK(annotated("SendSIGHUP", "yes").find("is not a value of type b") != std::string::npos);
}

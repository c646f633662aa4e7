// What rung remembers of a container, and how it tells where the container stands.
// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <string>

#include "runtime/oci_state.hpp"
#include "runtime/process.hpp"
#include "runtime/state.hpp"

using namespace rung::runtime;

namespace {

// A directory of this test's own, removed with everything in it.
struct TemporaryRoot {
    std::string path = "/tmp/rung-state-test-XXXXXX";
    TemporaryRoot() { REQUIRE(mkdtemp(path.data()) != nullptr); }
    ~TemporaryRoot() { (void)rmdir(path.c_str()); }
};

}  // namespace

TEST_CASE("an id that could leave the root, hide or look like a flag is refused") {
    for (const char* id : {"", ".", "..", "a/b", "../x", "-x", ".hidden", "a b", "a\nb", "caf\xc3\xa9"}) {
        CHECK_FALSE(check_id(id));
    }
    CHECK_FALSE(check_id(std::string(1025, 'a')));

    for (const char* id : {"a", "0", "_", "+x", "f3a1-9.b_C+", "A"})
        CHECK(check_id(id));
    CHECK(check_id(std::string(1024, 'a')));
}

TEST_CASE("the state survives the way to disk and back") {
    State state{.id = "c1",
                .oci_version = "1.0.2",
                .bundle = "/bundles/c1",
                .rootfs = "/bundles/c1/root \"fs\"",
                .created = "2026-11-29T12:00:00.000000001Z",
                .owner_uid = 1000,
                .annotations = {{"key", "value with \n and \x01"}},
                .grants = {{.name = "--grant a.yaml", .text = "grantVersion: \"1\"\n"}},
                .cgroup = {.manager = rung::cgroup::Manager::systemd,
                           .layout = rung::kernel::CgroupLayout::v1,
                           .v1 = {{.controllers = {"cpu", "cpuacct"},
                                   .path = "/sys/fs/cgroup/cpu,cpuacct/c1",
                                   .mount_point = "/sys/fs/cgroup/cpu,cpuacct"}},
                           .unified = "/sys/fs/cgroup/unified/c1",
                           .unified_mount_point = "/sys/fs/cgroup/unified",
                           .unit = rung::cgroup::Unit{.name = "rung-c1.scope",
                                                      .slice = "user.slice",
                                                      .owner = rung::cgroup::UnitOwner::user,
                                                      .program = "/usr/libexec/rung/rung-systemd"}},
                .private_pid_namespace = true,
                .has_poststart_hooks = true,
                .has_poststop_hooks = true,
                .streams = {"/dev/null", "pipe:[42]", "pipe:[43]"}};

    const auto read = state_from_json(state_to_json(state));

    REQUIRE(read);
    CHECK(*read == state);
}

TEST_CASE("a damaged state file is an error, not a crash") {
    for (const char* text : {"", "{", "[]", "null", R"({"id":7})", R"({"cgroup":{"v1":[{"path":1}]}})"}) {
        CHECK_FALSE(state_from_json(text));
    }
}

TEST_CASE("a name can be claimed once, and again after its removal") {
    const TemporaryRoot root;

    auto first = StateDirectory::claim(root.path, "c1");
    const auto second = StateDirectory::claim(root.path, "c1");

    REQUIRE(first);
    REQUIRE_FALSE(second);
    CHECK(second.error().message == "container with given ID already exists");
    REQUIRE(first->remove());
    CHECK(first->is_removed());
    auto third = StateDirectory::claim(root.path, "c1");
    REQUIRE(third);
    CHECK(third->remove());
}

TEST_CASE("a container stands where its files and its process say") {
    const TemporaryRoot root;
    auto directory = StateDirectory::claim(root.path, "c1");
    REQUIRE(directory);

    CHECK(phase_of(*directory, {}) == Phase::stopped);  // a create that was killed before any process existed
    const auto self = identify(getpid());
    REQUIRE(self);
    REQUIRE(directory->write_init(*self, {}));
    CHECK(phase_of(*directory, {}) == Phase::running);
    auto waiting = directory->make_start_fifo();
    REQUIRE(waiting);
    CHECK(phase_of(*directory, {}) == Phase::creating);
    REQUIRE(directory->announce_created());
    CHECK(phase_of(*directory, {}) == Phase::created);
    waiting->reset();
    CHECK(phase_of(*directory, {}) == Phase::running);  // a `start` was killed before it removed the FIFO
    directory->forget_start_fifo();
    REQUIRE(directory->write_init({.pid = self->pid, .start_time = self->start_time + 1}, {}));
    CHECK(phase_of(*directory, {}) == Phase::stopped);  // the pid is another process's now
    CHECK(directory->remove());
}

TEST_CASE("the cgroup is known from beside the process when the state is damaged") {
    const TemporaryRoot root;
    auto directory = StateDirectory::claim(root.path, "c1");
    REQUIRE(directory);
    CHECK_FALSE(directory->read_cgroup());
    const rung::cgroup::Cgroup cgroup{.layout = rung::kernel::CgroupLayout::v2,
                                      .unified = "/sys/fs/cgroup/c1",
                                      .unified_mount_point = "/sys/fs/cgroup"};

    REQUIRE(directory->write_init({.pid = 7, .start_time = 9}, cgroup));

    CHECK(directory->read_cgroup() == cgroup);
    CHECK(directory->read_init() == ProcessIdentity{.pid = 7, .start_time = 9});
    CHECK(directory->remove());
    CHECK_FALSE(rung::runtime::cgroup_from_text("7"));
    CHECK_FALSE(rung::runtime::cgroup_from_text("{\"unified\": 7}"));
}

TEST_CASE("the lock of one holder is seen by another and goes with it") {
    const TemporaryRoot root;
    auto holder = StateDirectory::claim(root.path, "c1");
    REQUIRE(holder);
    REQUIRE(holder->lock());

    auto other = StateDirectory::open(root.path, "c1");

    REQUIRE(other);
    CHECK(other->is_being_changed());
    auto taken = other->try_lock();
    REQUIRE(taken);
    CHECK_FALSE(*taken);
    holder->unlock();
    taken = other->try_lock();
    REQUIRE(taken);
    CHECK(*taken);
    CHECK(other->remove());
}

TEST_CASE("a process name with spaces and parentheses does not shift the fields of its stat") {
    const auto stat = parse_stat(
        "42 (a) S (b) R 1 42 42 0 -1 4194560 100 0 0 0 1 2 3 4 20 0 1 0 987654321 1000 10 "
        "18446744073709551615");

    REQUIRE(stat);
    CHECK(*stat == ProcessStat{.state = 'R', .start_time = 987654321});
    CHECK_FALSE(parse_stat(""));
    CHECK_FALSE(parse_stat("42 (a"));
    CHECK_FALSE(parse_stat("42 (a) S 1 2 3"));
}

TEST_CASE("the hooks' state is cut exactly where the pid goes") {
    OciState state{.oci_version = "1.0.2",
                   .id = "c1",
                   .status = "creating",
                   .pid = 4711,
                   .bundle = "/b\"pid\":1999999999",
                   .annotations = {{"a", "/x/y"}}};

    const auto [before, after] = split_at_pid(state);

    std::string joined = before + "4711" + after;
    joined.replace(joined.find("@status@"), 8, "creating");
    CHECK(joined == to_json(state));
    CHECK(joined.find("/x/y") != std::string::npos);  // slashes stay as they are
}

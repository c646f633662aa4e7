// The facts of the host that runs the tests: only what holds on every one.
// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>
#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>

#include "kernel/files.hpp"
#include "kernel/probe.hpp"

using namespace rung;

TEST_CASE("probing agrees with what /proc says") {
    const Result<kernel::HostFacts> facts = kernel::probe();

    REQUIRE(facts);
    CHECK(facts->effective_uid == geteuid());
    CHECK(facts->last_capability >= 40);
    CHECK(facts->seccomp);
    CHECK(facts->memfd_noexec == kernel::exists("/proc/sys/vm/memfd_noexec"));
    CHECK(facts->in_user_namespace == kernel::in_user_namespace());
}

TEST_CASE("every hierarchy that is found has a mount point that exists") {
    const Result<kernel::HostFacts> facts = kernel::probe();

    REQUIRE(facts);
    for (const kernel::CgroupMount& mount : facts->cgroup.hierarchies)
        CHECK(kernel::exists(mount.mount_point));
    for (const kernel::CgroupMount& mount : facts->cgroup.unified)
        CHECK(kernel::exists(mount.mount_point));
}

TEST_CASE("a new user namespace is recognised without reading its mappings") {
    const pid_t child = fork();
    if (child == 0) {
        if (unshare(CLONE_NEWUSER) != 0) _exit(2);
        _exit(kernel::in_user_namespace() ? 0 : 1);
    }

    int status = 0;
    REQUIRE(waitpid(child, &status, 0) == child);

    REQUIRE(WIFEXITED(status));
    const bool is_permitted = WEXITSTATUS(status) != 2;
    if (is_permitted) CHECK(WEXITSTATUS(status) == 0);
}

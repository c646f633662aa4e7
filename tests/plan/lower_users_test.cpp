// What a caller without privilege changes in a lowered plan.
// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>
#include <sched.h>

#include <algorithm>

#include "plan/describe_steps.hpp"
#include "plan/draft.hpp"
#include "plan/values.hpp"

namespace rung {
namespace {

using config::NamespaceType;
using plan::MapWriter;
using Lines = std::vector<std::string>;

kernel::HostFacts ordinary_user() {
    kernel::HostFacts host = test::able_host();
    host.effective_uid = 1001;
    host.effective_gid = 1002;
    host.effective_capabilities = 0;
    host.may_clone_mounts = false;
    return host;
}

config::Spec rootless_spec() {
    config::Spec spec = test::usual_spec();
    spec.linux_.namespaces.push_back({.type = NamespaceType::user});
    spec.linux_.uid_mappings = {{.container_id = 0, .host_id = 1001, .size = 1}};
    spec.linux_.gid_mappings = {{.container_id = 0, .host_id = 1002, .size = 1}};
    return spec;
}

Result<plan::Lowered> lower(const config::Spec& spec, const kernel::HostFacts& host) {
    return plan::lower(plan::SandboxPlan{.spec = spec}, cgroup::Cgroup{.layout = host.cgroup.layout}, host,
                       {.bundle = "/b", .rootfs = "/b/rootfs", .id = "c"});
}

plan::Lowered lowered_from(const config::Spec& spec, const kernel::HostFacts& host) {
    auto lowered = lower(spec, host);
    REQUIRE_MESSAGE(lowered, lowered.error().message);
    return *std::move(lowered);
}

std::string error_of(const config::Spec& spec, const kernel::HostFacts& host) {
    const auto lowered = lower(spec, host);
    return lowered ? "" : lowered.error().message;
}

bool has(const Lines& lines, const std::string& line) {
    return std::find(lines.begin(), lines.end(), line) != lines.end();
}

template <typename Step>
const Step* find_step(const std::vector<child::Step>& steps) {
    for (const child::Step& step : steps) {
        if (const auto* found = std::get_if<Step>(&step)) return found;
    }
    return nullptr;
}

}  // namespace

TEST_CASE("a user maps its own ids itself, and then setgroups is denied") {
    const auto lowered = lowered_from(rootless_spec(), ordinary_user());

    CHECK(lowered.maps_users);
    CHECK(lowered.uid_map_writer == MapWriter::parent);
    CHECK(lowered.gid_map_writer == MapWriter::parent);
    CHECK(lowered.denies_setgroups);
    const Lines lines = test::describe(lowered.program.steps);
    CHECK(lines[0] == "BecomeDumpable");
    CHECK(lines[1] == "SyncWithParent joined_namespaces");
}

TEST_CASE("more than the own id, or somebody else's, takes a tool") {
    config::Spec more = rootless_spec();
    more.linux_.uid_mappings.push_back({.container_id = 1, .host_id = 100000, .size = 65536});
    more.linux_.gid_mappings.push_back({.container_id = 1, .host_id = 100000, .size = 65536});
    config::Spec groups = rootless_spec();
    groups.linux_.gid_mappings[0].host_id = 1001;

    const auto many = lowered_from(more, ordinary_user());
    const auto foreign = lowered_from(groups, ordinary_user());

    CHECK(many.uid_map_writer == MapWriter::tool);
    CHECK(many.gid_map_writer == MapWriter::tool);
    CHECK_FALSE(many.denies_setgroups);
    CHECK(foreign.uid_map_writer == MapWriter::parent);
    CHECK(foreign.gid_map_writer == MapWriter::tool);
    CHECK_FALSE(foreign.denies_setgroups);
}

TEST_CASE("root maps whatever it likes and denies nothing") {
    const auto lowered = lowered_from(rootless_spec(), test::able_host());

    CHECK(lowered.uid_map_writer == MapWriter::parent);
    CHECK(lowered.gid_map_writer == MapWriter::parent);
    CHECK_FALSE(lowered.denies_setgroups);
    CHECK_FALSE(has(test::describe(lowered.program.steps), "BecomeDumpable"));
}

TEST_CASE("the first process becomes root of the namespace, or the mapped user where root is not mapped") {
    config::Spec keep_id = rootless_spec();
    keep_id.linux_.uid_mappings[0].container_id = 1001;
    keep_id.linux_.gid_mappings[0].container_id = 1002;
    keep_id.process.user = {.uid = 1001, .gid = 1002};

    const auto usual = lowered_from(rootless_spec(), ordinary_user());
    const auto kept = lowered_from(keep_id, ordinary_user());

    const auto* root = find_step<child::BecomeNamespaceRoot>(usual.program.steps);
    REQUIRE(root != nullptr);
    CHECK(root->uid == 0);
    CHECK(root->gid == 0);
    CHECK(root->keep_groups);
    const auto* mapped = find_step<child::BecomeNamespaceRoot>(kept.program.steps);
    REQUIRE(mapped != nullptr);
    CHECK(mapped->uid == 1001);
    CHECK(mapped->gid == 1002);
}

TEST_CASE("the caller's groups stay by annotation, never under a grant") {
    config::Spec spec = rootless_spec();
    spec.annotations["run.oci.keep_original_groups"] = "1";
    config::Spec without = rootless_spec();
    without.annotations["run.oci.keep_original_groups"] = "0";
    const auto sets_groups = [](const plan::SandboxPlan& plan) {
        const auto lowered =
            plan::lower(plan, {}, test::able_host(), {.bundle = "/b", .rootfs = "/b/rootfs"});
        REQUIRE(lowered);
        const auto* root = find_step<child::BecomeNamespaceRoot>(lowered->program.steps);
        const auto* user = find_step<child::SetUser>(lowered->program.steps);
        CHECK(root->keep_groups == !user->setgroups);
        return user->setgroups;
    };

    CHECK_FALSE(sets_groups({.spec = spec}));
    CHECK(sets_groups({.spec = without}));
    CHECK(sets_groups({.spec = spec, .granted = true}));
}

TEST_CASE("ids that the namespace does not map are refused") {
    config::Spec user = rootless_spec();
    user.process.user.uid = 5;
    config::Spec group = rootless_spec();
    group.process.user.gid = 6;
    config::Spec groups = rootless_spec();
    groups.process.user.additional_gids = {7};

    CHECK(error_of(user, test::able_host()) ==
          "process.user.uid 5: cannot set uid to unmapped user in user namespace");
    CHECK(error_of(group, test::able_host()) ==
          "process.user.gid 6: cannot set gid to unmapped user in user namespace");
    CHECK(error_of(groups, test::able_host()) ==
          "process.user.additionalGids 7: cannot set gid to unmapped user in user namespace");
    CHECK(error_of(groups, ordinary_user()) ==
          "process.user.additionalGids: cannot set any additional groups in a rootless container that maps a "
          "single group");
    CHECK(error_of(rootless_spec(), ordinary_user()) == "");
}

TEST_CASE("without a user namespace a container takes the host's root and its capability") {
    kernel::HostFacts weak_root = test::able_host();
    weak_root.effective_capabilities = 0;

    CHECK(error_of(test::usual_spec(), ordinary_user()) ==
          "linux.namespaces: rootless container requires user namespaces");
    CHECK(error_of(test::usual_spec(), weak_root).find("CAP_SYS_ADMIN") != std::string::npos);
    CHECK(error_of(test::usual_spec(), test::able_host()) == "");
}

TEST_CASE(
    "a user's time namespace is made in the new user namespace, by a process before the container's first") {
    config::Spec spec = rootless_spec();
    spec.linux_.namespaces.push_back({.type = NamespaceType::time});
    spec.linux_.time_offsets = {{"monotonic", {.seconds = 7, .nanoseconds = 1}}};

    const auto user = lowered_from(spec, ordinary_user());
    const auto root = lowered_from(spec, test::able_host());

    REQUIRE(user.first);
    CHECK(test::describe(user.first->steps) == Lines{"BecomeDumpable", "MakeTimeNamespace"});
    CHECK(user.clone_flags == CLONE_NEWUSER);
    CHECK((user.second_clone_flags & CLONE_NEWUSER) == 0);
    CHECK_FALSE(user.time_offsets);
    CHECK_FALSE(root.first);
    CHECK(root.time_offsets == "monotonic 7 1\n");
}

TEST_CASE("a user's binds are made inside, with what lies beneath /sys read-only as well") {
    config::Spec spec = rootless_spec();
    spec.mounts = {{"/sys", "none", "/sys", {"rbind", "ro"}},
                   {"/data", "bind", "/home/u", {"rbind", "ro", "dev"}}};

    const auto lowered = lowered_from(spec, ordinary_user());

    CHECK(lowered.trees.empty());
    std::vector<child::BindHostPath> binds;
    for (const child::Step& step : lowered.program.steps) {
        if (const auto* bind = std::get_if<child::BindHostPath>(&step)) binds.push_back(*bind);
    }
    REQUIRE(binds.size() == 2);
    CHECK(binds[0].recursive_attributes);
    CHECK_FALSE(binds[1].recursive_attributes);
    CHECK(binds[1].clear != 0);
}

TEST_CASE("a user's exec enters the pid namespace from inside the user namespace, root's from outside") {
    const plan::SandboxPlan plan{.spec = rootless_spec()};
    const plan::ExecOptions options{.id = "c", .namespaces = CLONE_NEWUSER | CLONE_NEWPID | CLONE_NEWNS};

    const auto users = plan::lower_exec(plan, plan.spec.process, ordinary_user(), options);
    const auto roots = plan::lower_exec(plan, plan.spec.process, test::able_host(), options);

    REQUIRE(users);
    REQUIRE(users->first);
    CHECK(test::describe(users->first->steps) == Lines{"JoinNamespace 1 0x30000000", "BecomeNamespaceRoot"});
    CHECK_FALSE(users->join_pid);
    CHECK(users->slot_count == 2);
    CHECK(has(test::describe(users->program.steps), "JoinNamespace 0 0x20000"));
    REQUIRE(roots);
    CHECK_FALSE(roots->first);
    CHECK(roots->join_pid == 0);
    CHECK(has(test::describe(roots->program.steps), "JoinNamespace 0 0x10020000"));
}

TEST_CASE("a user's waiting process can be looked at by its owner, root's by nobody") {
    config::Spec spec = rootless_spec();
    spec.process.oom_score_adj = 300;

    const auto users = lowered_from(spec, ordinary_user());

    const Lines lines = test::describe(users.program.steps);
    const auto await = std::find(lines.begin(), lines.end(), "AwaitStart");
    REQUIRE(await != lines.begin());
    CHECK(*(await - 1) == "BecomeDumpable");
    CHECK(users.oom_score_adj == 300);
    CHECK_FALSE(has(test::describe(lowered_from(spec, test::able_host()).program.steps), "BecomeDumpable"));
}

TEST_CASE("a container without a cgroup sees the caller's") {
    config::Spec spec = rootless_spec();
    spec.linux_.namespaces.erase(spec.linux_.namespaces.begin() + 5);  // cgroup
    spec.mounts = {{"/sys/fs/cgroup", "cgroup", "cgroup", {"ro"}}};
    kernel::HostFacts v1 = ordinary_user();
    v1.cgroup.hierarchies = {{.controllers = {"pids"},
                              .mount_point = "/sys/fs/cgroup/pids",
                              .root = "/",
                              .own_path = "/user.slice"}};
    kernel::HostFacts v2 = ordinary_user();
    v2.cgroup = {.layout = kernel::CgroupLayout::v2,
                 .unified = {{.mount_point = "/sys/fs/cgroup", .root = "/", .own_path = "/user.slice"}}};

    const Lines first = test::describe(lowered_from(spec, v1).program.steps);
    const Lines second = test::describe(lowered_from(spec, v2).program.steps);

    CHECK(has(first, "BindHostPath /sys/fs/cgroup/pids/user.slice /sys/fs/cgroup/pids 0x1"));
    CHECK(has(second, "BindHostPath /sys/fs/cgroup /sys/fs/cgroup 0x1"));
}

}  // namespace rung

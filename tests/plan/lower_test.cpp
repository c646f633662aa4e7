// lower(): which steps, in which order, and who does what.
// SPDX-License-Identifier: Apache-2.0
#include "plan/lower.hpp"

#include <doctest/doctest.h>
#include <sched.h>
#include <sys/mount.h>

#include <algorithm>

#include "config/sysctl.hpp"
#include "plan/describe_steps.hpp"
#include "plan/draft.hpp"
#include "plan/make.hpp"
#include "plan/values.hpp"

namespace rung {
namespace {

using config::NamespaceType;
using test::able_host;
using test::usual_spec;
using Lines = std::vector<std::string>;

plan::Lowered lowered_from(const plan::SandboxPlan& plan, const kernel::HostFacts& host = able_host(),
                           const cgroup::Cgroup& cgroup = {}) {
    auto lowered = plan::lower(plan, cgroup, host, {.bundle = "/b", .rootfs = "/b/rootfs", .id = "c"});
    REQUIRE_MESSAGE(lowered, lowered.error().message);
    return *std::move(lowered);
}

plan::Lowered lowered_from(const config::Spec& spec, const kernel::HostFacts& host = able_host()) {
    return lowered_from(plan::SandboxPlan{.spec = spec}, host);
}

// All ids, each as itself.
config::Spec usual_spec_with_users() {
    config::Spec spec = usual_spec();
    spec.linux_.namespaces.push_back({.type = NamespaceType::user});
    spec.linux_.uid_mappings = {{.container_id = 0, .host_id = 100000, .size = 65536}};
    spec.linux_.gid_mappings = spec.linux_.uid_mappings;
    return spec;
}

size_t position(const Lines& lines, const std::string& line) {
    const auto found = std::find(lines.begin(), lines.end(), line);
    REQUIRE_MESSAGE(found != lines.end(), "there is no step " << line);
    return static_cast<size_t>(found - lines.begin());
}

bool in_order(const Lines& lines, const Lines& expected) {
    auto at = lines.begin();
    for (const std::string& line : expected) {
        at = std::find(at, lines.end(), line);
        if (at == lines.end()) return false;
    }
    return true;
}

Lines starting_with(const Lines& lines, const std::string& prefix) {
    Lines chosen;
    std::copy_if(lines.begin(), lines.end(), std::back_inserter(chosen),
                 [&](const std::string& line) { return line.starts_with(prefix); });
    return chosen;
}

}  // namespace

TEST_CASE(
    "clone3 makes the cheap namespaces, the child its network first and its cgroup namespace after joining") {
    const auto lowered = lowered_from(usual_spec());

    CHECK(lowered.clone_flags == (CLONE_NEWNS | CLONE_NEWPID | CLONE_NEWIPC | CLONE_NEWUTS));
    const Lines lines = test::describe(lowered.program.steps);
    CHECK(lines[0] == "UnshareNamespaces 0x40000000");
    CHECK(lines[1] == "BringUpLoopback");
    CHECK(
        in_order(lines, {"SyncWithParent joined_namespaces", "JoinCgroups", "UnshareNamespaces 0x2000000"}));
    CHECK(lines.back() == "Execute");
}

TEST_CASE("with a new user namespace nothing is made before the maps are written") {
    config::Spec spec = usual_spec_with_users();

    const auto lowered = lowered_from(spec);

    CHECK(lowered.maps_users);
    CHECK((lowered.clone_flags & CLONE_NEWUSER) != 0);
    const Lines lines = test::describe(lowered.program.steps);
    CHECK(lines[0] == "SyncWithParent joined_namespaces");
    CHECK(position(lines, "BecomeNamespaceRoot") < position(lines, "UnshareNamespaces 0x40000000"));
    CHECK(starting_with(lines, "MakeDevice").empty());
    // Or their owner and mode would be those of the host's.
    CHECK(lines[position(
              lines, "BindNodes 0 /dev/null /dev/zero /dev/full /dev/random /dev/urandom /dev/tty")] != "");
    REQUIRE(lowered.nodes.size() == 6);
    CHECK(lowered.nodes[0].uid == 100000);
}

TEST_CASE("where a node cannot be made outside the host's is bound") {
    config::Spec spec = usual_spec_with_users();
    spec.linux_.devices = {{.path = "/dev/mine", .major = 1, .minor = 3, .uid = 65536}};
    kernel::HostFacts without_right = test::able_host();
    without_right.effective_capabilities &= ~(uint64_t{1} << 27);

    const auto unmapped = lowered_from(spec);
    const auto granted =
        plan::lower({.spec = spec, .granted = true}, {}, test::able_host(), {.rootfs = "/b/rootfs"});
    const auto unable = plan::lower({.spec = spec}, {}, without_right, {.rootfs = "/b/rootfs"});

    CHECK(starting_with(test::describe(unmapped.program.steps), "BindDevice") ==
          Lines{"BindDevice /dev/mine"});
    for (const auto* lowered : {&granted, &unable}) {
        REQUIRE(*lowered);
        CHECK((*lowered)->nodes.empty());
        CHECK(starting_with(test::describe((*lowered)->program.steps), "BindDevice").size() == 7);
    }
}

TEST_CASE("a user namespace by path is entered before a second clone makes the rest") {
    config::Spec spec = usual_spec();
    spec.linux_.namespaces.push_back({.type = NamespaceType::user, .path = "/proc/7/ns/user"});
    spec.linux_.namespaces[2].path = "/run/netns/pod";

    const auto lowered = lowered_from(spec);

    CHECK(lowered.clone_flags == 0);
    CHECK(lowered.second_clone_flags == (CLONE_NEWNS | CLONE_NEWPID | CLONE_NEWIPC | CLONE_NEWUTS));
    REQUIRE(lowered.first);
    CHECK(test::describe(lowered.first->steps) ==
          Lines{"JoinNamespace 0 0x40000000", "JoinNamespace 1 0x10000000", "BecomeNamespaceRoot"});
}

TEST_CASE(
    "beside a user namespace by path a pid namespace by path is joined before it, by the process that "
    "clones") {
    config::Spec spec = usual_spec();
    spec.linux_.namespaces = {{.type = NamespaceType::mount},
                              {.type = NamespaceType::user, .path = "/proc/7/ns/user"},
                              {.type = NamespaceType::pid, .path = "/proc/7/ns/pid"}};

    const auto lowered = lowered_from(spec);

    CHECK_FALSE(lowered.join_pid);
    REQUIRE(lowered.first);
    CHECK(test::describe(lowered.first->steps) ==
          Lines{"JoinNamespace 0 0x20000000", "JoinNamespace 1 0x10000000", "BecomeNamespaceRoot"});
}

TEST_CASE("under a new user namespace what the host owns is joined first") {
    config::Spec spec = usual_spec_with_users();
    spec.linux_.namespaces[2].path = "/run/netns/pod";

    const auto lowered = lowered_from(spec);

    REQUIRE(lowered.first);
    CHECK(test::describe(lowered.first->steps) == Lines{"JoinNamespace 0 0x40000000"});
    CHECK((lowered.second_clone_flags & CLONE_NEWUSER) != 0);
}

TEST_CASE("a pid namespace by path is the parent's to join, a time namespace the parent's to make") {
    config::Spec spec = usual_spec();
    spec.linux_.namespaces[1].path = "/proc/7/ns/pid";
    spec.linux_.namespaces.push_back({.type = NamespaceType::time});
    spec.linux_.time_offsets = {{"boottime", {5, 1}}, {"monotonic", {10, 0}}};

    const auto lowered = lowered_from(spec);

    REQUIRE(lowered.join_pid);
    CHECK(lowered.namespaces[static_cast<size_t>(*lowered.join_pid)].path == "/proc/7/ns/pid");
    CHECK((lowered.clone_flags & CLONE_NEWPID) == 0);
    CHECK(lowered.time_offsets == "boottime 5 1\nmonotonic 10 0\n");
}

TEST_CASE("hooks see the engine's network and the workload does not") {
    plan::SandboxPlan plan{
        .spec = usual_spec(), .granted = true, .routeless_network = true, .keep_engine_network = true};
    plan.spec.hooks.prestart = {{.path = "/hook"}};
    plan.spec.hooks.create_container = {{.path = "/hook"}};

    const Lines lines = test::describe(lowered_from(plan).program.steps);

    CHECK(in_order(lines,
                   {"UnshareNamespaces 0x40000000", "KeepNetworkNamespace 0", "UnshareNamespaces 0x40000000",
                    "KeepNetworkNamespace 1", "JoinNamespace 0 0x40000000", "SyncWithParent before_pivot",
                    "RunHooks createContainer creating", "JoinNamespace 1 0x40000000", "PivotRoot"}));
}

TEST_CASE("without hooks of the parent there is one sync") {
    const Lines lines = test::describe(lowered_from(usual_spec()).program.steps);

    CHECK(starting_with(lines, "SyncWithParent") == Lines{"SyncWithParent joined_namespaces"});
}

TEST_CASE("a bind is cloned by the parent, detached from the host's propagation, relative to the bundle") {
    config::Spec spec = usual_spec();
    spec.mounts = {{"/data", "bind", "data", {"rbind", "ro", "rshared"}}};

    const auto lowered = lowered_from(spec);

    REQUIRE(lowered.trees.size() == 1);
    CHECK(lowered.trees[0] == plan::OpenTree{.slot = 0,
                                             .source = "/b/data",
                                             .target = "/data",
                                             .recursive = true,
                                             .set = MOUNT_ATTR_RDONLY,
                                             .clear = MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV |
                                                      MOUNT_ATTR_NOEXEC | MOUNT_ATTR_NOSYMFOLLOW,
                                             .propagation = {MS_SLAVE | MS_REC, MS_SHARED | MS_REC}});
    CHECK(position(test::describe(lowered.program.steps), "AttachTree 0 /data") > 0);
}

TEST_CASE(
    "a bind that names an attribute has no other of its source's, and one that names none has them all") {
    config::Spec spec = usual_spec();
    spec.mounts = {{"/a", "bind", "/a", {"bind", "rprivate"}},
                   {"/b", "bind", "/b", {"bind", "ro", "dev"}},
                   {"/c", "bind", "/c", {"bind", "nodiratime"}},
                   {"/d", "bind", "/d", {"bind", "atime"}}};

    const auto trees = lowered_from(spec).trees;

    CHECK((trees[0].set | trees[0].clear) == 0);
    CHECK(trees[1].set == MOUNT_ATTR_RDONLY);
    CHECK(trees[1].clear ==
          (MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV | MOUNT_ATTR_NOEXEC | MOUNT_ATTR_NOSYMFOLLOW));
    CHECK(trees[2].set == MOUNT_ATTR_NODIRATIME);
    CHECK((trees[2].clear & (MOUNT_ATTR__ATIME | MOUNT_ATTR_NODIRATIME)) == MOUNT_ATTR__ATIME);
    CHECK((trees[3].clear & MOUNT_ATTR__ATIME) == 0);
    CHECK((trees[3].clear & MOUNT_ATTR_RDONLY) != 0);
}

TEST_CASE("for a user namespace, and under a grant, a bind loses only what it names") {
    config::Spec spec = usual_spec();
    spec.mounts = {{"/a", "bind", "/a", {"bind", "ro", "dev"}}};
    plan::SandboxPlan granted{.spec = spec, .granted = true};
    spec.linux_.namespaces.push_back({.type = config::NamespaceType::user});
    spec.linux_.uid_mappings = {{0, 100000, 65536}};
    spec.linux_.gid_mappings = {{0, 100000, 65536}};

    const auto tree = lowered_from(spec).trees[0];

    CHECK(tree.clear == (MOUNT_ATTR_NODEV | MOUNT_ATTR_NOSYMFOLLOW));
    CHECK(tree.is_locked);
    CHECK(lowered_from(granted).trees[0].clear == MOUNT_ATTR_NODEV);
}

TEST_CASE("file system data on a bind is an error under a grant, and nothing elsewhere") {
    config::Spec spec = usual_spec();
    spec.mounts = {{"/data", "bind", "/srv", {"bind", "size=1m"}}};

    const auto plain = plan::lower({.spec = spec}, {}, able_host(), {.rootfs = "/b/rootfs"});
    const auto granted =
        plan::lower({.spec = spec, .granted = true}, {}, able_host(), {.rootfs = "/b/rootfs"});

    CHECK(plain);
    REQUIRE(!granted);
    CHECK(granted.error().message == "mounts[/data]: option \"size\" has no meaning for a bind mount");
}

TEST_CASE("what has to be filled becomes read-only afterwards") {
    config::Spec spec = usual_spec();
    spec.mounts[1].options.emplace_back("ro");
    spec.mounts.push_back({"/run", "tmpfs", "tmpfs", {"ro", "tmpcopyup"}});

    const Lines lines = test::describe(lowered_from(spec).program.steps);

    CHECK(in_order(lines, {"PrepareDev", "MakeDevice /dev/null", "PivotRoot", "RemountTarget /dev 0x1",
                           "RemountTarget /run 0x1"}));
}

TEST_CASE("a /dev of the host's stays as it is") {
    config::Spec spec = usual_spec();
    spec.mounts[1] = {"/dev", "bind", "/dev", {"rbind"}};

    const Lines lines = test::describe(lowered_from(spec).program.steps);

    CHECK(starting_with(lines, "PrepareDev").empty());
    CHECK(starting_with(lines, "MakeDevice").empty());
}

TEST_CASE("a device of config.json replaces the default at its path") {
    config::Spec spec = usual_spec();
    spec.linux_.devices = {{.path = "/dev/null", .major = 1, .minor = 3, .mode = 0600},
                           {.path = "/dev/ptmx"}};

    const Lines lines = starting_with(test::describe(lowered_from(spec).program.steps), "MakeDevice");

    CHECK(lines == Lines{"MakeDevice /dev/zero", "MakeDevice /dev/full", "MakeDevice /dev/random",
                         "MakeDevice /dev/urandom", "MakeDevice /dev/tty", "MakeDevice /dev/null"});
}

TEST_CASE("a writable piece of a mount is taken out before the mount becomes read-only, and put back") {
    plan::SandboxPlan plan{.spec = usual_spec(), .granted = true};
    plan.spec.mounts = {{"/data", "bind", "/srv", {"rbind", "rro"}},
                        {"/data/out/x", "bind", "/srv/x", {"bind"}}};
    plan.slices = {{.path = "/data/out", .mount = "/data"}, {.path = "/home"}};

    const auto lowered = lowered_from(plan);

    CHECK(lowered.trees[0].recursive_set == 0);
    CHECK(in_order(
        test::describe(lowered.program.steps),
        {"BindSlice /home 0xe", "AttachTree 0 /data", "KeepTree 1 /data/out",
         "RemountTarget /data 0x1 recursive", "AttachTree 1 /data/out", "AttachTree 2 /data/out/x"}));
}

TEST_CASE("cgroup v1 is a tmpfs with one directory for each hierarchy") {
    plan::SandboxPlan plan{.spec = usual_spec()};
    plan.spec.mounts = {{"/sys/fs/cgroup", "cgroup", "cgroup", {"ro", "nosuid"}}};
    plan::SandboxPlan without_namespace = plan;
    without_namespace.spec.linux_.namespaces.pop_back();
    cgroup::Cgroup cgroup{.layout = kernel::CgroupLayout::v1};
    cgroup.v1 = {{{"cpu", "cpuacct"}, "/sys/fs/cgroup/cpu,cpuacct/c", "/sys/fs/cgroup/cpu,cpuacct"},
                 {{"name=systemd"}, "/sys/fs/cgroup/systemd/c", "/sys/fs/cgroup/systemd"}};

    const Lines inside = test::describe(lowered_from(plan, able_host(), cgroup).program.steps);
    const Lines bound = test::describe(lowered_from(without_namespace, able_host(), cgroup).program.steps);

    CHECK(in_order(inside, {"MountFilesystem tmpfs /sys/fs/cgroup 0x2 mode=755",
                            "MountFilesystem cgroup /sys/fs/cgroup/cpu,cpuacct 0x3 cpu cpuacct",
                            "MakeSymlink /sys/fs/cgroup/cpu -> cpu,cpuacct",
                            "MakeSymlink /sys/fs/cgroup/cpuacct -> cpu,cpuacct",
                            "MountFilesystem cgroup /sys/fs/cgroup/systemd 0x3 none name=systemd",
                            "RemountTarget /sys/fs/cgroup 0x1"}));
    CHECK(position(bound, "BindHostPath /sys/fs/cgroup/systemd/c /sys/fs/cgroup/systemd 0x3") > 0);
}

TEST_CASE("cgroup v2 is one mount") {
    plan::SandboxPlan plan{.spec = usual_spec()};
    plan.spec.mounts = {{"/sys/fs/cgroup", "cgroup", "cgroup", {"ro"}}};
    kernel::HostFacts host = able_host();
    host.cgroup = {.layout = kernel::CgroupLayout::v2};

    const Lines lines = test::describe(lowered_from(plan, host).program.steps);

    CHECK(position(lines, "MountFilesystem cgroup2 /sys/fs/cgroup 0x1") > 0);
}

TEST_CASE("a filter is loaded last with no_new_privs, and while privileged without") {
    plan::SandboxPlan plan{.spec = usual_spec(), .seccomp_profiles = {"default"}};
    plan.spec.linux_.seccomp = config::Seccomp{};
    plan.spec.hooks.start_container = {{.path = "/hook"}};
    plan::SandboxPlan no_new = plan;
    no_new.spec.process.no_new_privileges = true;

    const auto early = lowered_from(plan);
    const auto late = lowered_from(no_new);

    CHECK(early.seccomp_sources == Lines{"default", "config"});
    CHECK(in_order(test::describe(early.program.steps),
                   {"LoadSeccomp 0", "LoadSeccomp 1", "DropBounding 0x0", "SetUser 0", "FindExecutable",
                    "AwaitStart", "RunHooks startContainer created", "Execute"}));
    CHECK(in_order(test::describe(late.program.steps),
                   {"SetNoNewPrivs", "SetUser 0", "SetCapabilities", "FindExecutable", "AwaitStart",
                    "LoadSeccomp 0", "LoadSeccomp 1", "RunHooks startContainer created", "Execute"}));
}

TEST_CASE(
    "a filter that leaves calls to an agent is loaded before start, while somebody can take its listener") {
    plan::SandboxPlan plan{.spec = usual_spec(), .seccomp_profiles = {"default"}};
    plan.spec.process.no_new_privileges = true;
    plan.spec.linux_.seccomp =
        config::Seccomp{.listener_path = "/agent",
                        .listener_metadata = "words",
                        .rules = {{.names = {"mkdir"}, .action = config::SeccompAction::notify}}};

    const auto lowered = lowered_from(plan);

    CHECK(in_order(test::describe(lowered.program.steps),
                   {"FindExecutable", "LoadSeccomp 0", "LoadSeccomp 1 listening", "AwaitStart", "Execute"}));
    CHECK(lowered.seccomp_agent ==
          plan::SeccompAgent{.path = "/agent", .metadata = "words", .required = true});
}

TEST_CASE("an id-mapped mount has its own mappings, or those of the container") {
    config::Spec spec = usual_spec();
    spec.linux_.namespaces.push_back({.type = NamespaceType::user});
    spec.linux_.uid_mappings = {{0, 100000, 10}};
    spec.linux_.gid_mappings = {{0, 200000, 10}};
    spec.mounts = {{"/a", "bind", "/host/a", {"bind"}, {{5, 6, 7}}, {{8, 9, 10}}},
                   {"/b", "bind", "/host/b", {"rbind", "ridmap"}},
                   {"/c", "bind", "/host/c", {"bind"}}};

    const auto trees = lowered_from(spec).trees;

    REQUIRE(trees.size() == 3);
    CHECK(trees[0].id_map == plan::IdMap{.uids = {{5, 6, 7}}, .gids = {{8, 9, 10}}});
    CHECK(trees[1].id_map ==
          plan::IdMap{.uids = {{0, 100000, 10}}, .gids = {{0, 200000, 10}}, .recursive = true});
    CHECK_FALSE(trees[2].id_map);
}

TEST_CASE("network devices come when the container's network is there") {
    config::Spec spec = usual_spec();
    spec.linux_.net_devices = {{"eth0", ""}};
    config::Spec mapped = usual_spec_with_users();
    mapped.linux_.net_devices = spec.linux_.net_devices;

    CHECK(in_order(test::describe(lowered_from(spec).program.steps),
                   {"UnshareNamespaces 0x40000000", "SyncWithParent made_networks"}));
    CHECK(in_order(test::describe(lowered_from(mapped).program.steps),
                   {"SyncWithParent joined_namespaces", "UnshareNamespaces 0x40000000",
                    "SyncWithParent made_networks"}));
}

TEST_CASE("limits of a container with users of its own are set from outside, where they can be raised") {
    config::Spec spec = usual_spec();
    spec.process.rlimits = {{.resource = 7, .soft = 10, .hard = 20}};
    config::Spec mapped = usual_spec_with_users();
    mapped.process.rlimits = spec.process.rlimits;

    const auto outside = lowered_from(mapped);
    const auto inside = lowered_from(spec);

    CHECK(outside.rlimits == mapped.process.rlimits);
    CHECK(starting_with(test::describe(outside.program.steps), "SetRlimit").empty());
    CHECK(inside.rlimits.empty());
    CHECK(position(test::describe(inside.program.steps), "SetRlimit 7") > 0);
}

TEST_CASE("cache allocation is refused where the host has none") {
    config::Spec spec = usual_spec();
    spec.linux_.intel_rdt = config::IntelRdt{};

    const auto refused = plan::lower({.spec = spec}, {}, able_host(), {.rootfs = "/b/rootfs"});

    REQUIRE_FALSE(refused);
    CHECK(refused.error().message ==
          "linux.intelRdt: intelRdt is specified in config, but Intel RDT is not enabled");
}

TEST_CASE("without a mount namespace the root is only changed, and mounts lie on one of their own") {
    config::Spec plain = usual_spec();
    plain.linux_.namespaces.erase(plain.linux_.namespaces.begin());
    config::Spec mounting = plain;
    plain.mounts.clear();
    config::Spec read_only = plain;
    read_only.root.read_only = true;

    const auto changed = lowered_from(plain);
    const Lines lines = test::describe(changed.program.steps);

    CHECK(in_order(lines, {"OpenRootfs /b/rootfs", "ChangeRoot"}));
    CHECK(starting_with(lines, "RemountRoot").empty());
    CHECK_FALSE(changed.mounts_on_host);
    CHECK(lowered_from(mounting).mounts_on_host);
    CHECK(in_order(test::describe(lowered_from(read_only).program.steps),
                   {"BindRootfs /b/rootfs", "ChangeRoot", "RemountRoot read-only"}));
}

TEST_CASE("exec joins everything at once and ends as create does") {
    plan::SandboxPlan plan{.spec = usual_spec()};
    config::Process process;
    process.args = {"id"};
    process.cwd = "/";
    process.exec_cpu_affinity.final = {2};

    const auto lowered = plan::lower_exec(plan, process, kernel::HostFacts{},
                                          {.id = "c", .namespaces = CLONE_NEWNS | CLONE_NEWNET});

    REQUIRE(lowered);
    CHECK(test::describe(lowered->program.steps) ==
          Lines{"SyncWithParent joined_namespaces", "JoinCgroups", "SetCpuAffinity 0x2",
                "JoinNamespace 0 0x40020000", "NewKeyring", "NewSession", "OwnStdio", "CloseDescriptors",
                "ChangeDirectory /", "DropBounding 0x0", "SetUser 0", "SetCapabilities", "SetHome",
                "FindExecutable", "AwaitStart", "Execute"});
}

TEST_CASE("exec leaves the host's mounts before it comes into the container's pid namespace") {
    plan::SandboxPlan plan{.spec = usual_spec()};
    config::Process process;
    process.args = {"id"};
    process.cwd = "/";

    const auto lowered =
        plan::lower_exec(plan, process, kernel::HostFacts{},
                         {.id = "c", .namespaces = CLONE_NEWNS | CLONE_NEWPID | CLONE_NEWNET});

    REQUIRE(lowered);
    REQUIRE(lowered->first);
    CHECK(test::describe(lowered->first->steps) == Lines{"JoinNamespace 1 0x20020000"});
    CHECK(starting_with(test::describe(lowered->program.steps), "JoinNamespace") ==
          Lines{"JoinNamespace 0 0x40000000"});
    CHECK_FALSE(lowered->join_pid);
}

TEST_CASE("a security label that the host cannot apply is refused, one that it can is put on for execve") {
    config::Spec confined = usual_spec();
    confined.process.apparmor_profile = "docker-default";
    config::Spec labelled = usual_spec();
    labelled.process.selinux_label = "system_u:system_r:container_t:s0";
    kernel::HostFacts guarded = able_host();
    guarded.apparmor = true;

    const Lines applied = test::describe(lowered_from(confined, guarded).program.steps);
    const auto profile = plan::lower({.spec = confined}, {}, able_host(), {.rootfs = "/b/rootfs"});
    const auto label = plan::lower({.spec = labelled}, {}, able_host(), {.rootfs = "/b/rootfs"});

    CHECK(starting_with(applied, "SetExecLabel").size() == 1);
    CHECK(profile.error().message == "process.apparmorProfile: AppArmor is not enabled on this host");
    CHECK(label.error().message == "process.selinuxLabel: SELinux is not enabled on this host");
}

TEST_CASE("sysctl keys are written with dots or with slashes") {
    CHECK(config::sysctl_path("net.ipv4.ip_forward") == "net/ipv4/ip_forward");
    CHECK(config::sysctl_path("net.ipv4.conf.eth0/1.mtu") == "net/ipv4/conf/eth0.1/mtu");
    CHECK(config::sysctl_path("net/ipv4/conf/eth0.1/mtu") == "net/ipv4/conf/eth0.1/mtu");
}

TEST_CASE("of duplicate variables the last one stays, once") {
    CHECK(plan::resolve_duplicates({"ONE=a", "TWO=b", "ONE=c", "EMPTY="}) ==
          Lines{"TWO=b", "ONE=c", "EMPTY="});
}

}  // namespace rung

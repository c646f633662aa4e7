// make(): what a grant takes away from config.json, and what it refuses.
// SPDX-License-Identifier: Apache-2.0
#include "plan/make.hpp"

#include <doctest/doctest.h>
#include <linux/capability.h>
#include <sched.h>
#include <sys/resource.h>

#include "plan/values.hpp"

namespace rung {
namespace {

using test::able_host;
using test::narrowing_of;
using test::reading_grant;
using test::usual_spec;

constexpr uint64_t bit(int capability) {
    return uint64_t{1} << capability;
}

bool has_narrowing(const plan::SandboxPlan& plan, const std::string& field) {
    return !narrowing_of(plan, field).field.empty();
}

std::string refusal(const grant::Grant& grant, const kernel::HostFacts& host = able_host()) {
    const auto plan = plan::make(usual_spec(), grant, host, 0);
    return plan ? "" : plan.error().message;
}

}  // namespace

TEST_CASE("without a grant the plan is config.json itself") {
    const auto plan = plan::make(usual_spec(), {}, able_host(), 0);

    REQUIRE(plan);
    CHECK(*plan == plan::SandboxPlan{.spec = usual_spec()});
}

TEST_CASE("a grant outside its times is refused") {
    grant::Grant grant = reading_grant();
    grant.metadata.not_before = 100;
    grant.metadata.expires_at = 200;

    const auto early = plan::make(usual_spec(), grant, able_host(), 99);
    const auto within = plan::make(usual_spec(), grant, able_host(), 100);
    const auto late = plan::make(usual_spec(), grant, able_host(), 200);

    CHECK(early.error().reason == "grant_not_yet_valid");
    CHECK(within);
    CHECK(late.error().reason == "grant_expired");
}

TEST_CASE("an empty grant runs nothing and names the executable") {
    const auto plan = plan::make(usual_spec(), grant::Grant{}, able_host(), 0);

    REQUIRE(!plan);
    CHECK(plan.error().reason == "grant_unrunnable");
    CHECK(plan.error().message ==
          "grant_unrunnable: tools: the grant lists none, so \"/bin/sh\" may not be executed");
}

TEST_CASE("an empty list of tools runs nothing even with a readable root") {
    grant::Grant grant = reading_grant();
    grant.tools = std::vector<grant::Tool>{};

    const auto plan = plan::make(usual_spec(), grant, able_host(), 0);

    CHECK(plan.error().reason == "grant_unrunnable");
}

TEST_CASE("what this build cannot enforce is refused by the name of its field") {
    const auto refused_with = [](auto change) {
        grant::Grant grant = reading_grant();
        change(grant);
        const std::string message = refusal(grant);
        return message.substr(0, message.find(": ", message.find(": ") + 2));
    };

    CHECK(refused_with([](auto& g) { g.tools = std::vector<grant::Tool>{{.path = "/usr/bin/python3"}}; }) ==
          "grant_unenforceable: tools");
    CHECK(refused_with([](auto& g) { g.tools = std::vector<grant::Tool>{{.path = "/", .sha256 = "00"}}; }) ==
          "grant_unenforceable: tools.sha256");
    CHECK(refused_with([](auto& g) { g.filesystem->rootfs = grant::RootfsAccess::none; }) ==
          "grant_unenforceable: filesystem.rootfs");
    CHECK(refused_with([](auto& g) { g.network = grant::Network{.egress = {{.host = "example.com"}}}; }) ==
          "grant_unenforceable: network.egress");
    CHECK(refused_with([](auto& g) { g.network = grant::Network{.ingress_ports = {80}}; }) ==
          "grant_unenforceable: network.ingress");
    CHECK(refused_with([](auto& g) { g.devices = std::vector<std::string>{"vendor.com/gpu=0"}; }) ==
          "grant_unenforceable: devices");
    CHECK(refused_with([](auto& g) { g.secrets = std::vector<grant::Secret>{{.name = "token"}}; }) ==
          "grant_unenforceable: secrets");
    CHECK(refused_with([](auto& g) { g.isolation = grant::Isolation::gvisor; }) ==
          "grant_unenforceable: isolation.minimum");
    CHECK(refused_with([](auto& g) { g.budgets = grant::Budgets{.active_deadline_seconds = 1}; }) ==
          "grant_unenforceable: budgets.activeDeadlineSeconds");
    CHECK(refused_with([](auto& g) { g.budgets = grant::Budgets{.max_ops = 1}; }) ==
          "grant_unenforceable: budgets.maxOps");
    CHECK(refused_with([](auto& g) { g.budgets = grant::Budgets{.max_output_bytes = 1}; }) ==
          "grant_unenforceable: budgets.maxOutputBytes");
    CHECK(refused_with([](auto& g) { g.budgets = grant::Budgets{.max_egress_bytes = 1}; }) ==
          "grant_unenforceable: budgets.maxEgressBytes");
    CHECK(refused_with([](auto& g) { g.termination_grace_seconds = 5; }) ==
          "grant_unenforceable: terminationGracePeriodSeconds");
    CHECK(refused_with([](auto& g) { g.audit_level = grant::AuditLevel::denials; }) ==
          "grant_unenforceable: audit.level");
    CHECK(refused_with([](auto& g) { g.audit_feedback = true; }) == "grant_unenforceable: audit.feedback");
    CHECK(refused_with([](auto& g) { g.limits.ephemeral_storage = 1; }) ==
          "grant_unenforceable: limits.ephemeralStorage");
}

TEST_CASE("a limit without its controller is refused") {
    grant::Grant grant = reading_grant();
    grant.limits.memory = 1 << 20;
    kernel::HostFacts without_cgroups = able_host();
    without_cgroups.cgroup = {};
    kernel::HostFacts without_memory = able_host();
    without_memory.cgroup.hierarchies.erase(without_memory.cgroup.hierarchies.begin());

    CHECK(refusal(grant, without_cgroups) ==
          "grant_unenforceable: limits.memory: no cgroup file system is mounted");
    CHECK(
        refusal(grant, without_memory) ==
        "grant_unenforceable: limits.memory: no cgroup hierarchy with the controller \"memory\" is mounted");
}

TEST_CASE(
    "capabilities are those that config.json and the grant both name, without the ones that undo a grant") {
    config::Spec spec = usual_spec();
    const uint64_t asked = bit(CAP_CHOWN) | bit(CAP_KILL) | bit(CAP_NET_RAW) | bit(CAP_SYS_ADMIN);
    spec.process.capabilities = config::Capabilities{asked, asked, asked, asked, asked, {}};
    grant::Grant grant = reading_grant();
    grant.capabilities = bit(CAP_CHOWN) | bit(CAP_NET_RAW) | bit(CAP_SYS_ADMIN) | bit(CAP_FOWNER);

    const auto plan = plan::make(spec, grant, able_host(), 0);

    REQUIRE(plan);
    const uint64_t left = bit(CAP_CHOWN);
    CHECK(plan->spec.process.capabilities == config::Capabilities{left, left, left, left, left, {}});
    CHECK(plan->spec.process.no_new_privileges);
    CHECK(narrowing_of(*plan, "process.capabilities").effective == "CAP_CHOWN, CAP_NET_RAW, CAP_SYS_ADMIN");
}

TEST_CASE("a grant that says nothing of capabilities leaves none") {
    config::Spec spec = usual_spec();
    spec.process.capabilities = config::Capabilities{.bounding = bit(CAP_CHOWN)};

    const auto plan = plan::make(spec, reading_grant(), able_host(), 0);

    REQUIRE(plan);
    CHECK(plan->spec.process.capabilities == config::Capabilities{});
    CHECK(narrowing_of(*plan, "process.capabilities").reason ==
          "the grant says nothing of capabilities, and absent means none");
}

TEST_CASE("the network of a grant without egress has no way out") {
    config::Spec spec = usual_spec();
    spec.hooks.prestart = {{.path = "/hook"}};
    config::Spec joining = usual_spec();
    joining.linux_.namespaces[2].path = "/run/netns/pod";

    const auto own = plan::make(spec, reading_grant(), able_host(), 0);
    const auto pod = plan::make(joining, reading_grant(), able_host(), 0);

    REQUIRE(own);
    CHECK(own->routeless_network);
    CHECK(own->keep_engine_network);
    REQUIRE(pod);
    CHECK(pod->routeless_network);
    CHECK_FALSE(pod->keep_engine_network);
    CHECK(pod->spec.find_namespace(config::NamespaceType::network)->path.empty());
    CHECK(narrowing_of(*pod, "linux.namespaces[network]").asked == "/run/netns/pod");
}

TEST_CASE("under a grant network devices stay on the host") {
    config::Spec spec = usual_spec();
    spec.linux_.net_devices = {{"eth0", ""}, {"eth1", "inside"}};

    const auto plan = plan::make(spec, reading_grant(), able_host(), 0);

    REQUIRE(plan);
    CHECK(plan->spec.linux_.net_devices.empty());
    CHECK(narrowing_of(*plan, "linux.netDevices").asked == "eth0, eth1");
}

TEST_CASE("namespaces of the host become the container's own, those by path stay") {
    config::Spec spec = usual_spec();
    spec.linux_.namespaces = {{.type = config::NamespaceType::mount},
                              {.type = config::NamespaceType::ipc, .path = "/proc/7/ns/ipc"}};

    const auto plan = plan::make(spec, reading_grant(), able_host(), 0);

    REQUIRE(plan);
    CHECK(plan->spec.find_namespace(config::NamespaceType::ipc)->path == "/proc/7/ns/ipc");
    for (const auto type : {config::NamespaceType::pid, config::NamespaceType::uts,
                            config::NamespaceType::network, config::NamespaceType::cgroup}) {
        CHECK(plan->spec.has_namespace(type));
    }
    CHECK(has_narrowing(*plan, "linux.namespaces[pid]"));
}

TEST_CASE("a mount namespace of others cannot be narrowed") {
    config::Spec spec = usual_spec();
    spec.linux_.namespaces[0].path = "/proc/7/ns/mnt";

    const auto plan = plan::make(spec, reading_grant(), able_host(), 0);

    CHECK(plan.error().reason == "grant_unenforceable");
}

TEST_CASE("memory is closed to programs by the sysctl, or by a filter where there is none") {
    kernel::HostFacts old_host = able_host();
    old_host.memfd_noexec = false;
    config::Spec pod = usual_spec();
    pod.linux_.namespaces[1].path = "/proc/7/ns/pid";

    const auto current = plan::make(usual_spec(), reading_grant(), able_host(), 0);
    const auto old = plan::make(usual_spec(), reading_grant(), old_host, 0);
    const auto joined = plan::make(pod, reading_grant(), able_host(), 0);

    CHECK(current->memfd_noexec);
    CHECK(current->seccomp_profiles == std::vector<std::string>{"default"});
    CHECK_FALSE(old->memfd_noexec);
    CHECK(old->seccomp_profiles == std::vector<std::string>{"default", "no-memfd"});
    CHECK(joined->seccomp_profiles == std::vector<std::string>{"default", "no-memfd"});
}

TEST_CASE("devices beyond the defaults are gone") {
    config::Spec spec = usual_spec();
    spec.linux_.devices = {{.path = "/dev/fuse", .major = 10, .minor = 229},
                           {.path = "/dev/null", .major = 1, .minor = 3},
                           {.path = "/dev/zero", .type = config::DeviceType::block, .major = 8, .minor = 0}};
    spec.linux_.resources.devices = {{.allow = true}};

    const auto plan = plan::make(spec, reading_grant(), able_host(), 0);

    REQUIRE(plan);
    REQUIRE(plan->spec.linux_.devices.size() == 1);
    CHECK(plan->spec.linux_.devices[0].path == "/dev/null");
    REQUIRE(!plan->spec.linux_.resources.devices.empty());
    CHECK(plan->spec.linux_.resources.devices[0] == config::DeviceRule{.allow = false});
    CHECK(narrowing_of(*plan, "linux.resources.devices").asked == "a *:* rwm");
}

TEST_CASE("exec is narrowed as the first process is") {
    grant::Grant grant = reading_grant();
    grant.capabilities = bit(CAP_KILL);
    grant.limits.open_files = 64;
    const uint64_t all = ~uint64_t{0};
    config::Spec spec = usual_spec();
    spec.process.capabilities = config::Capabilities{all, all, all, all, all, {}};
    const auto plan = plan::make(spec, grant, able_host(), 0);
    config::Process process;
    process.capabilities = config::Capabilities{all, all, all, all, all, {}};
    process.rlimits = {{RLIMIT_NOFILE, 32, 4096}};

    const config::Process narrowed = plan::narrow_process(*plan, grant, process);

    const uint64_t kill = bit(CAP_KILL);
    CHECK(narrowed.capabilities == config::Capabilities{kill, kill, kill, kill, kill, {}});
    CHECK(narrowed.no_new_privileges);
    CHECK(narrowed.rlimits == std::vector<config::Rlimit>{{RLIMIT_NOFILE, 32, 64}});
}

TEST_CASE("exec has no capability that the first process has not") {
    config::Spec spec = usual_spec();
    spec.process.capabilities = config::Capabilities{.bounding = bit(CAP_KILL)};
    grant::Grant grant = reading_grant();
    grant.capabilities = bit(CAP_KILL) | bit(CAP_CHOWN);
    const auto plan = plan::make(spec, grant, able_host(), 0);
    REQUIRE(plan);
    config::Process asked;
    asked.capabilities = config::Capabilities{.bounding = bit(CAP_KILL) | bit(CAP_CHOWN)};

    const auto narrowed = plan::narrow_process(*plan, grant, asked);

    REQUIRE(narrowed.capabilities);
    CHECK(narrowed.capabilities->bounding == bit(CAP_KILL));
}

TEST_CASE("any profile but strict is loaded beside the default one") {
    grant::Grant grant = reading_grant();
    grant.seccomp_profiles = {"no-memfd"};
    const auto added = plan::make(usual_spec(), grant, able_host(), 0);
    grant.seccomp_profiles = {"strict"};
    const auto strict = plan::make(usual_spec(), grant, able_host(), 0);

    REQUIRE(added);
    CHECK(added->seccomp_profiles == std::vector<std::string>{"default", "no-memfd"});
    REQUIRE(strict);
    CHECK(strict->seccomp_profiles == std::vector<std::string>{"strict"});
}

TEST_CASE("a real-time class, which no CPU limit binds, is gone") {
    config::Spec spec = usual_spec();
    spec.process.scheduler = config::Scheduler{.policy = SCHED_FIFO, .priority = 1};

    const auto plan = plan::make(spec, reading_grant(), able_host(), 0);

    REQUIRE(plan);
    CHECK_FALSE(plan->spec.process.scheduler);
    CHECK(has_narrowing(*plan, "process.scheduler"));
}

TEST_CASE("a file system that the whole host shares is refused") {
    config::Spec spec = usual_spec();
    spec.mounts.push_back({.destination = "/trace", .type = "tracefs", .source = "tracefs"});

    const auto plan = plan::make(spec, reading_grant(), able_host(), 0);

    REQUIRE_FALSE(plan);
    CHECK(plan.error().message == "grant_unenforceable: mounts[/trace]: a tracefs belongs to the whole host");
}

TEST_CASE("a part of the image is not mounted writable under another name") {
    config::Spec spec = usual_spec();
    spec.root.path = "/bundle/rootfs";
    spec.mounts.push_back(
        {.destination = "/work", .type = "bind", .source = "/bundle/rootfs/opt", .options = {"bind"}});
    grant::Grant grant = reading_grant();
    const auto read_only = plan::make(spec, grant, able_host(), 0);
    grant.filesystem->read_write = {"/work"};
    const auto writable = plan::make(spec, grant, able_host(), 0);

    CHECK(read_only);
    REQUIRE_FALSE(writable);
    CHECK(writable.error().reason == "grant_unenforceable");
}

TEST_CASE("exec without a grant is left alone") {
    const auto plan = plan::make(usual_spec(), {}, able_host(), 0);
    config::Process process;
    process.capabilities = config::Capabilities{.bounding = bit(CAP_SYS_ADMIN)};

    CHECK(plan::narrow_process(*plan, {}, process) == process);
}

}  // namespace rung

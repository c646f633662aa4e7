// Whatever config.json asks and a grant says: the plan exceeds neither, and asking for more never gives more than the grant.
// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>
#include <sys/mount.h>

#include <algorithm>
#include <random>

#include "base/path.hpp"
#include "plan/make.hpp"
#include "plan/mount_kind.hpp"
#include "plan/narrow.hpp"

namespace rung {
namespace {

constexpr int kRounds = 2000;

class Choice {
  public:
    explicit Choice(unsigned seed) : engine_(seed) {}
    uint64_t below(uint64_t end) { return engine_() % end; }
    bool coin() { return below(2) == 0; }
    uint64_t bits() { return (uint64_t{engine_()} << 32) | engine_(); }
    template <typename T>
    T one_of(const std::vector<T>& items) {
        return items[below(items.size())];
    }

  private:
    std::mt19937 engine_;
};

const std::vector<std::string> kPaths = {"/work", "/work/a",   "/work/a/b", "/workshop",
                                         "/data", "/data/out", "/tmp",      "/dev/shm"};

kernel::HostFacts host() {
    kernel::HostFacts facts{.effective_capabilities = ~uint64_t{0}, .memfd_noexec = true, .seccomp = true};
    facts.cgroup.layout = kernel::CgroupLayout::v2;
    return facts;
}

config::Mount random_mount(Choice& choice) {
    config::Mount mount{.destination = choice.one_of(kPaths), .type = choice.coin() ? "bind" : "tmpfs"};
    mount.source = mount.type == "bind" ? "/srv" + choice.one_of(kPaths) : "tmpfs";
    if (mount.type == "bind") mount.options.push_back(choice.coin() ? "rbind" : "bind");
    for (const char* option : {"ro", "rw", "exec", "nosuid", "rslave"}) {
        if (choice.below(3) == 0) mount.options.emplace_back(option);
    }
    return mount;
}

config::Spec random_spec(Choice& choice) {
    config::Spec spec;
    spec.process.args = {"/bin/true"};
    spec.root.read_only = choice.coin();
    spec.process.capabilities =
        config::Capabilities{choice.bits(), choice.bits(), choice.bits(), choice.bits(), choice.bits(), {}};
    for (uint64_t count = choice.below(4); count > 0; --count)
        spec.mounts.push_back(random_mount(choice));
    config::Resources& resources = spec.linux_.resources;
    if (choice.coin()) resources.memory.limit = static_cast<int64_t>(choice.below(1000)) - 1;
    if (choice.coin()) resources.pids_limit = static_cast<int64_t>(choice.below(100)) - 1;
    if (choice.coin()) resources.cpu.quota = static_cast<int64_t>(choice.below(200000)) - 1;
    if (choice.coin()) resources.cpu.period = 1000 + choice.below(999000);
    return spec;
}

std::vector<std::string> random_paths(Choice& choice) {
    std::vector<std::string> paths;
    for (const std::string& path : kPaths) {
        if (choice.below(4) == 0) paths.push_back(path);
    }
    return paths;
}

grant::Grant random_grant(Choice& choice) {
    grant::Grant grant;
    grant.tools = std::vector<grant::Tool>{{.path = "/"}};
    grant.filesystem = grant::Filesystem{.rootfs = grant::RootfsAccess::read_only,
                                         .read_only = random_paths(choice),
                                         .read_write = random_paths(choice)};
    if (choice.coin()) grant.capabilities = choice.bits();
    if (choice.coin()) grant.limits.memory = choice.below(1000);
    if (choice.coin()) grant.limits.cpu_milli = 1 + choice.below(3000);
    if (choice.coin()) grant.limits.pids = choice.below(100);
    return grant;
}

uint64_t any_set(const config::Process& process) {
    const config::Capabilities sets = process.capabilities.value_or(config::Capabilities{});
    return sets.bounding | sets.effective | sets.permitted | sets.inheritable | sets.ambient;
}

bool is_within(const std::optional<int64_t>& limit, std::optional<uint64_t> most) {
    if (!most) return true;
    return limit && *limit >= 0 && static_cast<uint64_t>(*limit) <= *most;
}

std::optional<uint64_t> as_bound(const std::optional<int64_t>& limit) {
    if (!limit || *limit < 0) return {};
    return static_cast<uint64_t>(*limit);
}

// Engines write 0 for a memory limit that nobody asked for.
std::optional<uint64_t> memory_bound(const std::optional<int64_t>& limit) {
    return limit == 0 ? std::nullopt : as_bound(limit);
}

double cpus(const config::CpuResources& cpu) {
    if (!cpu.quota || *cpu.quota <= 0) return 1e9;
    return static_cast<double>(*cpu.quota) / static_cast<double>(cpu.period.value_or(100000));
}

void check_within_grant(const plan::SandboxPlan& plan, const grant::Grant& grant) {
    CHECK((any_set(plan.spec.process) & ~grant.capabilities.value_or(0)) == 0);
    CHECK(plan.spec.process.no_new_privileges);
    CHECK(plan.spec.root.read_only);
    const config::Resources& resources = plan.spec.linux_.resources;
    CHECK(is_within(resources.memory.limit, grant.limits.memory));
    CHECK(is_within(resources.pids_limit, grant.limits.pids));
    if (grant.limits.cpu_milli)
        CHECK(cpus(resources.cpu) <= static_cast<double>(*grant.limits.cpu_milli) / 1000);
    for (const config::Mount& mount : plan.spec.mounts) {
        if (!plan::is_writable(mount)) continue;
        const std::string destination = path::clean(mount.destination);
        CHECK(plan::granted_access(*grant.filesystem, destination) == plan::Access::read_write);
        const auto options = config::parse_mount_options(mount.options);
        REQUIRE(options);
        const uint64_t attributes = options->set | options->recursive_set;
        const uint64_t wanted = path::covers("/dev", destination)
                                    ? plan::kHarmless & ~uint64_t{MOUNT_ATTR_NODEV}
                                    : plan::kHarmless;
        CHECK((attributes & wanted) == wanted);
    }
    for (const plan::Slice& slice : plan.slices) {
        CHECK(plan::granted_access(*grant.filesystem, slice.path) == plan::Access::read_write);
    }
}

void check_within_config(const plan::SandboxPlan& plan, const config::Spec& spec) {
    CHECK((any_set(plan.spec.process) & ~any_set(spec.process)) == 0);
    const config::Resources& asked = spec.linux_.resources;
    CHECK(is_within(plan.spec.linux_.resources.memory.limit, memory_bound(asked.memory.limit)));
    CHECK(is_within(plan.spec.linux_.resources.pids_limit, as_bound(asked.pids_limit)));
    CHECK(cpus(plan.spec.linux_.resources.cpu) <= cpus(asked.cpu));
    // What the grant does not name may be left out; what stays keeps its order.
    auto wanted = spec.mounts.begin();
    for (const config::Mount& mount : plan.spec.mounts) {
        wanted = std::find_if(wanted, spec.mounts.end(), [&](const config::Mount& other) {
            return other.destination == mount.destination && other.source == mount.source;
        });
        REQUIRE(wanted != spec.mounts.end());
        if (plan::is_writable(mount)) CHECK(plan::is_writable(*wanted));
        ++wanted;
    }
    for (const plan::Slice& slice : plan.slices) {
        const config::Mount* mount = plan::mount_holding(spec.mounts, slice.path);
        if (mount == nullptr) {
            CHECK_FALSE(spec.root.read_only);
        } else {
            CHECK(plan::is_writable(*mount));
        }
    }
}

// More of everything that can be asked for.
config::Spec widened(config::Spec spec) {
    spec.root.read_only = false;
    const uint64_t all = ~uint64_t{0};
    spec.process.capabilities = config::Capabilities{all, all, all, all, all, {}};
    spec.linux_.resources = {};
    spec.linux_.resources.devices = {{.allow = true}};
    for (config::Mount& mount : spec.mounts)
        mount.options.insert(mount.options.end(), {"rw", "exec", "suid", "dev"});
    return spec;
}

}  // namespace

TEST_CASE("a plan never exceeds config.json or the grant") {
    for (unsigned seed = 0; seed < kRounds; ++seed) {
        Choice choice(seed);
        const config::Spec spec = random_spec(choice);
        const grant::Grant grant = random_grant(choice);
        CAPTURE(seed);

        const auto plan = plan::make(spec, grant, host(), 0);

        if (!plan) {
            CHECK(plan.error().reason == "grant_unenforceable");
            continue;
        }
        check_within_grant(*plan, grant);
        check_within_config(*plan, spec);
    }
}

TEST_CASE("a plan under several grants and a ceiling exceeds none of them") {
    for (unsigned seed = 0; seed < kRounds; ++seed) {
        Choice choice(seed);
        const config::Spec spec = random_spec(choice);
        grant::Layers layers{.grants = {{.name = "a", .grant = random_grant(choice)},
                                        {.name = "b", .grant = random_grant(choice)}},
                             .ceiling = grant::Layer{.name = "ceiling", .grant = random_grant(choice)}};
        const auto effective = grant::meet_layers(layers);
        REQUIRE(effective);
        CAPTURE(seed);

        const auto plan = plan::make_under_layers(spec, *effective, host(), 0);

        if (!plan) {
            CHECK(plan.error().reason == "grant_unenforceable");
            continue;
        }
        for (const grant::Layer& layer : layers.grants)
            check_within_grant(*plan, layer.grant);
        check_within_grant(*plan, layers.ceiling->grant);
        check_within_config(*plan, spec);
    }
}

TEST_CASE("widening config.json never widens past the grant") {
    for (unsigned seed = 0; seed < kRounds; ++seed) {
        Choice choice(seed);
        const config::Spec spec = widened(random_spec(choice));
        const grant::Grant grant = random_grant(choice);
        CAPTURE(seed);

        const auto plan = plan::make(spec, grant, host(), 0);

        if (plan) check_within_grant(*plan, grant);
    }
}

TEST_CASE("the plan of a plan's own config.json changes nothing more") {
    for (unsigned seed = 0; seed < kRounds; ++seed) {
        Choice choice(seed);
        const config::Spec spec = random_spec(choice);
        const grant::Grant grant = random_grant(choice);
        const auto once = plan::make(spec, grant, host(), 0);
        if (!once) continue;
        CAPTURE(seed);

        const auto twice = plan::make(once->spec, grant, host(), 0);

        REQUIRE(twice);
        CHECK(twice->spec == once->spec);
    }
}

}  // namespace rung

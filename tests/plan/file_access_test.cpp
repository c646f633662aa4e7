// Landlock's rules: what each field of a grant opens, and what stays shut.
// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <algorithm>

#include "kernel/landlock.hpp"
#include "plan/make.hpp"
#include "plan/values.hpp"

namespace rung {
namespace {

namespace landlock = kernel::landlock;
using test::reading_grant;
using test::usual_spec;

constexpr uint64_t kRead = landlock::kReadFile | landlock::kReadDirectory;

kernel::HostFacts host_with(int abi) {
    kernel::HostFacts host = test::able_host();
    host.landlock_abi = abi;
    return host;
}

grant::Grant listing_grant(std::vector<std::string> tools) {
    grant::Grant grant = reading_grant();
    grant.tools = std::vector<grant::Tool>{};
    for (std::string& path : tools)
        grant.tools->push_back({.path = std::move(path)});
    return grant;
}

// What the rules allow beneath exactly this path; 0 without one.
uint64_t access_at(const plan::SandboxPlan& plan, const std::string& path) {
    uint64_t access = 0;
    for (const child::FileRule& rule : plan.files.rules) {
        if (rule.path == path) access |= rule.access;
    }
    return access;
}

}  // namespace

TEST_CASE("a readable image with all its programs is one rule, and nothing of it can be written") {
    const auto plan = plan::make(usual_spec(), reading_grant(), host_with(7), 0);

    REQUIRE(plan);
    CHECK(access_at(*plan, "/") == (kRead | landlock::kExecute));
    CHECK(plan->files.tools.empty());
}

TEST_CASE("a writable path is open for reading and writing and closed for executing") {
    grant::Grant grant = reading_grant();
    grant.filesystem->read_write = {"/work"};

    const auto plan = plan::make(usual_spec(), grant, host_with(7), 0);

    REQUIRE(plan);
    const uint64_t access = access_at(*plan, "/work");
    CHECK((access & landlock::kWriteFile) != 0);
    CHECK((access & landlock::kRemoveFile) != 0);
    CHECK((access & landlock::kExecute) == 0);
    CHECK((access & (landlock::kMakeBlockDevice | landlock::kMakeCharacterDevice)) == 0);
}

TEST_CASE("without the image only what is listed has a rule") {
    grant::Grant grant = listing_grant({"/bin/tool"});
    grant.filesystem = grant::Filesystem{.read_only = {"/data"}};

    const auto plan = plan::make(usual_spec(), grant, host_with(7), 0);

    REQUIRE(plan);
    CHECK(access_at(*plan, "/") == 0);
    CHECK(access_at(*plan, "/bin/tool") == (kRead | landlock::kExecute));
    CHECK(access_at(*plan, "/data") == landlock::kReadDirectory);
    CHECK(plan->files.tools == std::vector<std::string>{"/bin/tool"});
}

TEST_CASE("with a list of tools the image is read piece by piece, and executed nowhere else") {
    const plan::ImageFacts image{.readable = {"/etc", "/usr/lib"}, .loaders = {"/lib/loader.so"}};

    const auto plan = plan::make(usual_spec(), listing_grant({"/bin/tool"}), host_with(7), 0, image);

    REQUIRE(plan);
    CHECK(access_at(*plan, "/") == landlock::kReadDirectory);
    CHECK(access_at(*plan, "/etc") == kRead);
    CHECK(access_at(*plan, "/usr/lib") == kRead);
    CHECK(access_at(*plan, "/lib/loader.so") == (landlock::kReadFile | landlock::kExecute));
}

TEST_CASE("a path is granted where it really is, and the plan says so") {
    grant::Grant grant = reading_grant();
    grant.filesystem->read_write = {"/var/run"};
    const plan::ImageFacts image{.real_paths = {{"/var/run", "/run"}}};

    const auto plan = plan::make(usual_spec(), grant, host_with(7), 0, image);

    REQUIRE(plan);
    CHECK(access_at(*plan, "/var/run") == 0);
    CHECK((access_at(*plan, "/run") & landlock::kWriteFile) != 0);
    CHECK(test::narrowing_of(*plan, "paths[/var/run]").effective == "/run");
}

TEST_CASE("everything that the kernel's Landlock knows is handled, and nothing that it does not") {
    const auto handled = [](int abi) {
        return plan::make(usual_spec(), reading_grant(), host_with(abi), 0)->files.handled;
    };

    CHECK(handled(0) == 0);
    CHECK(handled(1) == 0x1fff);
    CHECK(handled(2) == 0x3fff);
    CHECK(handled(3) == 0x7fff);
    CHECK(handled(4) == 0x7fff);
    CHECK(handled(7) == 0xffff);
}

TEST_CASE("signals stop at the sandbox where the pid namespace is one that others use") {
    config::Spec pod = usual_spec();
    for (config::Namespace& each : pod.linux_.namespaces) {
        if (each.type == config::NamespaceType::pid) each.path = "/proc/1/ns/pid";
    }

    CHECK(plan::make(usual_spec(), reading_grant(), host_with(7), 0)->files.scoped == 0);
    CHECK(plan::make(pod, reading_grant(), host_with(7), 0)->files.scoped == landlock::kScopeSignals);
    CHECK(plan::make(pod, reading_grant(), host_with(5), 0)->files.scoped == 0);
}

TEST_CASE("what only Landlock can enforce is refused without it, by the name of the field") {
    grant::Grant closed = reading_grant();
    closed.filesystem->rootfs = grant::RootfsAccess::none;

    const auto tools = plan::make(usual_spec(), listing_grant({"/bin/sh"}), host_with(0), 0);
    const auto image = plan::make(usual_spec(), closed, host_with(0), 0);
    const auto mounts_do = plan::make(usual_spec(), reading_grant(), host_with(0), 0);

    CHECK(tools.error().message.starts_with("grant_unenforceable: tools: this kernel has no Landlock"));
    CHECK(image.error().message.starts_with(
        "grant_unenforceable: filesystem.rootfs: this kernel has no Landlock"));
    CHECK(mounts_do);
}

TEST_CASE("a volume that nothing in the grant names is left out, one that is named stays") {
    config::Spec spec = usual_spec();
    spec.mounts.push_back({"/secret", "bind", "/srv/secret", {"bind"}});
    spec.mounts.push_back({"/data", "bind", "/srv/data", {"bind"}});
    spec.mounts.push_back({"/etc/hosts", "bind", "/srv/hosts", {"bind"}});
    grant::Grant grant = reading_grant();
    grant.filesystem->read_only = {"/data/in"};

    const auto plan = plan::make(spec, grant, host_with(7), 0);

    REQUIRE(plan);
    std::vector<std::string> destinations;
    for (const config::Mount& mount : plan->spec.mounts)
        destinations.push_back(mount.destination);
    CHECK(destinations == std::vector<std::string>{"/proc", "/dev", "/sys", "/data", "/etc/hosts"});
    CHECK(test::narrowing_of(*plan, "mounts[/secret]").effective == "left out");
}

TEST_CASE("with a list of tools a mount of the engine holds no programs unless all of it is listed") {
    config::Spec spec = usual_spec();
    spec.mounts.push_back({"/opt/tools", "bind", "/srv/tools", {"bind", "ro"}});
    spec.mounts.push_back({"/data", "bind", "/srv/data", {"bind", "ro"}});
    grant::Grant whole = listing_grant({"/opt/tools"});
    whole.filesystem->read_only = {"/data"};

    const auto plan = plan::make(spec, whole, host_with(7), 0);
    const auto piece = plan::make(spec, listing_grant({"/opt/tools/one"}), host_with(7), 0);

    REQUIRE(plan);
    const auto noexec = [&](size_t index) {
        const auto& options = plan->spec.mounts[index].options;
        return std::find(options.begin(), options.end(), "noexec") != options.end();
    };
    CHECK_FALSE(noexec(3));
    CHECK(noexec(4));
    CHECK(piece.error().message.starts_with(
        "grant_unenforceable: tools: /opt/tools/one lies inside the mount"));
}

}  // namespace rung

// The container's tree under a grant: what stays writable, what is scratch, what is hidden.
// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <algorithm>

#include "plan/make.hpp"
#include "plan/mount_kind.hpp"
#include "plan/values.hpp"

namespace rung {
namespace {

using test::able_host;
using test::narrowing_of;
using test::reading_grant;
using test::usual_spec;
using Words = std::vector<std::string>;

plan::SandboxPlan met(const std::vector<config::Mount>& mounts, const grant::Filesystem& filesystem) {
    config::Spec spec = usual_spec();
    spec.mounts.insert(spec.mounts.end(), mounts.begin(), mounts.end());
    grant::Grant grant = reading_grant();
    grant.filesystem = filesystem;
    grant.filesystem->rootfs = grant::RootfsAccess::read_only;
    const auto plan = plan::make(spec, grant, able_host(), 0);
    REQUIRE_MESSAGE(plan, plan.error().message);
    return *plan;
}

Words options_at(const plan::SandboxPlan& plan, const std::string& destination) {
    for (const config::Mount& mount : plan.spec.mounts) {
        if (mount.destination == destination) return mount.options;
    }
    return {"no such mount"};
}

bool contains(const Words& words, const std::string& word) {
    return std::find(words.begin(), words.end(), word) != words.end();
}

}  // namespace

TEST_CASE("the root becomes read-only") {
    const auto plan = met({}, {});

    CHECK(plan.spec.root.read_only);
    CHECK(narrowing_of(plan, "root.readonly").layer == "grant");
}

TEST_CASE("a mount that no readWrite path covers becomes read-only with its submounts") {
    const auto plan =
        met({{"/data", "bind", "/srv/data", {"rbind", "rw"}}, {"/workshop", "bind", "/srv/w", {"bind"}}},
            {.read_only = {"/data", "/workshop"}, .read_write = {"/work"}});

    CHECK(options_at(plan, "/data") == Words{"rbind", "rro"});
    CHECK(options_at(plan, "/workshop") == Words{"bind", "ro"});
    CHECK(narrowing_of(plan, "mounts[/data]").reason == "no filesystem.readWrite path covers it");
}

TEST_CASE("a recursive bind that is read-only only at its top is closed beneath as well") {
    CHECK(options_at(met({{"/data", "bind", "/srv/data", {"rbind", "ro"}}}, {.read_only = {"/data"}}),
                     "/data") == Words{"rbind", "rro"});
}

TEST_CASE("a mount at or under a readWrite path stays as writable as config.json made it, and harmless") {
    const auto plan = met({{"/work", "bind", "/srv/a", {"rbind"}},
                           {"/work/cache", "tmpfs", "tmpfs", {"exec"}},
                           {"/work/in", "bind", "/srv/b", {"bind", "ro"}}},
                          {.read_write = {"/work"}});

    CHECK(options_at(plan, "/work") == Words{"rbind", "rnosuid", "rnoexec", "rnodev"});
    CHECK(options_at(plan, "/work/cache") == Words{"nosuid", "noexec", "nodev"});
    CHECK(options_at(plan, "/work/in") == Words{"bind", "ro"});
    CHECK(plan.slices.empty());
}

TEST_CASE("a readWrite path inside the image is a writable piece of it") {
    const auto plan = met({}, {.read_write = {"/home/build", "/home/build/deep"}});

    CHECK(plan.slices == std::vector<plan::Slice>{{.path = "/home/build"}});
}

TEST_CASE("a root that config.json made read-only stays so") {
    config::Spec spec = usual_spec();
    spec.root.read_only = true;
    grant::Grant grant = reading_grant();
    grant.filesystem->read_write = {"/home"};

    const auto plan = plan::make(spec, grant, able_host(), 0);

    REQUIRE(plan);
    CHECK(plan->slices.empty());
    CHECK(narrowing_of(*plan, "filesystem.readWrite[/home]").layer == "oci");
}

TEST_CASE("a readWrite path beneath a mount is a piece of that mount, which itself is read-only") {
    const auto plan = met({{"/data", "bind", "/srv/data", {"rbind"}}}, {.read_write = {"/data/out"}});

    CHECK(plan.slices == std::vector<plan::Slice>{{.path = "/data/out", .mount = "/data"}});
    CHECK(contains(options_at(plan, "/data"), "rro"));
}

TEST_CASE("a piece of a mount that config.json made read-only stays read-only") {
    const auto plan = met({{"/data", "bind", "/srv/data", {"rbind", "rro"}}}, {.read_write = {"/data/out"}});

    CHECK(plan.slices.empty());
    CHECK(narrowing_of(plan, "filesystem.readWrite[/data/out]").effective == "read-only");
}

TEST_CASE("readOnly inside readWrite is read-only, readWrite inside readOnly is writable") {
    const auto plan =
        met({{"/work", "bind", "/srv/work", {"rbind"}},
             {"/work/keep", "bind", "/srv/keep", {"bind"}},
             {"/in/out", "bind", "/srv/out", {"bind"}}},
            {.read_only = {"/work/keep", "/work/.git", "/in"}, .read_write = {"/work", "/in/out"}});

    CHECK(contains(options_at(plan, "/work/keep"), "ro"));
    CHECK_FALSE(contains(options_at(plan, "/in/out"), "ro"));
    CHECK(contains(plan.spec.linux_.readonly_paths, "/work/.git"));
}

TEST_CASE("what is writable under one name is not executable under another") {
    const auto plan = met({{"/work", "bind", "/srv/task/work", {"rbind"}},
                           {"/all", "bind", "/srv/task", {"rbind", "rro"}},
                           {"/tools", "bind", "/opt/tools", {"rbind", "rro"}}},
                          {.read_only = {"/all", "/tools"}, .read_write = {"/work"}});

    CHECK(contains(options_at(plan, "/all"), "rnoexec"));
    CHECK(options_at(plan, "/tools") == Words{"rbind", "rro"});
}

TEST_CASE("the kernel's own mounts are closed whatever the grant says") {
    const auto plan = met({{"/dev/pts", "devpts", "devpts", {"newinstance"}},
                           {"/dev/shm", "tmpfs", "shm", {}},
                           {"/sys/fs/cgroup", "cgroup", "cgroup", {"rw"}},
                           {"/other/proc", "proc", "proc", {}}},
                          {.read_write = {"/sys", "/proc", "/dev"}});

    CHECK_FALSE(contains(options_at(plan, "/proc"), "ro"));
    CHECK(contains(options_at(plan, "/dev"), "ro"));
    CHECK(contains(options_at(plan, "/dev"), "noexec"));
    CHECK_FALSE(contains(options_at(plan, "/dev"), "nodev"));
    CHECK(options_at(plan, "/dev/pts") == Words{"newinstance", "nosuid", "noexec"});
    CHECK(options_at(plan, "/sys/fs/cgroup") == Words{"nosuid", "noexec", "nodev", "ro"});
    CHECK(contains(options_at(plan, "/other/proc"), "ro"));
    CHECK_FALSE(contains(options_at(plan, "/dev/shm"), "ro"));
}

TEST_CASE("shared memory is read-only unless the grant covers it") {
    const std::vector<config::Mount> shm = {{"/dev/shm", "tmpfs", "shm", {"size=64m"}}};

    CHECK(contains(options_at(met(shm, {}), "/dev/shm"), "ro"));
    CHECK(options_at(met(shm, {.tmpfs = {{"/dev/shm", 1 << 20}}}), "/dev/shm") ==
          Words{"nosuid", "nodev", "noexec", "mode=1777", "size=1048576"});
}

TEST_CASE(
    "scratch replaces the engine's mount, is never larger than it, and stays beneath what lies inside") {
    const auto plan =
        met({{"/tmp", "tmpfs", "tmpfs", {"size=64k"}}, {"/run/in", "bind", "/srv/in", {"bind", "ro"}}},
            {.tmpfs = {{"/tmp", 1 << 20}, {"/run", 4096}}});

    CHECK(contains(options_at(plan, "/tmp"), "size=65536"));
    const auto& mounts = plan.spec.mounts;
    const auto position = [&](const std::string& path) {
        return std::find_if(mounts.begin(), mounts.end(),
                            [&](const auto& each) { return each.destination == path; });
    };
    CHECK(position("/run") < position("/run/in"));
    CHECK(std::count_if(mounts.begin(), mounts.end(),
                        [](const auto& each) { return each.destination == "/tmp"; }) == 1);
}

TEST_CASE("a readWrite path inside scratch is scratch, one inside a mount on top of it is not") {
    const auto plan =
        met({{"/run/in", "bind", "/srv/in", {"bind"}}},
            {.read_write = {"/tmp/a", "/run/in/out"}, .tmpfs = {{"/tmp", 4096}, {"/run", 4096}}});

    CHECK(plan.slices == std::vector<plan::Slice>{{.path = "/run/in/out", .mount = "/run/in"}});
}

TEST_CASE("hidden paths and the kernel's internals are masked") {
    const auto plan = met({}, {.hidden = {"/work/secret"}});

    CHECK(contains(plan.spec.linux_.masked_paths, "/work/secret"));
    CHECK(contains(plan.spec.linux_.masked_paths, "/proc/kcore"));
    CHECK(contains(plan.spec.linux_.readonly_paths, "/proc/sys"));
}

TEST_CASE("what leads through a writable place to something protected is pinned, and nothing else") {
    const auto plan = met({{"/work", "bind", "/srv/work", {"rbind"}}},
                          {.read_only = {"/work/a/b/keep", "/in"},
                           .read_write = {"/work", "/work/a/b/keep/out"},
                           .hidden = {"/work/a/key", "/work/a/b/keep/x/y", "/etc/key"}});

    CHECK(plan.pinned == Words{"/work/a", "/work/a/b", "/work/a/b/keep", "/work/a/key"});
    CHECK(met({}, {.read_only = {"/in"}, .hidden = {"/etc/key"}}).pinned.empty());
}

TEST_CASE("mounts made later reach neither side") {
    const auto plan =
        met({{"/data", "bind", "/srv/data", {"rbind", "rro", "rshared"}}}, {.read_only = {"/data"}});

    CHECK(options_at(plan, "/data") == Words{"rbind", "rro", "rprivate"});
    CHECK(plan.spec.linux_.rootfs_propagation == "rprivate");
}

TEST_CASE("paths that a grant cannot mean are refused") {
    const auto reason = [](const grant::Filesystem& filesystem) {
        grant::Grant grant = reading_grant();
        grant.filesystem = filesystem;
        grant.filesystem->rootfs = grant::RootfsAccess::read_only;
        config::Spec spec = usual_spec();
        spec.mounts.push_back({"/run", "tmpfs", "tmpfs", {}});
        const auto plan = plan::make(spec, grant, able_host(), 0);
        return plan ? "" : plan.error().reason;
    };

    CHECK(reason({.read_write = {"/"}}) == "path_reserved");
    CHECK(reason({.tmpfs = {{"/proc", 4096}}}) == "path_reserved");
    CHECK(reason({.hidden = {"/work"}, .tmpfs = {{"/work/tmp", 4096}}}) == "grant_conflict");
    CHECK(reason({.read_write = {"/run/app"}}) == "grant_unenforceable");
}

}  // namespace rung

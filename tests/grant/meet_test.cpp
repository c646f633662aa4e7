// What two layers that are written down here allow together.
// SPDX-License-Identifier: Apache-2.0
#include "grant/meet.hpp"

#include <doctest/doctest.h>

namespace rung::grant {

namespace {

Grant with(Filesystem filesystem) {
    return Grant{.filesystem = std::move(filesystem)};
}
Grant with(std::vector<Tool> tools) {
    return Grant{.tools = std::move(tools)};
}
Grant with(std::vector<EgressRule> rules) {
    return Grant{.network = Network{.egress = std::move(rules)}};
}

}  // namespace

TEST_CASE("a readable image and a list of readable paths leave the list") {
    const Grant image = with(Filesystem{.rootfs = RootfsAccess::read_only});
    const Grant paths = with(Filesystem{.read_only = {"/usr"}});

    CHECK(meet(image, paths).filesystem == Filesystem{.read_only = {"/usr"}});
}

TEST_CASE("a writable path that the other layer only lets be read becomes readable") {
    const Grant writable = with(Filesystem{.read_write = {"/work"}});

    CHECK(meet(writable, with(Filesystem{.rootfs = RootfsAccess::read_only})).filesystem ==
          Filesystem{.read_only = {"/work"}});
    CHECK(meet(writable, with(Filesystem{.read_only = {"/work"}})).filesystem ==
          Filesystem{.read_only = {"/work"}});
    CHECK(meet(writable, with(Filesystem{.read_only = {"/work/in"}})).filesystem ==
          Filesystem{.read_only = {"/work/in"}});
}

TEST_CASE("the deeper path wins, and a longer name is not a deeper path") {
    const Grant outer = with(Filesystem{.read_write = {"/work"}});
    const Grant inner = with(Filesystem{.read_write = {"/work/out", "/workshop"}});

    CHECK(meet(outer, inner).filesystem == Filesystem{.read_write = {"/work/out"}});
}

TEST_CASE("a read-only piece of a writable place stays read-only") {
    const Grant pieces =
        with(Filesystem{.read_only = {"/work/in", "/work/in/a"}, .read_write = {"/work", "/work/in/a/b"}});

    CHECK(normalized(pieces).filesystem ==
          Filesystem{.read_only = {"/work/in"}, .read_write = {"/work", "/work/in/a/b"}});
    CHECK(meet(pieces, with(Filesystem{.read_write = {"/work"}})).filesystem ==
          normalized(pieces).filesystem);
}

TEST_CASE("hidden paths are united") {
    const Grant one = with(Filesystem{.hidden = {"/work/.git", "/etc"}});
    const Grant other = with(Filesystem{.hidden = {"/etc/shadow", "/root"}});

    CHECK(meet(one, other).filesystem->hidden == std::vector<std::string>{"/etc", "/root", "/work/.git"});
}

TEST_CASE("scratch needs both layers and has the smaller size") {
    const Grant large = with(Filesystem{.tmpfs = {{"/tmp", 100}, {"/scratch", 100}}});
    const Grant small = with(Filesystem{.tmpfs = {{"/tmp", 10}}});

    CHECK(meet(large, small).filesystem->tmpfs == std::vector<Tmpfs>{{"/tmp", 10}});
}

TEST_CASE("scratch is accepted where the other layer lets be written anyway, not where it lets be read") {
    const Grant scratch = with(Filesystem{.tmpfs = {{"/tmp", 100}}});

    CHECK(meet(scratch, with(Filesystem{.read_write = {"/tmp"}})).filesystem ==
          Filesystem{.tmpfs = {{"/tmp", 100}}});
    CHECK(meet(scratch, with(Filesystem{.read_only = {"/tmp/x"}, .read_write = {"/tmp"}})).filesystem ==
          Filesystem{});
    CHECK(meet(scratch, with(Filesystem{.rootfs = RootfsAccess::read_only})).filesystem == Filesystem{});
}

TEST_CASE("what is absent on one side stays absent, what is empty stays empty") {
    const Grant full{.filesystem = Filesystem{.rootfs = RootfsAccess::read_only},
                     .tools = std::vector<Tool>{{"/usr/bin"}},
                     .network = Network{.ingress_ports = {80}},
                     .capabilities = 1,
                     .devices = std::vector<std::string>{"vendor.com/gpu=0"}};
    const Grant empty{.filesystem = Filesystem{},
                      .tools = std::vector<Tool>{},
                      .network = Network{},
                      .capabilities = 0,
                      .devices = std::vector<std::string>{}};

    CHECK(meet(full, Grant{}) == normalized(Grant{}));
    CHECK(meet(full, empty) == normalized(empty));
    CHECK(meet(empty, Grant{}) == normalized(Grant{}));
}

TEST_CASE("tools meet by hierarchy") {
    const Grant directories = with(std::vector<Tool>{{"/usr/bin"}, {"/opt"}});
    const Grant programs = with(std::vector<Tool>{{"/usr/bin/git"}, {"/bin/sh"}});

    CHECK(meet(directories, programs).tools == std::vector<Tool>{{"/usr/bin/git"}});
}

TEST_CASE("a digest on either side restricts its program") {
    const std::string digest(64, 'a');
    const Grant pinned = with(std::vector<Tool>{{"/usr/bin/git", digest}});

    CHECK(meet(pinned, with(std::vector<Tool>{{"/usr/bin/git"}})).tools ==
          std::vector<Tool>{{"/usr/bin/git", digest}});
    CHECK(meet(pinned, with(std::vector<Tool>{{"/usr/bin"}})).tools ==
          std::vector<Tool>{{"/usr/bin/git", digest}});
    CHECK(meet(pinned, with(std::vector<Tool>{{"/usr/bin/git", std::string(64, 'b')}})).tools ==
          std::vector<Tool>{});
}

TEST_CASE("hosts meet in the narrower pattern, with the ports of both") {
    const Grant wide = with(std::vector<EgressRule>{{.host = "**.example.com", .ports = {{1, 1000}}}});
    const Grant narrow =
        with(std::vector<EgressRule>{{.host = "*.example.com", .ports = {{443, 443}, {5432, 5432}}},
                                     {.host = "example.com", .ports = {{443, 443}}},
                                     {.host = "a.b.example.com", .ports = {{80, 80}}}});

    CHECK(meet(wide, narrow).network->egress ==
          std::vector<EgressRule>{{.host = "*.example.com", .ports = {{443, 443}}},
                                  {.host = "a.b.example.com", .ports = {{80, 80}}}});
}

TEST_CASE("address ranges meet in the narrower one, with the holes of both") {
    const Grant wide =
        with(std::vector<EgressRule>{{.cidr = "203.0.113.0/24", .except = {"203.0.113.0/28"}}});
    const Grant narrow =
        with(std::vector<EgressRule>{{.cidr = "203.0.113.0/25", .except = {"203.0.113.64/28"}}});

    CHECK(
        meet(wide, narrow).network->egress ==
        std::vector<EgressRule>{{.cidr = "203.0.113.0/25", .except = {"203.0.113.0/28", "203.0.113.64/28"}}});
    CHECK(meet(wide, with(std::vector<EgressRule>{{.cidr = "203.0.113.0/29"}})).network == Network{});
    CHECK(meet(wide, with(std::vector<EgressRule>{{.host = "example.com"}})).network == Network{});
}

TEST_CASE("private ranges and HTTP restrictions are those of both") {
    const Grant one = with(std::vector<EgressRule>{{.host = "example.com",
                                                    .allow_private = {"10.0.0.0/8"},
                                                    .http = {{.methods = {"ANY"}, .path = "/a"}}}});
    const Grant other = with(std::vector<EgressRule>{{.host = "example.com",
                                                      .allow_private = {"10.20.0.0/16", "192.168.0.0/16"},
                                                      .http = {{.methods = {"PUT", "GET"}, .path = "/a"}}}});

    CHECK(meet(one, other).network->egress ==
          std::vector<EgressRule>{{.host = "example.com",
                                   .allow_private = {"10.20.0.0/16"},
                                   .http = {{.methods = {"GET", "PUT"}, .path = "/a"}}}});
}

TEST_CASE("of every limit and budget the lower holds, and a layer that says nothing does not lift one") {
    const Grant one{.limits = {.memory = 100, .pids = 5},
                    .budgets = Budgets{.max_ops = 10, .counted_ops = {"exec"}}};
    const Grant other{.limits = {.memory = 50, .open_files = 64},
                      .budgets = Budgets{.max_ops = 20, .counted_ops = {"session"}, .max_output_bytes = 7}};

    const Grant met = meet(one, other);

    CHECK(met.limits == Limits{.memory = 50, .pids = 5, .open_files = 64});
    CHECK(met.budgets == Budgets{.max_ops = 10, .counted_ops = {"exec", "session"}, .max_output_bytes = 7});
    CHECK(meet(one, Grant{}).budgets == one.budgets);
}

TEST_CASE("conditions meet in the stricter one") {
    const Grant one{.metadata = {.not_before = 10, .expires_at = 90},
                    .termination_grace_seconds = 5,
                    .isolation = Isolation::gvisor,
                    .audit_level = AuditLevel::denials,
                    .audit_feedback = true,
                    .seccomp_profiles = {"strict"}};
    const Grant other{.metadata = {.not_before = 20, .expires_at = 100},
                      .termination_grace_seconds = 3,
                      .audit_level = AuditLevel::decisions,
                      .audit_feedback = false};

    const Grant met = meet(one, other);

    CHECK(met.metadata == Metadata{.not_before = 20, .expires_at = 90});
    CHECK(met.termination_grace_seconds == 3);
    CHECK(met.isolation == Isolation::gvisor);
    CHECK(met.audit_level == AuditLevel::decisions);
    CHECK(met.audit_feedback == false);
    CHECK(met.seccomp_profiles == std::vector<std::string>{"default", "strict"});
}

}  // namespace rung::grant

// Several layers met, with who took what from whom.
// SPDX-License-Identifier: Apache-2.0
#include "grant/layers.hpp"

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "grant/parse.hpp"

namespace rung::grant {

namespace {

Grant grant_of(const std::string& fields) {
    const auto grant = parse_grant("grantVersion: \"1\"\n" + fields);
    REQUIRE(grant);
    return *grant;
}

std::vector<std::string> lost(const std::string& asked, const std::string& other) {
    std::vector<std::string> lines;
    for (const Narrowed& loss : losses(grant_of(asked), grant_of(other)))
        lines.push_back(loss.field + ": " + loss.asked + " -> " + loss.effective);
    return lines;
}

using Lines = std::vector<std::string>;

}  // namespace

TEST_CASE("without any layer there is no grant") {
    const auto effective = meet_layers({});

    REQUIRE(effective);
    CHECK_FALSE(effective->grant.has_value());
}

TEST_CASE("a ceiling alone grants nothing") {
    const auto effective = meet_layers({.ceiling = Layer{.name = "c", .grant = grant_of("tools: [/]")}});

    REQUIRE(effective);
    CHECK_FALSE(effective->grant.has_value());
}

TEST_CASE("each loss names who asked and who denied, whatever the order") {
    const Layer wide{.name = "wide", .grant = grant_of("tools: [/usr/bin]\nlimits: {pids: 50}")};
    const Layer narrow{.name = "narrow", .grant = grant_of("tools: [/usr/bin/git]\nlimits: {pids: 90}")};
    const Narrowed tools{.field = "tools",
                         .asked = "/usr/bin",
                         .effective = "/usr/bin/git",
                         .asked_by = "wide",
                         .denied_by = "narrow"};
    const Narrowed pids{
        .field = "limits.pids", .asked = "90", .effective = "50", .asked_by = "narrow", .denied_by = "wide"};

    const auto one = meet_layers({.grants = {wide, narrow}});
    const auto other = meet_layers({.grants = {narrow, wide}});

    REQUIRE((one && other));
    CHECK(one->grant == other->grant);
    CHECK(one->narrowed == std::vector<Narrowed>{tools, pids});
    CHECK(other->narrowed == std::vector<Narrowed>{pids, tools});
}

TEST_CASE(
    "what the ceiling lowers is recorded as the ceiling's, and what it adds to an open field is no loss") {
    const auto effective = meet_layers(
        {.grants = {{.name = "g", .grant = grant_of("tools: [/]\nlimits: {pids: 100}")}},
         .ceiling = Layer{.name = "c", .grant = grant_of("tools: [/]\nlimits: {pids: 10, cpu: 1}")}});

    REQUIRE(effective);
    CHECK(effective->grant->limits.pids == 10);
    CHECK(effective->grant->limits.cpu_milli == 1000);
    REQUIRE(effective->narrowed.size() == 1);
    CHECK(effective->narrowed[0].field == "limits.pids");
    CHECK(effective->narrowed[0].by_ceiling);
    CHECK(effective->without_ceiling->limits.pids == 100);
}

TEST_CASE("a ceiling that rejects names every field that is too much") {
    const auto effective = meet_layers(
        {.grants = {{.name = "g",
                     .grant = grant_of("filesystem: {rootfs: readOnly, readWrite: [/work, /etc]}\n"
                                       "capabilities: [CAP_KILL, CAP_SYS_ADMIN]\nlimits: {memory: 2Gi}")}},
         .ceiling = Layer{.name = "/etc/rung/ceiling.yaml rule 1",
                          .grant = grant_of("filesystem: {rootfs: readOnly, readWrite: [/work]}\n"
                                            "capabilities: [CAP_KILL]\nlimits: {memory: 1Gi}")},
         .on_exceed = OnExceed::reject});

    REQUIRE_FALSE(effective);
    CHECK(effective.error().reason == "exceeds_ceiling");
    CHECK(effective.error().message ==
          "exceeds_ceiling: filesystem.readWrite, capabilities, limits.memory: more is asked for than "
          "/etc/rung/ceiling.yaml rule 1 allows");
}

TEST_CASE("a ceiling that rejects accepts what it allows") {
    const std::string fields =
        "filesystem: {rootfs: readOnly, readWrite: [/work/a]}\ntools: [/usr/bin/git]\n"
        "network: {egress: [{host: a.example.com}]}\n";
    const std::string ceiling =
        "filesystem: {rootfs: readOnly, readWrite: [/work], hidden: [/root]}\n"
        "tools: [/usr/bin]\nnetwork: {egress: [{host: \"*.example.com\"}]}\n"
        "limits: {pids: 5}\nbudgets: {maxOps: 9}\n";

    CHECK(lost(fields, ceiling) == Lines{"filesystem.hidden: none -> /root"});
    CHECK(lost("filesystem: {readWrite: [/work/a]}\n", "filesystem: {readWrite: [/work], hidden: [/root]}\n")
              .empty());
}

TEST_CASE("every field that is lowered or shortened is a loss") {
    CHECK(lost("filesystem: {rootfs: readOnly, readOnly: [/a], tmpfs: [{path: /tmp, size: 2Mi}]}",
               "filesystem: {readOnly: [/b], tmpfs: [{path: /tmp, size: 1Mi}]}") ==
          Lines{"filesystem.rootfs: readOnly -> none", "filesystem.readOnly: /a -> /b",
                "filesystem.tmpfs: /tmp of 2Mi -> /tmp of 1Mi"});
    CHECK(lost("network: {egress: [{host: a.example.com, ports: [80, 443]}], ingress: [{port: 80}]}",
               "network: {egress: [{host: a.example.com}]}") ==
          Lines{R"(network.egress: {"host":"a.example.com","ports":[80,443]} -> )"
                R"({"host":"a.example.com","ports":[443]})",
                "network.ingress: 80 -> none"});
    CHECK(lost("limits: {cpu: 2, openFiles: 90, ephemeralStorage: 2Gi}",
               "limits: {cpu: 500m, openFiles: 80, ephemeralStorage: 1Gi}") ==
          Lines{"limits.cpu: 2000m -> 500m", "limits.openFiles: 90 -> 80",
                "limits.ephemeralStorage: 2Gi -> 1Gi"});
    CHECK(lost("budgets: {activeDeadlineSeconds: 9, maxOps: 9, countedOps: [exec], maxOutputBytes: 9, "
               "maxEgressBytes: 9}",
               "budgets: {activeDeadlineSeconds: 8, maxOps: 8, maxOutputBytes: 8, maxEgressBytes: 8}") ==
          Lines{"budgets.activeDeadlineSeconds: 9 -> 8", "budgets.maxOps: 9 -> 8",
                "budgets.countedOps: exec -> connect, exec, session", "budgets.maxOutputBytes: 9 -> 8",
                "budgets.maxEgressBytes: 9 -> 8"});
    CHECK(lost("metadata: {expiresAt: \"2027-01-01T00:00:00Z\"}",
               "metadata: {expiresAt: \"2026-01-01T00:00:00Z\"}") ==
          Lines{"metadata.expiresAt: 2027-01-01T00:00:00Z -> 2026-01-01T00:00:00Z"});
    CHECK(lost("seccomp: {profile: python}\nterminationGracePeriodSeconds: 9\naudit: {feedback: true}",
               "seccomp: {profile: strict}\nterminationGracePeriodSeconds: 8\naudit: {feedback: false}") ==
          Lines{"terminationGracePeriodSeconds: 9 -> 8", "audit.feedback: true -> false",
                "seccomp.profile: python -> python, strict"});
    CHECK(
        lost("devices: [vendor.com/gpu=0]\nsecrets: [{name: a, hosts: [b.example.com]}]", "tools: []") ==
        Lines{"devices: vendor.com/gpu=0 -> none", "secrets: a in Authorization for b.example.com -> none"});
}

TEST_CASE("a stricter condition where nothing was asked for is no loss") {
    CHECK(lost("tools: [/]",
               "tools: [/]\nisolation: {minimum: gvisor}\naudit: {level: decisions}\n"
               "seccomp: {profile: strict}\nlimits: {pids: 1}")
              .empty());
}

TEST_CASE("a grant is within a wider one, whatever they are called, and not without its limits") {
    const Grant wide = grant_of("metadata: {name: b}\ntools: [/usr]\nlimits: {pids: 9}");

    CHECK(is_within(grant_of("metadata: {name: a}\ntools: [/usr/bin]\nlimits: {pids: 9}"), wide));
    CHECK(is_within(wide, wide));
    CHECK_FALSE(is_within(grant_of("tools: [/usr/bin]"), wide));
    CHECK_FALSE(is_within(grant_of("tools: [/bin]\nlimits: {pids: 1}"), wide));
    CHECK_FALSE(is_within(grant_of("tools: [/usr]\nlimits: {pids: 10}"), wide));
}

}  // namespace rung::grant

// The canonical text and the digest of a grant.
// SPDX-License-Identifier: Apache-2.0
#include "grant/canonical.hpp"

#include <doctest/doctest.h>

#include <string>

#include "base/sha256.hpp"
#include "grant/meet.hpp"
#include "grant/parse.hpp"

namespace rung::grant {

namespace {

std::string canonical(std::string_view text) {
    const auto grant = parse_grant(text);
    REQUIRE(grant);
    return canonical_json(*grant);
}

}  // namespace

TEST_CASE("the digest of nothing and of three letters is what the standard says") {
    CHECK(sha256_hex("") == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
    CHECK(sha256_hex("abc") == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
}

TEST_CASE("a grant has one canonical text, however it is written") {
    const std::string yaml = canonical(
        "grantVersion: \"1\"\n"
        "limits: {memory: 65536Ki, cpu: 0.5, pids: 8}\n"
        "tools: [/usr/bin, /bin/sh, /bin]\n"
        "metadata: {expiresAt: \"2027-01-01T01:00:00+01:00\", name: a}\n");
    const std::string json = canonical(R"({"metadata": {"name": "a", "expiresAt": "2027-01-01T00:00:00.25Z"},
        "tools": ["/bin", "/usr/bin"], "limits": {"pids": 8, "cpu": "500m", "memory": "64Mi"},
        "grantVersion": "1"})");

    CHECK(yaml == json);
    CHECK(yaml ==
          R"({"grantVersion":"1","limits":{"cpu":"500m","memory":"64Mi","pids":8},)"
          R"("metadata":{"expiresAt":"2027-01-01T00:00:00Z","name":"a"},"tools":["/bin","/usr/bin"]})");
}

TEST_CASE("what grants something else has another digest") {
    const auto one = parse_grant(R"({"grantVersion":"1","tools":["/bin"]})");
    const auto other = parse_grant(R"({"grantVersion":"1","tools":["/bin/sh"]})");
    const auto empty = parse_grant(R"({"grantVersion":"1"})");
    REQUIRE((one && other && empty));

    CHECK(digest(*one) != digest(*other));
    CHECK(digest(*empty) == "sha256:" + sha256_hex(R"({"grantVersion":"1"})"));
}

TEST_CASE("the canonical text is a grant, the same one") {
    const auto grant = parse_grant(
        "grantVersion: \"1\"\n"
        "metadata: {taskId: t/1, subject: s, notBefore: \"2026-01-01T00:00:00Z\", labels: {a: "
        "\"ä\\\"\\u0001\"}}\n"
        "filesystem: {rootfs: readOnly, readOnly: [/in], readWrite: [/out], hidden: [/in/x],\n"
        "  tmpfs: [{path: /tmp, size: 1k}]}\n"
        "tools: [{path: /bin/sh, sha256: " +
        std::string(64, 'a') +
        "}]\n"
        "network:\n"
        "  egress:\n"
        "    - {host: \"*.example.com\", ports: [80, {port: 1000, endPort: 2000}], http: [{methods: [GET], "
        "path: /}]}\n"
        "    - {cidr: 10.0.0.0/8, except: [10.1.0.0/16], allowPrivate: [10.0.0.0/8], ports: [1]}\n"
        "  ingress: [{port: 80}]\n"
        "capabilities: [CAP_KILL, CAP_CHOWN]\n"
        "devices: [vendor.com/gpu=0]\n"
        "secrets: [{name: a, hosts: [b.example.com]}]\n"
        "limits: {memory: 9000000000000001k, cpu: 1, openFiles: 100, ephemeralStorage: 1Ti}\n"
        "budgets: {activeDeadlineSeconds: 1, maxOps: 2, maxOutputBytes: 3, maxEgressBytes: 4M}\n"
        "terminationGracePeriodSeconds: 0\n"
        "isolation: {minimum: gvisor}\n"
        "audit: {level: decisions, feedback: false}\n"
        "seccomp: {profile: [strict, python]}\n");
    REQUIRE(grant);

    const auto again = parse_grant(canonical_json(*grant));

    REQUIRE(again);
    CHECK(normalized(*again) == normalized(*grant));
    CHECK(digest(*again) == digest(*grant));
}

TEST_CASE("a rule with many ports becomes several that a grant may hold") {
    std::string rules;
    for (int port = 1; port <= 40; port += 2)
        rules += "  - {host: a.example.com, ports: [" + std::to_string(port) + "]}\n";
    const auto grant = parse_grant("grantVersion: \"1\"\nnetwork:\n  egress:\n" + rules);
    REQUIRE(grant);

    const auto again = parse_grant(canonical_json(*grant));

    REQUIRE(again);
    CHECK(again->network->egress.size() == 2);
    CHECK(normalized(*again) == normalized(*grant));
}

}  // namespace rung::grant

// The ceiling's text, which rule is whose, and what of a rule holds.
// SPDX-License-Identifier: Apache-2.0
#include "grant/ceiling.hpp"

#include <doctest/doctest.h>

#include <string>

namespace rung::grant {

namespace {

std::string reason_of(std::string_view text) {
    const auto ceiling = parse_ceiling(text);
    return ceiling ? "accepted" : ceiling.error().reason;
}

std::string reason_with(std::string_view line) {
    return reason_of("ceilingVersion: \"1\"\nrules: [{ceiling: {grantVersion: \"1\"}}]\n" +
                     std::string{line} + "\n");
}

}  // namespace

TEST_CASE("a ceiling is read with every field") {
    const auto ceiling = parse_ceiling(
        "ceilingVersion: \"1\"\n"
        "defaultGrant: fallback\n"
        "onExceed: reject\n"
        "trust: {runtimeArgs: narrowing, dropbox: ignore, bundle: granting, annotation: signed,\n"
        "  environment: narrowing, keys: [k1]}\n"
        "requirements: {landlock: ifAvailable, landlockAbi: 3}\n"
        "blockedRanges: [203.0.113.0/24]\n"
        "rules:\n"
        "  - match: {namespaces: [\"tenant-*\"], handlers: [rung], uids: [0, 1000]}\n"
        "    ceiling: {grantVersion: \"1\", tools: [/usr/bin]}\n"
        "  - ceiling: {grantVersion: \"1\"}\n");

    REQUIRE(ceiling);
    CHECK(ceiling->default_grant == "fallback");
    CHECK(ceiling->on_exceed == OnExceed::reject);
    CHECK(ceiling->trust == TrustTable{.annotation = Trust::only_signed,
                                       .runtime_args = Trust::narrowing,
                                       .dropbox = Trust::ignored,
                                       .environment = Trust::narrowing,
                                       .keys = {"k1"}});
    CHECK(ceiling->requirements == Requirements{.landlock = false, .landlock_abi = 3});
    REQUIRE(ceiling->blocked_ranges.size() == 1);
    CHECK(cidr_text(ceiling->blocked_ranges[0]) == "203.0.113.0/24");
    REQUIRE(ceiling->rules.size() == 2);
    CHECK(ceiling->rules[0].match.uids == std::vector<uint64_t>{0, 1000});
    CHECK(ceiling->rules[0].ceiling.tools == std::vector<Tool>{{.path = "/usr/bin"}});
    CHECK(ceiling->rules[1].match == Match{});
}

TEST_CASE("what a ceiling does not say is the strict choice") {
    const auto ceiling =
        parse_ceiling(R"({"ceilingVersion":"1","rules":[{"ceiling":{"grantVersion":"1"}}]})");

    REQUIRE(ceiling);
    CHECK_FALSE(ceiling->default_grant.has_value());
    CHECK(ceiling->on_exceed == OnExceed::narrow);
    CHECK(ceiling->trust.environment == Trust::ignored);
    CHECK(ceiling->requirements.landlock);
}

TEST_CASE("a ceiling is as strict as a grant") {
    CHECK(reason_of("rules: []") == "grant_parse_error");
    CHECK(reason_of("ceilingVersion: \"2\"\nrules: []") == "grant_version_unsupported");
    CHECK(reason_of("ceilingVersion: \"1\"\n") == "grant_parse_error");
    CHECK(reason_of("ceilingVersion: \"1\"\nrules: []") == "grant_parse_error");
    CHECK(reason_of("ceilingVersion: \"1\"\nrules: [{match: {}}]") == "grant_parse_error");
    CHECK(reason_of("ceilingVersion: \"1\"\nrules: [{ceiling: {}}]") == "grant_parse_error");
    CHECK(reason_of("ceilingVersion: \"1\"\nrules: [{ceiling: {grantVersion: \"1\"}, x: 1}]") ==
          "grant_unknown_field");
    CHECK(reason_with("default: x") == "grant_unknown_field");
    CHECK(reason_with("onExceed: warn") == "grant_parse_error");
    CHECK(reason_with("defaultGrant: ../x") == "grant_parse_error");
    CHECK(reason_with("trust: {environment: granting}") == "grant_parse_error");
    CHECK(reason_with("trust: {bundle: signed}") == "grant_parse_error");
    CHECK(reason_with("requirements: {landlockAbi: 0}") == "grant_parse_error");
    CHECK(reason_with("blockedRanges: [10.0.0.1/8]") == "grant_parse_error");
    CHECK(reason_with("onExceed: narrow\nonExceed: reject") == "grant_duplicate_key");
    CHECK(reason_with("onExceed: narrow") == "accepted");
}

TEST_CASE("an error inside a rule names the rule and the field") {
    const auto ceiling =
        parse_ceiling("ceilingVersion: \"1\"\nrules:\n  - ceiling: {grantVersion: \"1\", tools: [bin]}\n");

    REQUIRE_FALSE(ceiling);
    CHECK(ceiling.error().message ==
          "path_not_absolute: rules[0].ceiling.tools[0]: 'bin' must start with '/' (line 3, column 42)");
}

TEST_CASE("a rule's grant may be nested as deep as a grant") {
    CHECK(
        reason_of("ceilingVersion: \"1\"\nrules: [{ceiling: {grantVersion: \"1\", network: {egress: [{host: "
                  "a.example.com, http: [{methods: [GET], path: /}]}]}}}]\n") == "accepted");
    CHECK(reason_of("ceilingVersion: \"1\"\nrules: " + std::string(11, '[') + std::string(11, ']')) ==
          "grant_too_large");
}

TEST_CASE("the first rule that fits is the container's") {
    const auto ceiling = parse_ceiling(
        "ceilingVersion: \"1\"\nrules:\n"
        "  - {match: {namespaces: [\"tenant-*\", \"*-ci-*x\"]}, ceiling: {grantVersion: \"1\"}}\n"
        "  - {match: {handlers: [strict]}, ceiling: {grantVersion: \"1\"}}\n"
        "  - {match: {uids: [1000], handlers: [rung]}, ceiling: {grantVersion: \"1\"}}\n");
    REQUIRE(ceiling);
    const auto rule = [&](const Caller& caller) {
        const auto found = matching_rule(*ceiling, caller);
        return found ? static_cast<int>(*found) : -1;
    };

    CHECK(rule({.k8s_namespace = "tenant-42", .handler = "strict"}) == 0);
    CHECK(rule({.k8s_namespace = "tenant-"}) == 0);
    CHECK(rule({.k8s_namespace = "a-ci-bx"}) == 0);
    CHECK(rule({.k8s_namespace = "a-ci-b"}) == -1);
    CHECK(rule({.k8s_namespace = "my-tenant-1"}) == -1);
    CHECK(rule({.handler = "strict"}) == 1);
    CHECK(rule({.handler = "rung", .uid = 1000}) == 2);
    CHECK(rule({.handler = "rung", .uid = 1}) == -1);
}

TEST_CASE("a container of no namespace fits no rule that asks for one") {
    const auto ceiling = parse_ceiling(
        "ceilingVersion: \"1\"\nrules: [{match: {namespaces: [\"*\"]}, ceiling: {grantVersion: \"1\"}}]");
    REQUIRE(ceiling);

    CHECK_FALSE(matching_rule(*ceiling, {}).has_value());
    CHECK(matching_rule(*ceiling, {.k8s_namespace = "a"}).has_value());
}

TEST_CASE("an empty list of a match fits nobody") {
    const auto ceiling =
        parse_ceiling("ceilingVersion: \"1\"\nrules: [{match: {uids: []}, ceiling: {grantVersion: \"1\"}}]");
    REQUIRE(ceiling);

    CHECK_FALSE(matching_rule(*ceiling, {}).has_value());
}

TEST_CASE("what the ceiling blocks is taken out of its address ranges") {
    const auto ceiling = parse_ceiling(
        "ceilingVersion: \"1\"\nblockedRanges: [203.0.113.0/25, 198.51.100.0/24]\nrules:\n"
        "  - ceiling:\n      grantVersion: \"1\"\n      metadata: {name: host}\n      network:\n        "
        "egress:\n"
        "          - {cidr: 203.0.113.0/24, ports: [80]}\n"
        "          - {cidr: 198.51.100.128/25, ports: [80]}\n"
        "          - {host: a.example.com}\n");
    REQUIRE(ceiling);

    const Grant grant = ceiling_grant(*ceiling, 0);

    CHECK(grant.metadata == Metadata{});
    REQUIRE(grant.network->egress.size() == 2);
    CHECK(grant.network->egress[0].except == std::vector<std::string>{"203.0.113.0/25"});
    CHECK(grant.network->egress[1].host == "a.example.com");
}

}  // namespace rung::grant

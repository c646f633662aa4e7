// The laws of the meet, on thousands of random grants: its order never matters, and it never allows what a
// side denies.
// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <random>
#include <string>
#include <vector>

#include "grant/meet.hpp"
#include "grant/parse.hpp"
#include "property/answers.hpp"
#include "property/grant_oracle.hpp"
#include "property/random_grant.hpp"

namespace rung::property {

namespace {

using grant::Grant;
using grant::meet;
using grant::normalized;

#if defined(__SANITIZE_ADDRESS__)
constexpr int kRounds = 300;
#else
constexpr int kRounds = 3000;
#endif

template <typename T>
bool is_no_higher(const std::optional<T>& value, const std::optional<T>& most) {
    return !most || (value && *value <= *most);
}

template <typename T>
bool is_no_lower(const std::optional<T>& value, const std::optional<T>& least) {
    return !least || (value && *value >= *least);
}

bool keeps_conditions(const Grant& met, const Grant& side) {
    const grant::Budgets budgets = met.budgets.value_or(grant::Budgets{});
    const grant::Budgets most = side.budgets.value_or(grant::Budgets{});
    return is_no_higher(met.limits.memory, side.limits.memory) &&
           is_no_higher(met.limits.pids, side.limits.pids) &&
           is_no_higher(met.limits.cpu_milli, side.limits.cpu_milli) &&
           is_no_higher(met.limits.open_files, side.limits.open_files) &&
           is_no_higher(met.limits.ephemeral_storage, side.limits.ephemeral_storage) &&
           is_no_higher(budgets.active_deadline_seconds, most.active_deadline_seconds) &&
           is_no_higher(budgets.max_ops, most.max_ops) &&
           is_no_higher(budgets.max_output_bytes, most.max_output_bytes) &&
           is_no_higher(budgets.max_egress_bytes, most.max_egress_bytes) &&
           is_no_higher(met.metadata.expires_at, side.metadata.expires_at) &&
           is_no_lower(met.metadata.not_before, side.metadata.not_before) && met.isolation >= side.isolation;
}

}  // namespace

TEST_CASE("the order of two grants does not matter") {
    std::mt19937 random{1};

    for (int round = 0; round < kRounds; ++round) {
        const Grant one = random_grant(random);
        const Grant other = random_grant(random);

        REQUIRE(meet(one, other) == meet(other, one));
    }
}

TEST_CASE("the grouping of three grants does not matter") {
    std::mt19937 random{2};

    for (int round = 0; round < kRounds; ++round) {
        const Grant first = random_grant(random);
        const Grant second = random_grant(random);
        const Grant third = random_grant(random);

        REQUIRE(meet(meet(first, second), third) == meet(first, meet(second, third)));
    }
}

TEST_CASE("a grant met with itself is itself") {
    std::mt19937 random{3};

    for (int round = 0; round < kRounds; ++round) {
        const Grant grant = random_grant(random);
        const Grant normal = normalized(grant);

        REQUIRE(meet(grant, grant) == normal);
        REQUIRE(normalized(normal) == normal);
    }
}

TEST_CASE("a meet that was met already adds nothing") {
    std::mt19937 random{4};

    for (int round = 0; round < kRounds; ++round) {
        const Grant one = random_grant(random);
        const Grant other = random_grant(random);
        const Grant met = meet(one, other);

        REQUIRE(meet(met, one) == met);
        REQUIRE(normalized(met) == met);
    }
}

TEST_CASE("the normal form allows exactly what the grant allows") {
    std::mt19937 random{5};

    for (int round = 0; round < kRounds / 3; ++round) {
        const Grant grant = random_grant(random);

        REQUIRE(answers(normalized(grant)) == answers(grant));
    }
}

TEST_CASE("the meet never allows what a side denies") {
    std::mt19937 random{6};

    for (int round = 0; round < kRounds / 3; ++round) {
        const Grant one = random_grant(random);
        const Grant other = random_grant(random);
        const Grant met = meet(one, other);

        REQUIRE(allows_no_more(answers(met), answers(one)));
        REQUIRE(allows_no_more(answers(met), answers(other)));
        REQUIRE(keeps_conditions(met, one));
        REQUIRE(keeps_conditions(met, other));
    }
}

TEST_CASE("one more source never adds a permission") {
    std::mt19937 random{7};

    for (int round = 0; round < kRounds / 3; ++round) {
        const Grant two_sources = meet(random_grant(random), random_grant(random));
        const Grant three_sources = meet(two_sources, random_grant(random));

        REQUIRE(allows_no_more(answers(three_sources), answers(two_sources)));
        REQUIRE(keeps_conditions(three_sources, two_sources));
    }
}

TEST_CASE("what both sides allow without scratch, the meet allows") {
    std::mt19937 random{8};

    for (int round = 0; round < kRounds / 3; ++round) {
        Grant one = random_grant(random);
        Grant other = random_grant(random);
        for (Grant* grant : {&one, &other}) {
            if (grant->filesystem) grant->filesystem->tmpfs.clear();
        }
        const Grant met = meet(one, other);

        for (const char* path : kPathQuestions) {
            REQUIRE(may_read(met, path) == (may_read(one, path) && may_read(other, path)));
            REQUIRE(may_write(met, path) == (may_write(one, path) && may_write(other, path)));
            for (const char digit : {'a', 'b', 'c'}) {
                const std::string digest(64, digit);
                REQUIRE(may_execute(met, path, digest) ==
                        (may_execute(one, path, digest) && may_execute(other, path, digest)));
            }
        }
        for (uint16_t port = 439; port <= 450; ++port) {
            for (const char* host : kHostQuestions) {
                const Call call{.host = host, .port = port, .method = "GET", .path = "/a"};
                REQUIRE(may_call(met, call) == (may_call(one, call) && may_call(other, call)));
            }
            for (const uint32_t address : kAddressQuestions) {
                REQUIRE(may_connect(met, address, port) ==
                        (may_connect(one, address, port) && may_connect(other, address, port)));
            }
        }
    }
}

TEST_CASE("the order of keys in a grant's text does not matter") {
    std::mt19937 random{9};
    std::vector<std::string> lines = {
        "grantVersion: \"1\"\n",
        "metadata: {name: a, labels: {x: b, y: c}}\n",
        "filesystem: {rootfs: readOnly, hidden: [/b, /a], tmpfs: [{size: 1Mi, path: /t}]}\n",
        "tools: [/bin, /usr/bin]\n",
        "network: {egress: [{ports: [1], host: example.com}]}\n",
        "limits: {pids: 1, memory: 1Mi}\n",
        "audit: {level: denials}\n"};
    const auto joined = [&] {
        std::string text;
        for (const std::string& line : lines)
            text += line;
        return text;
    };
    const auto first = grant::parse_grant(joined());
    REQUIRE(first);

    for (int round = 0; round < 100; ++round) {
        std::shuffle(lines.begin(), lines.end(), random);
        const auto shuffled = grant::parse_grant(joined());

        REQUIRE(shuffled);
        REQUIRE(*shuffled == *first);
    }
}

}  // namespace rung::property

// Several grants under a ceiling, and the canonical text, on thousands of random grants.
// SPDX-License-Identifier: Apache-2.0
#include "grant/layers.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <random>
#include <string>
#include <tuple>
#include <vector>

#include "grant/canonical.hpp"
#include "grant/cidr.hpp"
#include "grant/meet.hpp"
#include "grant/parse.hpp"
#include "property/answers.hpp"
#include "property/random_grant.hpp"

namespace rung::property {

namespace {

using grant::Effective;
using grant::Grant;
using grant::Layers;
using grant::Narrowed;

#if defined(__SANITIZE_ADDRESS__)
constexpr int kRounds = 200;
#else
constexpr int kRounds = 2000;
#endif

Layers random_layers(std::mt19937& random) {
    Layers layers{.ceiling = grant::Layer{.name = "ceiling", .grant = random_grant(random)}};
    for (const char* name : {"a", "b", "c"})
        layers.grants.push_back({.name = name, .grant = random_grant(random)});
    return layers;
}

std::vector<Narrowed> sorted(std::vector<Narrowed> narrowed) {
    std::sort(narrowed.begin(), narrowed.end(), [](const Narrowed& left, const Narrowed& right) {
        return std::tie(left.field, left.asked_by, left.denied_by) <
               std::tie(right.field, right.asked_by, right.denied_by);
    });
    return narrowed;
}

// What a grant's text can say: random_grant() makes more.
Grant expressible(Grant grant) {
    grant.metadata.labels.clear();
    grant.metadata.not_before.reset();
    grant.secrets.clear();
    // A path once with a digest and once without contradicts itself in a text; a meet may come to it.
    const auto tools = grant.tools.value_or(std::vector<grant::Tool>{});
    if (grant.tools) {
        std::erase_if(*grant.tools, [&](const grant::Tool& tool) {
            return std::any_of(tools.begin(), tools.end(), [&](const grant::Tool& other) {
                return other.path == tool.path && other.sha256 < tool.sha256;
            });
        });
    }
    if (grant.limits.open_files) *grant.limits.open_files += 16;
    if (!grant.network) return grant;
    std::erase_if(grant.network->egress, [](const grant::EgressRule& rule) {
        const auto cidr = grant::parse_cidr(rule.cidr);
        return cidr && grant::is_private(*cidr);
    });
    return grant;
}

}  // namespace

TEST_CASE("the order of the sources decides neither what holds nor who is named") {
    std::mt19937 random{21};

    for (int round = 0; round < kRounds / 2; ++round) {
        Layers layers = random_layers(random);
        const auto first = grant::meet_layers(layers);
        std::shuffle(layers.grants.begin(), layers.grants.end(), random);
        const auto other = grant::meet_layers(layers);

        REQUIRE((first && other));
        REQUIRE(first->grant == other->grant);
        REQUIRE(sorted(first->narrowed) == sorted(other->narrowed));
    }
}

TEST_CASE("no layer's denial is lost") {
    std::mt19937 random{22};

    for (int round = 0; round < kRounds / 4; ++round) {
        const Layers layers = random_layers(random);
        const auto effective = grant::meet_layers(layers);

        REQUIRE(effective);
        const auto allowed = answers(*effective->grant);
        REQUIRE(allows_no_more(allowed, answers(layers.ceiling->grant)));
        for (const grant::Layer& layer : layers.grants)
            REQUIRE(allows_no_more(allowed, answers(layer.grant)));
    }
}

TEST_CASE("what is taken from a grant is recorded, and within a wider one nothing is") {
    std::mt19937 random{23};

    for (int round = 0; round < kRounds / 2; ++round) {
        const Grant one = random_grant(random);
        const Grant other = random_grant(random);
        const Grant met = grant::meet(one, other);

        if (answers(met) != answers(one)) REQUIRE_FALSE(grant::losses(one, other).empty());
        REQUIRE(grant::losses(met, one).empty());
        REQUIRE(grant::losses(met, other).empty());
        REQUIRE(grant::is_within(met, one));
        REQUIRE(grant::is_within(met, other));
        if (grant::is_within(one, other)) REQUIRE(answers(met) == answers(one));
    }
}

TEST_CASE("a ceiling that rejects lets through only what it takes nothing from") {
    std::mt19937 random{24};

    for (int round = 0; round < kRounds / 2; ++round) {
        Layers layers = random_layers(random);
        layers.on_exceed = grant::OnExceed::reject;
        // Half of the grants ask for no more than the ceiling has.
        if (round % 2 == 0) {
            for (grant::Layer& layer : layers.grants)
                layer.grant = grant::meet(layer.grant, layers.ceiling->grant);
        }
        const auto effective = grant::meet_layers(layers);

        if (round % 2 == 0) REQUIRE(effective);
        if (effective) {
            REQUIRE(answers(*effective->grant) == answers(*effective->without_ceiling));
        } else {
            REQUIRE(effective.error().reason == "exceeds_ceiling");
        }
    }
}

TEST_CASE("the canonical text is read back as the same grant, with the same digest") {
    std::mt19937 random{25};

    for (int round = 0; round < kRounds; ++round) {
        const Grant grant = expressible(random_grant(random));
        const std::string text = grant::canonical_json(grant);
        CAPTURE(text);
        const auto again = grant::parse_grant(text);

        if (!again) CAPTURE(again.error().message);
        REQUIRE(again);
        REQUIRE(grant::normalized(*again) == grant::normalized(grant));
        REQUIRE(grant::canonical_json(*again) == text);
    }
}

TEST_CASE("two grants have one digest exactly when they are the same in normal form") {
    std::mt19937 random{26};

    for (int round = 0; round < kRounds; ++round) {
        const Grant one = expressible(random_grant(random));
        const Grant other = round % 2 == 0 ? grant::meet(one, one) : expressible(random_grant(random));

        REQUIRE((grant::digest(one) == grant::digest(other)) ==
                (grant::normalized(one) == grant::normalized(other)));
    }
}

}  // namespace rung::property

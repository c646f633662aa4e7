// Where grants come from, and that none is passed over.
// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>
#include <stdlib.h>
#include <unistd.h>

#include <cstdio>
#include <string>

#include "runtime/grants.hpp"

using namespace rung::runtime;

namespace {

struct TemporaryBundle {
    std::string path = "/tmp/rung-grants-test-XXXXXX";
    TemporaryBundle() { REQUIRE(mkdtemp(path.data()) != nullptr); }
    ~TemporaryBundle() {
        (void)unlink((path + "/grant.json").c_str());
        (void)rmdir(path.c_str());
    }
    void write_grant(const std::string& text) const {
        FILE* file = fopen((path + "/grant.json").c_str(), "we");
        REQUIRE(file != nullptr);
        REQUIRE(fwrite(text.data(), 1, text.size(), file) == text.size());
        REQUIRE(fclose(file) == 0);
    }
};

}  // namespace

TEST_CASE("without any source there is no grant") {
    const TemporaryBundle bundle;

    const auto sources = collect_grants({.bundle = bundle.path, .annotations = {{"org.example", "x"}}});

    REQUIRE(sources);
    CHECK(sources->empty());
    const auto met = meet_grants(*sources);
    REQUIRE(met);
    CHECK_FALSE(met->has_value());
}

TEST_CASE("every source that is present narrows the grant") {
    const TemporaryBundle bundle;
    bundle.write_grant(R"({"grantVersion":"1","limits":{"pids":10}})");

    const auto sources = collect_grants(
        {.bundle = bundle.path,
         .annotations = {{"dev.rung.grant", R"({"grantVersion":"1","limits":{"pids":20,"memory":"1Mi"}})"}}});
    REQUIRE(sources);
    const auto met = meet_grants(*sources);

    REQUIRE(met);
    REQUIRE(met->has_value());
    CHECK((*met)->limits.pids == 10);
    CHECK((*met)->limits.memory == 1048576);
}

TEST_CASE("an annotation with our prefix that we do not know is an error") {
    const TemporaryBundle bundle;
    for (const char* name : {"dev.rung.grants", "dev.rung.", "dev.rung.Grant", "dev.rung.grant.",
                             "dev.rung.grant.A", "dev.rung.grant.../x"}) {
        const auto sources = collect_grants({.bundle = bundle.path, .annotations = {{name, "x"}}});

        REQUIRE_FALSE(sources);
        CHECK(sources.error().reason == "grant_unknown_field");
    }
}

TEST_CASE("a grant file that is missing, dangling, too large or broken stops the container") {
    const TemporaryBundle bundle;

    CHECK_FALSE(collect_grants({.files = {"/nonexistent/grant.yaml"}, .bundle = bundle.path}));

    REQUIRE(symlink("/nonexistent", (bundle.path + "/grant.json").c_str()) == 0);
    CHECK_FALSE(collect_grants({.bundle = bundle.path}));
    REQUIRE(unlink((bundle.path + "/grant.json").c_str()) == 0);

    bundle.write_grant(std::string(70 * 1024, ' '));
    auto sources = collect_grants({.bundle = bundle.path});
    REQUIRE(sources);
    CHECK(meet_grants(*sources).error().reason == "grant_too_large");

    bundle.write_grant(std::string(300 * 1024, ' '));
    CHECK(collect_grants({.bundle = bundle.path}).error().reason == "grant_too_large");

    bundle.write_grant("{");
    sources = collect_grants({.bundle = bundle.path});
    REQUIRE(sources);
    CHECK(meet_grants(*sources).error().message.find("[grant.json]") != std::string::npos);
}

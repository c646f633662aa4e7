// `rung plan`: text for people, JSON for programs.
// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include "plan/make.hpp"
#include "plan/values.hpp"

namespace rung {

TEST_CASE("a plan without a grant says so and has no narrowings") {
    const plan::SandboxPlan plan{.spec = test::usual_spec()};

    const std::string text = plan::print(plan);

    CHECK(text.find("  grant  none: a plain OCI container") != std::string::npos);
    CHECK(text.find("narrowed") == std::string::npos);
}

TEST_CASE("each narrowing is shown with its layer and reason") {
    plan::SandboxPlan plan{.spec = test::usual_spec(), .granted = true};
    plan.narrowings = {{"root.readonly", "false", "true", "grant", "filesystem.rootfs: readOnly"}};

    CHECK(plan::print(plan).find("narrowed\n"
                                 "  root.readonly\n"
                                 "    asked      false\n"
                                 "    effective  true\n"
                                 "    by         grant: filesystem.rootfs: readOnly\n") != std::string::npos);
    CHECK(plan::print_json(plan).find("\"reason\": \"filesystem.rootfs: readOnly\"") != std::string::npos);
}

TEST_CASE("JSON survives text that is not UTF-8") {
    plan::SandboxPlan plan{.spec = test::usual_spec()};
    plan.spec.process.args = {"\xff"};

    CHECK(plan::print_json(plan).find("\"args\"") != std::string::npos);
}

}  // namespace rung

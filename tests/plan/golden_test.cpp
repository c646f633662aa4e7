// Golden plans: what `rung plan` prints and what the plan is lowered to, compared with tests/golden byte for byte.
// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <cstdlib>
#include <fstream>
#include <sstream>

#include "config/parse.hpp"
#include "grant/parse.hpp"
#include "plan/describe_steps.hpp"
#include "plan/lower.hpp"
#include "plan/make.hpp"
#include "plan/values.hpp"

namespace rung {
namespace {

const std::string kGolden = std::string(RUNG_SOURCE_DIR) + "/tests/golden/";

std::string read(const std::string& name) {
    std::ifstream file(kGolden + name);
    std::ostringstream text;
    text << file.rdbuf();
    return text.str();
}

// With RUNG_GOLDEN=write the file becomes what was printed.
void check_golden(const std::string& name, const std::string& printed) {
    const char* mode = std::getenv("RUNG_GOLDEN");
    if (mode != nullptr && std::string(mode) == "write") std::ofstream(kGolden + name) << printed;
    CHECK_MESSAGE(read(name) == printed, name << " differs; it would be now:\n" << printed);
}

void check_case(const std::string& name, const std::string& config, const std::string& grant_name) {
    const auto spec = config::parse_spec(read(config + ".config.json"));
    REQUIRE_MESSAGE(spec, spec.error().message);
    std::optional<grant::Grant> grant;
    if (!grant_name.empty()) {
        auto parsed = grant::parse_grant(read(grant_name + ".grant.yaml"));
        REQUIRE_MESSAGE(parsed, parsed.error().message);
        grant = *parsed;
    }
    cgroup::Cgroup cgroup{.layout = kernel::CgroupLayout::v1};
    cgroup.v1 = {{{"memory"}, "/sys/fs/cgroup/memory/docker/c", "/sys/fs/cgroup/memory"},
                 {{"cpu", "cpuacct"}, "/sys/fs/cgroup/cpu,cpuacct/docker/c", "/sys/fs/cgroup/cpu,cpuacct"}};

    const auto plan = plan::make(*spec, grant, test::able_host(), 0);
    REQUIRE_MESSAGE(plan, plan.error().message);
    const auto lowered = plan::lower(*plan, cgroup, test::able_host(),
                                     {.bundle = "/bundle", .rootfs = "/bundle/rootfs", .id = "c"});
    REQUIRE_MESSAGE(lowered, lowered.error().message);

    check_golden(name + ".plan.txt", plan::print(*plan));
    std::string steps;
    for (const std::string& line : test::describe(lowered->program.steps))
        steps += line + "\n";
    check_golden(name + ".steps.txt", steps);
}

}  // namespace

TEST_CASE("a docker container without a grant has its golden plan") {
    check_case("docker", "docker", "");
}

TEST_CASE("a docker container with a reading grant has its golden plan") {
    check_case("docker-read-only", "docker", "read-only");
}

TEST_CASE("a docker container with volumes and a workspace grant has its golden plan") {
    check_case("docker-workspace", "docker-volumes", "workspace");
}

TEST_CASE("a privileged docker container with a reading grant has its golden plan") {
    check_case("docker-privileged-read-only", "docker-privileged", "read-only");
}

}  // namespace rung

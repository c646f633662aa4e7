// Where a container belongs in resctrl, and what has to be there already. The files themselves are the kernel's.
// SPDX-License-Identifier: Apache-2.0
#include "runtime/resctrl.hpp"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>
#include <iterator>

#include "kernel/files.hpp"

using namespace rung;
using runtime::has_schema;

namespace {

// A directory that looks like a mounted resctrl with the class "gold" in it.
struct Resctrl {
    std::string root = {};

    Resctrl() {
        char name[] = "/tmp/rung-resctrl-XXXXXX";
        root = mkdtemp(name);
        REQUIRE(kernel::make_directory(root + "/gold", 0755));
        std::ofstream{root + "/gold/schemata"} << "    MB:0=100;1=100\n    L3:0=00f;1=fff\n";
        std::ofstream{root + "/gold/tasks"} << "";
    }
    ~Resctrl() { (void)kernel::remove_tree_at(AT_FDCWD, root); }

    std::string make(const config::IntelRdt& wanted) const {
        const auto made = runtime::make_resctrl_group(runtime::resctrl_group(root, "c", wanted), wanted);
        return made ? "" : made.error().message;
    }
};

}  // namespace

TEST_CASE("a schema is there when each of its domains is, whatever the padding and the order") {
    const std::string_view schemata = "    MB:0=100;1=100\n    L3:0=00f;1=fff\n";

    CHECK(has_schema(schemata, "L3:0=f;1=fff"));
    CHECK(has_schema(schemata, "L3:1=fff"));
    CHECK(has_schema(schemata, " MB: 0=100 "));
    CHECK_FALSE(has_schema(schemata, "L3:0=ff"));
    CHECK_FALSE(has_schema(schemata, "L3:2=f"));
    CHECK_FALSE(has_schema(schemata, "L2:0=f"));
    CHECK_FALSE(has_schema("", "L3:0=f"));
}

TEST_CASE("a class of the container's own goes with it, one that is named stays") {
    const auto own = runtime::resctrl_group("/r", "c", {.enable_monitoring = true});
    const auto named = runtime::resctrl_group("/r", "c", {.clos_id = "gold", .enable_monitoring = true});
    const auto standard = runtime::resctrl_group("/r", "c", {.clos_id = "/"});

    CHECK(own == runtime::ResctrlGroup{.directory = "/r/c",
                                       .monitor = "/r/c/mon_groups/c",
                                       .own = {"/r/c/mon_groups/c", "/r/c"}});
    CHECK(named == runtime::ResctrlGroup{.directory = "/r/gold",
                                         .monitor = "/r/gold/mon_groups/c",
                                         .own = {"/r/gold/mon_groups/c"}});
    CHECK(standard == runtime::ResctrlGroup{.directory = "/r"});
}

TEST_CASE("a class that exists has to be what the configuration says") {
    const Resctrl host;

    CHECK(host.make({.clos_id = "gold"}) == "");
    CHECK(host.make(
              {.clos_id = "gold", .l3_cache_schema = "L3:0=f", .memory_bandwidth_schema = "MB:1=100"}) == "");
    CHECK(host.make({.clos_id = "gold", .schemata = {"L3:0=1"}}) ==
          "linux.intelRdt: CLOSID gold exists and its schemata do not match L3:0=1");
    CHECK(host.make({.clos_id = "lead"}) == "linux.intelRdt: there is no CLOSID lead in resctrl");
}

TEST_CASE("a class that is missing is made, and removed with the container") {
    const Resctrl host;
    const auto group = runtime::resctrl_group(host.root, "c", {});

    CHECK(host.make({}) == "");
    CHECK(kernel::exists(host.root + "/c"));
    CHECK(runtime::remove_resctrl_directories(group.own));
    CHECK_FALSE(kernel::exists(host.root + "/c"));
    CHECK(runtime::remove_resctrl_directories(group.own));
}

TEST_CASE("a monitoring group of somebody else survives a container that wanted its name") {
    const Resctrl host;
    REQUIRE(kernel::make_directory(host.root + "/gold/mon_groups", 0755));
    REQUIRE(kernel::make_directory(host.root + "/gold/mon_groups/c", 0755));

    CHECK(host.make({.clos_id = "gold", .enable_monitoring = true}).ends_with("file exists"));

    CHECK(kernel::exists(host.root + "/gold/mon_groups/c"));
}

TEST_CASE("a process joins by its number") {
    const Resctrl host;

    REQUIRE(runtime::join_resctrl_group(runtime::resctrl_group(host.root, "c", {.clos_id = "gold"}), 17));

    std::ifstream tasks{host.root + "/gold/tasks"};
    CHECK(std::string{std::istreambuf_iterator<char>{tasks}, {}} == "17");
}

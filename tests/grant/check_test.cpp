// Every problem of a text at once, for whoever corrects it.
// SPDX-License-Identifier: Apache-2.0
#include "grant/check.hpp"

#include <doctest/doctest.h>

#include <string>
#include <vector>

namespace rung::grant {

namespace {

std::vector<std::string> found_in(std::string_view text) {
    std::vector<std::string> all;
    for (const Problem& problem : check_grant(text)) {
        all.push_back(std::to_string(problem.place.mark.line) + ":" +
                      std::to_string(problem.place.mark.column) + " " + problem.code + " " +
                      problem.place.field);
    }
    return all;
}

using Lines = std::vector<std::string>;

}  // namespace

TEST_CASE("a good grant has no problem") {
    CHECK(check_grant("grantVersion: \"1\"\ntools: [/]\n").empty());
}

TEST_CASE("every problem is listed with its place, in the order of the text") {
    CHECK(found_in("grantVersion: \"1\"\n"
                   "tools: [bin, /usr/bin, /a/../b]\n"
                   "colour: red\n"
                   "limits: {pids: none, memory: 1Mi}\n"
                   "network:\n"
                   "  egress:\n"
                   "    - host: 1.2.3.4\n"
                   "    - host: \"*.com\"\n") ==
          Lines{"2:9 path_not_absolute tools[0]", "2:24 path_traversal tools[2]",
                "3:9 grant_unknown_field colour", "4:16 grant_parse_error limits.pids",
                "7:13 host_pattern_invalid network.egress[0].host",
                "8:13 host_pattern_too_broad network.egress[1].host"});
}

TEST_CASE("what is wrong only because of another problem is not listed") {
    CHECK(found_in(R"({"grantVersion":"1","filesystem":{"tmpfs":[{"path":"tmp","size":1}]}})") ==
          Lines{"1:52 path_not_absolute filesystem.tmpfs[0].path"});
    CHECK(found_in("grantVersion: \"2\"\ntools: 7\n") ==
          Lines{"1:15 grant_version_unsupported grantVersion"});
}

TEST_CASE("a field's name with a colon does not pass for the end of the name") {
    const auto problems = check_grant("grantVersion: \"1\"\n\"a: b (line 7, column 9)\": 1\n");

    REQUIRE(problems.size() == 1);
    CHECK(problems[0].place == Place{.field = "a\\x3a b (line 7, column 9)",
                                     .what = "there is no such field",
                                     .mark = {.line = 2, .column = 28}});
}

TEST_CASE("a text that cannot be read has one problem") {
    CHECK(found_in("a: [\n").size() == 1);
    CHECK(found_in("{\"a\": 1, \"a\": 2}") == Lines{"1:10 grant_duplicate_key grant"});
    CHECK(found_in("[]") == Lines{"1:1 grant_parse_error grant"});
}

TEST_CASE("a text full of problems is read to an end") {
    std::string text = "grantVersion: \"1\"\ntools:\n";
    for (int line = 0; line < 200; ++line)
        text += "  - x\n";

    CHECK(check_grant(text).size() == 100);
}

}  // namespace rung::grant

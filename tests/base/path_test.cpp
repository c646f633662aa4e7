// Lexical paths.
// SPDX-License-Identifier: Apache-2.0
#include "base/path.hpp"

#include <doctest/doctest.h>

using namespace rung;

TEST_CASE("components leave out empty names and dots, and keep dot-dot") {
    CHECK(path::components("/a//b/./../c/") == std::vector<std::string>{"a", "b", "..", "c"});
    CHECK(path::components("/").empty());
    CHECK(path::components("").empty());
}

TEST_CASE("a clean path is absolute and never climbs above the root") {
    CHECK(path::clean("") == "/");
    CHECK(path::clean("a/b") == "/a/b");
    CHECK(path::clean("/a/./b//c/") == "/a/b/c");
    CHECK(path::clean("/a/../../../etc") == "/etc");
    CHECK(path::clean("..") == "/");
    CHECK(path::clean("/...") == "/...");
}

TEST_CASE("joining keeps an absolute path and puts the base before a relative one") {
    CHECK(path::join("/bundle", "rootfs") == "/bundle/rootfs");
    CHECK(path::join("/bundle/", "rootfs") == "/bundle/rootfs");
    CHECK(path::join("/bundle", "/srv/root") == "/srv/root");
    CHECK(path::join("/", "rel") == "/rel");
}

TEST_CASE("a directory covers itself and what lies beneath it, and no longer name") {
    CHECK(path::covers("/work", "/work"));
    CHECK(path::covers("/work", "/work/a/b"));
    CHECK_FALSE(path::covers("/work", "/workshop"));
    CHECK_FALSE(path::covers("/work/a", "/work"));
    CHECK(path::covers("/", "/work"));
    CHECK(path::covers("/", "/"));
}

TEST_CASE("parent and file name split at the last slash") {
    CHECK(path::parent("/a/b") == "/a");
    CHECK(path::parent("/a") == "/");
    CHECK(path::parent("/") == "/");
    CHECK(path::file_name("/a/b") == "b");
    CHECK(path::file_name("/") == "");
}

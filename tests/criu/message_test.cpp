// What rung says to CRIU, and what it reads of CRIU's answers, logs and the kernel's list of cgroups.
// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <string>

#include "criu/message.hpp"

using namespace rung::criu;
using namespace std::string_literals;

TEST_CASE("a request is on the wire what protocol buffers make of CRIU's numbers") {
    // Field 1, a number: VERSION = 10.
    CHECK(encode_version_request() == "\x08\x0a"s);
    // And field 5 with FEATURE_CHECK = 9: the field 1 of a message, true.
    CHECK(encode_feature_request({.memory_tracking = true}) == "\x08\x09\x2a\x02\x08\x01"s);
    // NOTIFY = 6, and field 3.
    CHECK(encode_answer(true) == "\x08\x06\x18\x01"s);
    CHECK(encode_answer(false) == "\x08\x06\x18\x00"s);
}

TEST_CASE("a request carries its pairs, texts and numbers") {
    const Options options{.images_directory = 7,
                          .pid = 300,
                          .root = "/root",
                          .external_mounts = {{.key = "/a", .value = "/b"}},
                          .cgroup_roots = {{.key = "", .value = "/c"}},
                          .external = {"net[1]:n"},
                          .inherited = {{.key = "pipe:[1]", .number = 2}}};

    const std::string bytes = encode_request(Task::restore, options);

    CHECK(bytes.starts_with("\x08\x02"s));
    for (const std::string& field :
         {"\x08\x07"s, "\x10\xac\x02"s, "\x6a\x05/root"s, "\xba\x01\x08\x0a\x02/a\x12\x02/b"s,
          "\xca\x01\x06\x0a\x00\x12\x02/c"s, "\xaa\x02\x08net[1]:n"s, "\xda\x01\x0c\x0a\x08pipe:[1]\x10\x02"s,
          "\xd0\x01\x01"s})
        CHECK(bytes.find(field) != std::string::npos);
}

TEST_CASE("only a restored process is asked for as a sibling") {
    const std::string sibling = "\xd0\x01\x01";

    const std::string dump = encode_request(Task::dump, {.images_directory = 1});

    CHECK(dump.find(sibling) == std::string::npos);
    CHECK(encode_request(Task::restore, {.images_directory = 1}).find(sibling) != std::string::npos);
}

TEST_CASE("answers and notifications are told apart") {
    const auto notification = decode_response("\x08\x06\x10\x01\x2a\x11\x0a\x0cpost-restore\x10\xac\x02"s);
    const auto failure = decode_response("\x08\x01\x10\x00\x38\x03\x4a\x03why"s);
    const auto version = decode_response("\x08\x0a\x10\x01\x52\x06\x08\x03\x10\x11\x20\x01"s);

    REQUIRE(notification);
    CHECK(notification->kind == Response::Kind::notification);
    CHECK(notification->script == "post-restore");
    CHECK(notification->pid == 300);
    REQUIRE(failure);
    CHECK(failure->kind == Response::Kind::result);
    CHECK(failure->task == "DUMP");
    CHECK_FALSE(failure->success);
    CHECK(failure->error_number == 3);
    CHECK(failure->error_text == "why");
    REQUIRE(version);
    CHECK(version->version == Version{.major = 3, .minor = 17, .sublevel = 1});
}

TEST_CASE("what is no response is an error, whatever it is") {
    for (const std::string& bytes : {""s, "\x08"s, "\xff\xff\xff"s, "\x08\x01"s, "\x08\x01\x10\x01\x2a\x7f"s})
        CHECK_FALSE(decode_response(bytes));
}

TEST_CASE("each controller of a v1 hierarchy has a root of its own, and the unified one no controller") {
    const auto roots = parse_cgroup_roots("4:cpu,cpuacct:/a\n1:name=systemd:/b:c\n0::/d\n");

    CHECK(roots == std::vector<Pair>{{.key = "cpu", .value = "/a"},
                                     {.key = "cpuacct", .value = "/a"},
                                     {.key = "name=systemd", .value = "/b:c"},
                                     {.key = "", .value = "/d"}});
    CHECK(parse_cgroup_roots("").empty());
    CHECK(parse_cgroup_roots("nonsense\n4:cpu\n").empty());
}

TEST_CASE("of a log the last two errors are told, without their places") {
    const std::string log =
        "(00.001) Error (criu/util.c:1): first\n"
        "(00.002) Error (criu/files.c:22): Can't lookup mount=1 for fd=1 path=/x\n"
        "(00.003) Warn  (criu/a.c:3): not this\n"
        "(00.004) Error (criu/cr-dump.c:33): Dump files (pid: 7) failed with -1\n"
        "(00.005) Error (criu/cr-dump.c:44): Dumping FAILED.\n";

    CHECK(last_errors(log) == "Can't lookup mount=1 for fd=1 path=/x; Dump files (pid: 7) failed with -1");
    CHECK(last_errors("(00.1) Error (criu/a.c:1): one") == "one");
    CHECK(last_errors("") == "");
    CHECK(last_errors("Error (without an end\nnothing\n") == "");
}

TEST_CASE("a page server is an address and a port") {
    CHECK(*parse_page_server("127.0.0.1:27277") == PageServer{.address = "127.0.0.1", .port = 27277});
    CHECK(*parse_page_server("[::1]:1") == PageServer{.address = "::1", .port = 1});

    for (const char* text : {"", ":", "host", "host:", ":1", "::1:1", "host:0", "host:65536", "host:1x"})
        CHECK_FALSE(parse_page_server(text));
}

TEST_CASE("a mode of cgroups is known by its name") {
    CHECK(parse_cgroup_mode("") == CgroupMode::unset);
    CHECK(parse_cgroup_mode("ignore") == CgroupMode::ignore);
    CHECK(parse_cgroup_mode("strict") == CgroupMode::strict);
    CHECK_FALSE(parse_cgroup_mode("Soft"));
}

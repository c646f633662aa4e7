// What is refused for its form, before any field is looked at.
// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include "grant/refused.hpp"

namespace rung::grant {

namespace {

std::string repeated(std::string_view text, std::size_t size) {
    std::string result;
    while (result.size() < size)
        result += text;
    result.resize(size);
    return result;
}

}  // namespace

TEST_CASE("a text of more than 64 KiB is refused") {
    const std::string padding = repeated("# nothing\n", 70 * 1024);

    CHECK(message_of("grantVersion: \"1\"\n" + padding) ==
          "grant_too_large: grant: has 71698 bytes, at most 65536 are accepted");
    CHECK(reason_of("grantVersion: \"1\"\n" + padding.substr(0, 60 * 1024)) == "accepted");
}

TEST_CASE("deep nesting is refused, however deep") {
    for (const std::string opener : {"- ", "{\"a\":", "{\"a\":["}) {
        CAPTURE(opener);

        CHECK(reason_of(repeated(opener, 64 * 1024)) == "grant_too_large");
    }
    CHECK(reason_of(R"({"a":[[[[[[[[1]]]]]]]]})") == "grant_too_large");
    CHECK(reason_of("a: [[[[[[[[1]]]]]]]]") == "grant_too_large");
    CHECK(reason_of(R"({"a":)" + std::string(60000, '[')) == "grant_too_large");
    CHECK(reason_of("a: " + std::string(30000, '[') + std::string(30000, ']')) == "grant_too_large");
}

TEST_CASE("a text that makes no sense ends in an error") {
    for (const std::string text : {"[",  "[[a, ", "{", "{a: ", "? ",  ",", "]",  "}",   ":",     "%",
                                   "\\", "a\n",   "!", "&a ",  "*a ", "'", "\"", "|\n", "---\n", "a:\n"}) {
        CAPTURE(text);

        CHECK(reason_of(repeated(text, 64 * 1024)) != "accepted");
    }
}

TEST_CASE("a key given twice is refused in YAML and JSON") {
    CHECK(message_of("grantVersion: \"1\"\ntools: []\ntools: [/bin]\n") ==
          "grant_duplicate_key: grant: 'tools' is given twice (line 3, column 1)");
    CHECK(message_of(R"({"grantVersion":"1","limits":{"pids":1,"pids":2}})") ==
          "grant_duplicate_key: limits: 'pids' is given twice (line 1, column 40)");
    CHECK(message_of("{\"tools\":[\"a\\\"[,\",\"b\"],\r\n\t\"tools\" :[]}") ==
          "grant_duplicate_key: grant: 'tools' is given twice (line 2, column 2)");
    CHECK(reason_of(R"({"grantVersion":"1","grantVersio\u006e":"1"})") == "grant_duplicate_key");
    CHECK(reason_with("\"tools\": []\ntools: []") == "grant_duplicate_key");
}

TEST_CASE("YAML's cleverness is refused") {
    CHECK(reason_with("tools: &all [/bin]") == "grant_parse_error");
    CHECK(reason_with("tools: &all [/bin]\ndevices: *all") == "grant_parse_error");
    CHECK(reason_with("tools: &empty\n") == "grant_parse_error");
    CHECK(reason_with("tools: *nowhere") == "grant_parse_error");
    CHECK(reason_with("tools: !!seq [/bin]") == "grant_parse_error");
    CHECK(reason_with("limits: {memory: !!str 1024}") == "grant_parse_error");
    CHECK(reason_with("limits: {memory: ! 1024}") == "grant_parse_error");
    CHECK(reason_with("limits: !custom {}") == "grant_parse_error");
    CHECK(reason_with("<<: {tools: [/bin]}") == "grant_parse_error");
    CHECK(reason_with("? [a]\n: b") == "grant_parse_error");
    CHECK(reason_with("---\ntools: []") == "grant_parse_error");
    CHECK(reason_with("...\ntools: []") == "grant_parse_error");
    CHECK(message_of("grantVersion: \"1\"\ntools: &all [/bin]\n") ==
          "grant_parse_error: grant: YAML anchors are not accepted (line 2, column 8)");
}

TEST_CASE("malformed YAML is refused with its place") {
    CHECK(message_of("grantVersion: \"1\"\ntools: ]\n") ==
          "grant_parse_error: grant: is not valid YAML: illegal flow end (line 2, column 8)");
    CHECK(reason_with("\ttools: []") == "grant_parse_error");
    CHECK(reason_with("tools: [/bin") == "grant_parse_error");
    CHECK(reason_with("tools: '/bin' x") == "grant_parse_error");
    CHECK(reason_of("") == "grant_parse_error");
    CHECK(reason_of("# nothing\n") == "grant_parse_error");
    CHECK(reason_of("just words") == "grant_parse_error");
    CHECK(reason_of("[]") == "grant_parse_error");
}

TEST_CASE("malformed JSON is refused with its place") {
    CHECK(message_of("{\"grantVersion\":\"1\",\n \"tools\":[\"/bin\",]}") ==
          "grant_parse_error: grant: is not valid JSON: syntax error while parsing value - unexpected ']'; "
          "expected '[', '{', or a literal (line 2, column 18)");
    CHECK(
        message_of("{\"grantVersion\":\n \"1\"") ==
        "grant_parse_error: grant: is not valid JSON: syntax error while parsing object - unexpected end of "
        "input; expected '}' (line 2, column 5)");
    CHECK(message_of(R"({"grantVersion":1e999})") ==
          "grant_parse_error: grant: is not valid JSON: a number is too large (line 1, column 21)");
    for (const std::string text : {R"({"grantVersion":"1"} x)",
                                   R"({"grantVersion":"1"}{})",
                                   R"({"grantVersion":"1",})",
                                   R"({"grantVersion" "1"})",
                                   R"({"grantVersion":"1)",
                                   R"({"grantVersion":"1")",
                                   R"({"grantVersion":01})",
                                   R"({"grantVersion":1.})",
                                   R"({"grantVersion":+1})",
                                   R"({"grantVersion":TRUE})",
                                   R"({"grantVersion":"\x31"})",
                                   R"({"grantVersion":"\u00zz"})",
                                   R"({"grantVersion":"\ud800"})",
                                   R"({"grantVersion":"\udc00\ud800"})",
                                   R"({"grantVersion":"\ud800\u0041"})",
                                   "{\"grantVersion\":\"1\n\"}",
                                   R"({"grantVersion":"1", /* no */ "tools":[]})",
                                   R"({"a")",
                                   R"({"a":)",
                                   R"({"a":")"}) {
        CAPTURE(text);

        CHECK(reason_of(text) == "grant_parse_error");
    }
}

TEST_CASE("text that is not strict UTF-8 is refused") {
    for (const char* bytes : {"\xff", "\xc0\xaf", "\xe0\x80\xaf", "\xed\xa0\x80", "\xf4\x90\x80\x80", "\xc3",
                              "\x80", "\xf5\x80\x80\x80"}) {
        CHECK(reason_with("# " + std::string{bytes}) == "grant_parse_error");
    }
    CHECK(message_of("grantVersion: \"1\"\n# \xff\n") ==
          "grant_parse_error: grant: is not valid UTF-8 (line 2, column 3)");
    CHECK(reason_with("# \xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80") == "accepted");
}

TEST_CASE("NUL, other control characters and a byte order mark are refused") {
    CHECK(reason_of(std::string_view{"grantVersion: \"1\"\n\0", 19}) == "grant_parse_error");
    CHECK(reason_with("# \x1b[2J") == "grant_parse_error");
    CHECK(reason_of(R"({"grantVersion":"1\u0000"})") == "grant_parse_error");
    CHECK(reason_with("metadata: {labels: {a: \"x\\0y\"}}") == "grant_parse_error");
    CHECK(reason_of("\xef\xbb\xbfgrantVersion: \"1\"\n") == "grant_parse_error");
}

TEST_CASE("a message is one printable line of bounded length") {
    const std::string name = "\"\\e[2J\\n\xe2\x80\xae" + std::string(600, 'x') + "\"";

    const std::string unknown_field = message_of("grantVersion: \"1\"\n" + name + ": 1\n");
    const std::string bad_path = message_of("grantVersion: \"1\"\ntools: [" + name + "]\n");

    for (const std::string& message : {unknown_field, bad_path}) {
        CAPTURE(message);
        CHECK(message.size() < 400);
        CHECK(message.find('\n') == std::string::npos);
        CHECK(message.find('\x1b') == std::string::npos);
        CHECK(message.find("\\x1b[2J\\x0a\\xe2\\x80\\xae") != std::string::npos);
    }
}

}  // namespace rung::grant

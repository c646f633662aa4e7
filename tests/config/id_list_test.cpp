// Lists of CPUs and memory nodes.
// SPDX-License-Identifier: Apache-2.0
#include "config/id_list.hpp"

#include <doctest/doctest.h>

using namespace rung::config;
using Mask = std::vector<uint64_t>;

namespace {

Mask parsed(std::string_view text) {
    auto mask = parse_id_list(text);
    REQUIRE_MESSAGE(mask, mask.error().message);
    return *std::move(mask);
}

std::string error_of(std::string_view text) {
    const auto mask = parse_id_list(text);
    return mask ? "" : mask.error().message;
}

}  // namespace

TEST_CASE("numbers and ranges become bits") {
    CHECK(parsed("") == Mask{});
    CHECK(parsed("0") == Mask{1});
    CHECK(parsed("0-3,7") == Mask{0x8f});
    CHECK(parsed("63,64") == Mask{uint64_t{1} << 63, 1});
    CHECK(parsed(" 1 , ,2,") == Mask{6});
    CHECK(count_ids(parsed("0-65")) == 66);
}

TEST_CASE("what is no list is refused") {
    CHECK(error_of("x") == "\"x\" is not a number");
    CHECK(error_of("1-") == "\"\" is not a number");
    CHECK(error_of("-1") == "\"\" is not a number");
    CHECK(error_of("1 2") == "\"1 2\" is not a number");
    CHECK(error_of("3-1") == "invalid range: \"3-1\"");
    CHECK(error_of(",") == "no members found in \",\"");
    CHECK(error_of("0-9876543210") == "values larger than 65536 are not supported");
    CHECK(error_of("99999999999999999999999") == "values larger than 65536 are not supported");
}

TEST_CASE("a mask is printed as the kernel does") {
    CHECK(hexadecimal_mask({}) == "0x0");
    CHECK(hexadecimal_mask({0}) == "0x0");
    CHECK(hexadecimal_mask({0x8f}) == "0x8f");
    CHECK(hexadecimal_mask({1, 2}) == "0x20000000000000001");
}

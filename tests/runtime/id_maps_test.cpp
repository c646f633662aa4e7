// The files that give users their subordinate ids.
// SPDX-License-Identifier: Apache-2.0
#include "runtime/id_maps.hpp"

#include <doctest/doctest.h>

namespace rung {

using runtime::IdRange;
using runtime::parse_subordinate_ids;

TEST_CASE("subordinate ids are a user's by name or by number, and the first range counts") {
    const std::string text = "other:1:2\nann:100000:65536\nann:900000:5\n1002:300000:10\n";

    CHECK(parse_subordinate_ids(text, "ann", 1001) == IdRange{100000, 65536});
    CHECK(parse_subordinate_ids(text, "bob", 1002) == IdRange{300000, 10});
    CHECK_FALSE(parse_subordinate_ids(text, "bob", 1001));
    CHECK_FALSE(parse_subordinate_ids(text, "", 1001));
}

TEST_CASE("a line that is not a range is passed over") {
    CHECK(parse_subordinate_ids("ann:x:5\nann:7\nann:8:0\nann:9:1\n", "ann", 1) == IdRange{9, 1});
}

}  // namespace rung

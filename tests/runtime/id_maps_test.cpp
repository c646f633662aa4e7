// The files that give users their subordinate ids.
// SPDX-License-Identifier: Apache-2.0
#include "runtime/id_maps.hpp"

#include <doctest/doctest.h>

namespace rung {

using runtime::IdRange;
using runtime::parse_subordinate_ids;
using runtime::parse_user_name;

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

TEST_CASE("a user has a name whatever stands in the password's place") {
    const std::string text = "root:x:0:0:root:/root:/bin/sh\nbroken\nann::1001:7::/:\nbob:*:1002:1001::/:\n";

    CHECK(parse_user_name(text, 0) == "root");
    CHECK(parse_user_name(text, 1001) == "ann");
    CHECK(parse_user_name(text, 1002) == "bob");
    CHECK(parse_user_name(text, 7) == "");
}

}  // namespace rung

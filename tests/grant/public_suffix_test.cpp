// Which names strangers have names beneath.
// SPDX-License-Identifier: Apache-2.0
#include "grant/public_suffix.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "grant/public_suffix_lines.hpp"

namespace rung::grant {

TEST_CASE("a registry's and a hoster's suffixes are public, what is beneath them is not") {
    for (const char* name : {"com", "co.uk", "github.io", "xn--p1ai", "unheard-of", "anything.ck"})
        CHECK(is_public_suffix(name));
    for (const char* name : {"example.com", "www.ck", "me.github.io", "pypi.org", "www.xn--p1ai", "uk.co"})
        CHECK_FALSE(is_public_suffix(name));
}

TEST_CASE("a name that holds a hoster's suffix further down is told apart") {
    CHECK(public_suffix_beneath("amazonaws.com").has_value());
    CHECK_FALSE(public_suffix_beneath("pypi.org").has_value());
    CHECK_FALSE(public_suffix_beneath("example.com").has_value());
}

TEST_CASE("the embedded list is sorted, so that every line is found") {
    std::vector<std::string> lines;
    const std::string_view all = public_suffix_lines();
    for (std::size_t start = 0; start < all.size();) {
        const std::size_t end = all.find('\n', start);
        lines.emplace_back(all.substr(start, end - start));
        start = end + 1;
    }

    CHECK(lines.size() > 5000);
    CHECK(std::is_sorted(lines.begin(), lines.end()));
    CHECK(std::count(lines.begin(), lines.end(), "uk.co") == 1);
}

}  // namespace rung::grant

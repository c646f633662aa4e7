// Fuzz target: any bytes as a grant. What is accepted survives its canonical text, and the lint agrees with the parser.
// SPDX-License-Identifier: Apache-2.0
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "grant/canonical.hpp"
#include "grant/check.hpp"
#include "grant/layers.hpp"
#include "grant/meet.hpp"
#include "grant/parse.hpp"

namespace {

using namespace rung;

void must(bool holds) {
    if (!holds) __builtin_trap();
}

bool is_one_line_of_ascii(std::string_view text) {
    for (const char character : text) {
        if (character < ' ' || character > '~') return false;
    }
    return true;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, std::size_t size) {
    const std::string_view text{reinterpret_cast<const char*>(data), size};
    const auto grant = grant::parse_grant(text);
    const auto problems = grant::check_grant(text);
    must(problems.empty() == static_cast<bool>(grant));
    if (!grant) {
        must(!grant.error().reason.empty() && !problems.front().place.what.empty());
        must(is_one_line_of_ascii(grant.error().message));
        return 0;
    }
    const grant::Grant normal = grant::normalized(*grant);
    must(grant::normalized(normal) == normal);
    must(grant::is_within(normal, *grant));
    must(grant::losses(*grant, *grant).empty());
    const auto again = grant::parse_grant(grant::canonical_json(*grant));
    // Rules that overlap may be more once each port is at one of them.
    if (!again && again.error().reason == "grant_too_large") return 0;
    must(again && grant::normalized(*again) == normal);
    return 0;
}

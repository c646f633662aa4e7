// The bytes of a cache entry: what makes two keys differ, and what is taken for damaged.
// SPDX-License-Identifier: Apache-2.0
#include "seccomp/entry.hpp"

#include <doctest/doctest.h>

#include <cstring>
#include <set>

using namespace rung;
using config::SeccompAction;
using config::SeccompOperator;
using seccomp::Compiled;

namespace {

const Compiled kCompiled{.instructions = {{0x20, 0, 0, 4}, {0x06, 0, 0, 0x7fff0000}},
                         .flags = 2,
                         .notify = true,
                         .warnings = {"first\ncall", ""}};

}  // namespace

TEST_CASE("an entry gives back what was put in") {
    const std::string entry = seccomp::encode_entry("the key", kCompiled);

    const auto decoded = seccomp::decode_entry(entry, "the key");

    REQUIRE(decoded);
    REQUIRE(decoded->instructions.size() == 2);
    CHECK(std::memcmp(decoded->instructions.data(), kCompiled.instructions.data(), 16) == 0);
    CHECK(decoded->flags == 2);
    CHECK(decoded->notify);
    CHECK(decoded->warnings == kCompiled.warnings);
}

TEST_CASE("an entry made for another key is not used, though its name may be the same") {
    const std::string entry = seccomp::encode_entry("the key", kCompiled);

    CHECK_FALSE(seccomp::decode_entry(entry, "the kez"));
    CHECK_FALSE(seccomp::decode_entry(entry, "the key "));
    CHECK_FALSE(seccomp::decode_entry(entry, ""));
}

TEST_CASE("an entry cut short anywhere is not used") {
    const std::string entry = seccomp::encode_entry("the key", kCompiled);

    for (size_t size = 0; size < entry.size(); size++) {
        CAPTURE(size);
        CHECK_FALSE(seccomp::decode_entry(std::string_view(entry).substr(0, size), "the key"));
    }
    CHECK_FALSE(seccomp::decode_entry(entry + '\0', "the key"));
}

TEST_CASE("an entry with any one bit changed is not used") {
    const std::string entry = seccomp::encode_entry("the key", kCompiled);

    for (size_t bit = 0; bit < entry.size() * 8; bit++) {
        CAPTURE(bit);
        std::string damaged = entry;
        damaged[bit / 8] = static_cast<char>(damaged[bit / 8] ^ (1 << bit % 8));
        CHECK_FALSE(seccomp::decode_entry(damaged, "the key"));
    }
}

TEST_CASE("an entry without instructions, or with more than the kernel takes, is not used") {
    const Compiled none{};
    const Compiled many{.instructions = std::vector<sock_filter>(4097)};

    CHECK_FALSE(seccomp::decode_entry(seccomp::encode_entry("key", none), "key"));
    CHECK_FALSE(seccomp::decode_entry(seccomp::encode_entry("key", many), "key"));
}

TEST_CASE("every field of the profile and of the toolchain is in the key") {
    const config::Seccomp base{
        .architectures = {"a"}, .flags = {"b"}, .rules = {{.names = {"c"}, .args = {{}}}}};
    std::vector<config::Seccomp> variants(16, base);
    variants[1].default_action = SeccompAction::error;
    variants[2].default_errno_ret = 0;
    variants[3].default_errno_ret = 1;
    variants[4].architectures = {"a", "b"};
    variants[5].flags = {};
    variants[6].listener_path = "x";
    variants[7].listener_metadata = "x";
    variants[8].rules[0].names = {"c", ""};
    variants[9].rules[0].action = SeccompAction::log;
    variants[10].rules[0].errno_ret = 0;
    variants[11].rules[0].args = {};
    variants[12].rules[0].args[0].index = 1;
    variants[13].rules[0].args[0].value = uint64_t{1} << 40;
    variants[14].rules[0].args[0].value_two = 1;
    variants[15].rules[0].args[0].op = SeccompOperator::masked_equal;

    std::set<std::string> keys = {
        seccomp::cache_key(base, {.library_version = "2.5.5", .machine = "x86_64"}),
        seccomp::cache_key(base, {.library_version = "2.5.4", .machine = "aarch64"})};
    std::set<std::string> names = {};
    for (const config::Seccomp& variant : variants) {
        keys.insert(seccomp::cache_key(variant, {.library_version = "2.5.4", .machine = "x86_64"}));
    }
    for (const std::string& key : keys)
        names.insert(seccomp::entry_name(key));

    CHECK(keys.size() == 18);
    CHECK(names.size() == 18);
}

// A cache entry as bytes: one compiled filter together with everything that it was compiled from.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "config/seccomp.hpp"
#include "seccomp/compile.hpp"

namespace rung::seccomp {

// What a filter depends on beside the profile.
struct Toolchain {
    std::string library_version = {};  // libseccomp's, "2.5.4"
    std::string machine = {};          // uname(2)'s, "x86_64"
};

// Two profiles that differ in any field have different keys (crun#2237).
std::string cache_key(const config::Seccomp& profile, const Toolchain& toolchain);

// 16 hexadecimal digits: a hash, so two keys may share a name; decode_entry tells them apart.
std::string entry_name(std::string_view key);

std::string encode_entry(std::string_view key, const Compiled& compiled);

// Nothing unless `bytes` is whole, undamaged and made for exactly `key`.
std::optional<Compiled> decode_entry(std::string_view bytes, std::string_view key);

}  // namespace rung::seccomp

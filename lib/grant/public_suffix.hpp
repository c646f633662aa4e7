// Names directly beneath which strangers have names of their own, by the Public Suffix List as it was when rung was built.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace rung::grant {

// "com", "co.uk", "github.io"; a top-level domain that the list does not know is one too. `name` is lower-case ASCII.
bool is_public_suffix(std::string_view name);

// One that lies beneath `name`, such as "s3.amazonaws.com" for "amazonaws.com".
std::optional<std::string> public_suffix_beneath(std::string_view name);

}  // namespace rung::grant

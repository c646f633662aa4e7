// The flags of `update` as resources.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>

#include "base/result.hpp"
#include "config/resources.hpp"

namespace rung::cli {

// "64M", "1.5g", "512kb", "1 GiB": bytes, with units of 1024; "-1" stays -1.
Result<int64_t> parse_bytes(const std::string& text);

// By the flags' names, without "--". What is not named stays unset.
Result<config::Resources> resources_of(const std::map<std::string, std::string>& limits);

}  // namespace rung::cli

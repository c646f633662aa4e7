// From YAML or JSON text to a Grant, strictly: unknown fields, duplicate keys and YAML's cleverness are
// refused.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "base/result.hpp"
#include "grant/grant.hpp"

namespace rung::grant {

// Limits: 64 KiB, depth 8, 256 paths, 256 egress rules, strict UTF-8. The error's `reason` is one of the
// admission codes (grant_parse_error, grant_duplicate_key, grant_unknown_field, grant_version_unsupported,
// grant_too_large, path_not_absolute, path_traversal, host_pattern_invalid, capability_unknown ...); its
// message reads "CODE: FIELD: what is wrong", with the line and column where the parser knows them.
Result<Grant> parse_grant(std::string_view text);

// "64Mi" -> bytes, "500m" -> thousandths of a CPU: Kubernetes quantities as the schema restricts them.
Result<uint64_t> parse_bytes(std::string_view text);
Result<uint64_t> parse_cpu_milli(std::string_view text);

}  // namespace rung::grant

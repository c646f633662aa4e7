// The readers of a grant and of its sections, each from a field of the tree to its value.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>
#include <vector>

#include "grant/field.hpp"
#include "grant/grant.hpp"

namespace rung::grant {

// That `field` is a map whose member `name` is "1". Comes before anything else: the other fields of another
// version mean nothing to us.
Status check_version(const Field& field, std::string_view name);
Result<Grant> read_grant(const Field& field);

Result<Metadata> read_metadata(const Field& field);
Result<Filesystem> read_filesystem(const Field& field);
Result<std::vector<Tool>> read_tools(const Field& field);
Result<Network> read_network(const Field& field);
Result<uint64_t> read_capabilities(const Field& field);
Result<std::vector<std::string>> read_devices(const Field& field);
Result<std::vector<Secret>> read_secrets(const Field& field);
Result<Limits> read_limits(const Field& field);
Result<Budgets> read_budgets(const Field& field);

}  // namespace rung::grant

// The one text that stands for a grant, and its digest: by it audit, state and orchestrators name a grant.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "grant/grant.hpp"

namespace rung::grant {

// RFC 8785 JSON of the normalized grant, which parse_grant() reads back (unless a meet came to a tool with a digest and without, or to more
// entries than a text may have): the same for YAML and JSON, for any order of keys and list
// entries, and for quantities and times that are written in different ways.
std::string canonical_json(const Grant& grant);

// "sha256:" and the digest of canonical_json().
std::string digest(const Grant& grant);

// The canonical text of one rule, of a quantity of bytes ("64Mi") and of CPUs ("500m").
std::string rule_text(const EgressRule& rule);
std::string bytes_text(uint64_t bytes);
std::string cpu_text(uint64_t milli);

}  // namespace rung::grant

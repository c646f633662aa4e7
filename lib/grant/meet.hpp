// The meet of grants: what every one of several sources allows.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/result.hpp"
#include "grant/grant.hpp"

namespace rung::grant {

// Commutative, associative, idempotent; never allows what either side denies. Lists come out sorted, without
// duplicates and without entries that a wider one makes redundant. (What a readable image makes redundant
// stays listed: it names mounts.)
Grant meet(const Grant& one, const Grant& other);

// The same grant in the form meet() returns it.
Grant normalized(const Grant& grant);

}  // namespace rung::grant

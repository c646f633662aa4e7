// The meet of grants: what every one of several sources allows.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/result.hpp"
#include "grant/grant.hpp"

namespace rung::grant {

// Commutative, associative, idempotent; never allows what either side denies. Lists come out sorted and without
// duplicates, so that equal meanings are equal values.
Grant meet(const Grant& left, const Grant& right);

// The same grant in the form meet() returns it.
Grant normalized(const Grant& grant);

}  // namespace rung::grant

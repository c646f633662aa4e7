// What `update` may change of a container under a grant.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/result.hpp"
#include "config/resources.hpp"
#include "grant/grant.hpp"

namespace rung::plan {

// `asked` as it is to be written, or an error with the reason exceeds_grant ("exceeds_grant: limits.memory: ..."): what is wider than the grant is
// refused rather than lowered, so that an engine does not believe what does not hold. `current` has the quota and period of now, which an
// update that names one of them keeps for the other.
Result<config::Resources> within_limits(const grant::Limits& limits, const config::Resources& asked,
                                        const config::CpuResources& current);

}  // namespace rung::plan

// Random grants from a seed: small alphabets, so that two of them overlap, nest and contradict each other
// often.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <random>

#include "grant/grant.hpp"

namespace rung::property {

grant::Grant random_grant(std::mt19937& random);

}  // namespace rung::property

// What this binary is made of.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace rung::cli {

std::string rung_version();
std::string commit();              // "unknown" outside a git checkout
std::string spec_version();        // the runtime specification's
std::string libseccomp_version();  // the one linked in

}  // namespace rung::cli

// Keeping rung's own executable out of a container's reach (CVE-2019-5736).
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/result.hpp"

namespace rung::cli {

// True for the verbs whose process, or a clone of it, enters a container. Cheap and generous: it looks for the word anywhere.
bool may_enter_container(int argc, char* const* argv);

// Returns when this very process executes something that nobody can open for writing. Otherwise it executes itself again, from such a
// copy, with the same arguments and environment, and does not return.
Status protect_self(char* const* argv);

}  // namespace rung::cli

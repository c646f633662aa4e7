// One function per verb, each in a file of its own: from the parsed options to the exit code.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/result.hpp"
#include "options.hpp"
#include "runtime/runtime.hpp"

namespace rung::cli {

Result<int> perform(const runtime::Globals& globals, const Create& verb);
Result<int> perform(const runtime::Globals& globals, const Run& verb);
Result<int> perform(const runtime::Globals& globals, const Start& verb);
Result<int> perform(const runtime::Globals& globals, const State& verb);
Result<int> perform(const runtime::Globals& globals, const Kill& verb);
Result<int> perform(const runtime::Globals& globals, const Delete& verb);
Result<int> perform(const runtime::Globals& globals, const Pause& verb);
Result<int> perform(const runtime::Globals& globals, const Resume& verb);
Result<int> perform(const runtime::Globals& globals, const Ps& verb);
Result<int> perform(const runtime::Globals& globals, const Update& verb);
Result<int> perform(const runtime::Globals& globals, const Events& verb);
Result<int> perform(const runtime::Globals& globals, const Exec& verb);
Result<int> perform(const runtime::Globals& globals, const List& verb);
Result<int> perform(const runtime::Globals& globals, const Spec& verb);
Result<int> perform(const runtime::Globals& globals, const Features& verb);
Result<int> perform(const runtime::Globals& globals, const Mounts& verb);
Result<int> perform(const runtime::Globals& globals, const Wait& verb);
Result<int> perform(const runtime::Globals& globals, const Do& verb);
Result<int> perform(const runtime::Globals& globals, const Checkpoint& verb);
Result<int> perform(const runtime::Globals& globals, const Restore& verb);
Result<int> perform(const runtime::Globals& globals, const Plan& verb);
Result<int> perform(const runtime::Globals& globals, const GrantDocuments& verb);
Result<int> perform(const runtime::Globals& globals, const Doctor& verb);
Result<int> perform(const runtime::Globals& globals, const Version& verb);
Result<int> perform(const runtime::Globals& globals, const Help& verb);
Result<int> perform(const runtime::Globals& globals, const Unknown& verb);

}  // namespace rung::cli

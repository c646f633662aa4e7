// What a host can enforce, asked of the code that refuses what it cannot.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "base/result.hpp"
#include "grant/grant.hpp"
#include "kernel/host_facts.hpp"

namespace rung::plan {

struct Ability {
    std::string field = {};    // of the grant
    std::string missing = {};  // empty: it can be enforced
    bool operator==(const Ability&) const = default;
};

// Every field of a grant that needs something of the host or of this build, in the order of the contract.
std::vector<Ability> abilities_of(const kernel::HostFacts& host);

// That this host could enforce all of the grant, whatever container it is for: else grant_unenforceable, or grant_unrunnable where it runs nothing.
Status check_host(const grant::Grant& grant, const kernel::HostFacts& host);

}  // namespace rung::plan

// Ceiling: the most that any container of this host may have, whatever its grants say (schema ceiling-v1, /etc/rung/ceiling.yaml).
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "grant/cidr.hpp"
#include "grant/grant.hpp"

namespace rung::grant {

// Where a grant may come from.
enum class Origin { annotation, runtime_args, dropbox, bundle, environment };

// `granting`: a container may start under it. `only_signed`: as granting, with a signature. `narrowing`: it narrows what another source
// grants and grants nothing by itself. `ignored`: not read.
enum class Trust { ignored, narrowing, only_signed, granting };

struct TrustTable {
    Trust annotation = Trust::granting;
    Trust runtime_args = Trust::granting;
    Trust dropbox = Trust::granting;
    Trust bundle = Trust::granting;
    Trust environment = Trust::ignored;
    std::vector<std::string> keys = {};
    Trust of(Origin origin) const;
    bool operator==(const TrustTable&) const = default;
};

struct Requirements {
    bool landlock = true;
    uint64_t landlock_abi = 1;  // at least
    bool operator==(const Requirements&) const = default;
};

// Which containers a rule is for; a list that is absent is for all. '*' in a name stands for any characters.
struct Match {
    std::optional<std::vector<std::string>> namespaces = {};
    std::optional<std::vector<std::string>> handlers = {};
    std::optional<std::vector<uint64_t>> uids = {};
    bool operator==(const Match&) const = default;
};

struct CeilingRule {
    Match match = {};
    Grant ceiling = {};
    bool operator==(const CeilingRule&) const = default;
};

enum class OnExceed { narrow, reject };

struct Ceiling {
    // The name of the grant, in /etc/rung/grants, for a container that brings none; absent: such a container does not start.
    std::optional<std::string> default_grant = {};
    OnExceed on_exceed = OnExceed::narrow;
    TrustTable trust = {};
    Requirements requirements = {};
    std::vector<Cidr> blocked_ranges = {};  // never reachable, beside those that no grant opens
    std::vector<CeilingRule> rules = {};
    bool operator==(const Ceiling&) const = default;
};

// As strict as parse_grant(), with the same reason codes; a rule's grant keeps a grant's limits.
Result<Ceiling> parse_ceiling(std::string_view text);

struct Caller {
    std::string k8s_namespace = {};  // empty: none is known, and a rule that asks for one does not match
    std::string handler = {};        // how the engine calls this runtime
    uint64_t uid = 0;                // of whoever runs rung
};

// The index of the first rule that is for the caller's container.
std::optional<std::size_t> matching_rule(const Ceiling& ceiling, const Caller& caller);

// The rule's grant, without what names a task, and without what the ceiling blocks.
Grant ceiling_grant(const Ceiling& ceiling, std::size_t rule);

}  // namespace rung::grant

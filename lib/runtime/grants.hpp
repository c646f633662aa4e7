// Where grants and the ceiling come from, and what they together allow (grant-v1, "Where a grant comes from").
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "grant/layers.hpp"
#include "runtime/state.hpp"

namespace rung::runtime {

// What only the host's root writes.
struct HostGrants {
    std::string ceiling = "/etc/rung/ceiling.yaml";
    std::string named = "/etc/rung/grants";       // NAME.yaml or NAME.json
    std::string drop_box = "/run/rung/grants.d";  // ID.json
};

struct GrantPlaces {
    std::string id = {};                          // the container's, for the drop box
    std::vector<std::string> runtime_files = {};  // --grant before the verb: an engine's runtimeArgs
    std::vector<std::string> files = {};          // --grant of the verb
    std::string bundle = {};                      // grant.json beside config.json
    std::map<std::string, std::string> annotations = {};
    std::vector<std::string> environment = {};  // the container's, for RUNG_GRANT
    std::string handler = {};                   // how the engine calls this runtime, for the ceiling's rules
    HostGrants host = {};
};

// Every text that counts, the ceiling last. What a source must not be trusted for, an unknown dev.rung.* annotation, a ceiling that has no
// rule for this container, and a container without a grant where the ceiling wants one are errors.
Result<std::vector<GrantSource>> collect_grants(const GrantPlaces& places);

// What the sources together allow. The error names the source.
Result<grant::Effective> meet_sources(const std::vector<GrantSource>& sources);
Result<std::optional<grant::Grant>> meet_grants(const std::vector<GrantSource>& sources);

// A pod's containers stay within what its sandbox was created under, also when its annotations have changed since: else grant_conflict.
Status check_within_sandbox(const State& sandbox, const std::string& container,
                            const grant::Effective& effective);

// That the drop box holds nothing that should have narrowed a created container and did not: else grant_conflict.
Status check_drop_box(const State& state, const HostGrants& host);

}  // namespace rung::runtime

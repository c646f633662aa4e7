// Where grants come from, and the one grant that all present sources together allow (grant-v1, "Where a grant comes from").
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/fd.hpp"
#include "base/result.hpp"
#include "grant/grant.hpp"
#include "runtime/state.hpp"

namespace rung::runtime {

struct GrantPlaces {
    std::string id = {};                  // the container's, for the drop box
    std::vector<std::string> files = {};  // --grant, global and of the verb
    std::string bundle = {};              // grant.json beside config.json
    std::map<std::string, std::string> annotations = {};
};

// The texts, in no order that matters. An unknown or unsupported dev.rung.* annotation is an error, as is a host ceiling that
// this build would not apply: neither may be passed over in silence.
Result<std::vector<GrantSource>> collect_grants(const GrantPlaces& places);

// The meet of all sources; nothing when there is none. The error names the source.
Result<std::optional<grant::Grant>> meet_grants(const std::vector<GrantSource>& sources);

}  // namespace rung::runtime

// The layers of one container, the ceiling and every grant, met; and who took what from whom.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "grant/ceiling.hpp"
#include "grant/grant.hpp"

namespace rung::grant {

struct Layer {
    std::string name = {};  // "annotation dev.rung.grant", "/etc/rung/ceiling.yaml rule 2"
    Grant grant = {};
};

// What one layer asked for in one field and another does not allow.
struct Narrowed {
    std::string field = {};
    std::string asked = {};
    std::string effective = {};  // of these two layers
    std::string asked_by = {};
    std::string denied_by = {};  // the layer's name
    bool by_ceiling = false;
    bool operator==(const Narrowed&) const = default;
};

struct Layers {
    std::vector<Layer> grants = {};
    std::optional<Layer> ceiling = {};
    OnExceed on_exceed = OnExceed::narrow;
    // What the ceiling asks of the host.
    Requirements requirements = {.landlock = false};
    std::vector<Cidr> blocked_ranges = {};
};

struct Effective {
    std::optional<Grant> grant = {};            // of all layers; nothing: there is none
    std::optional<Grant> without_ceiling = {};  // of the grants alone
    std::vector<Narrowed> narrowed = {};
    Requirements requirements = {.landlock = false};
    std::vector<Cidr> blocked_ranges = {};
};

// Fails with exceeds_ceiling where the ceiling rejects what is more than it allows.
Result<Effective> meet_layers(const Layers& layers);

// What `grant` asks for and `other` does not allow, by field. A field that `grant` leaves open is no loss when `other` fills it.
std::vector<Narrowed> losses(const Grant& grant, const Grant& other);

// True when everything that `narrower` allows and keeps to, `wider` allows as well; names do not matter.
bool is_within(const Grant& narrower, const Grant& wider);

}  // namespace rung::grant

// The meet of all layers is a fold; what each one lost comes from comparing layers by pairs, so that the order of sources does not decide
// who is named.
// SPDX-License-Identifier: Apache-2.0
#include "grant/layers.hpp"

#include <set>

#include "grant/meet.hpp"

namespace rung::grant {

namespace {

std::string names_of_fields(const std::vector<Narrowed>& losses) {
    std::string names;
    std::set<std::string> seen;
    for (const Narrowed& loss : losses) {
        if (seen.insert(loss.field).second) names += (names.empty() ? "" : ", ") + loss.field;
    }
    return names;
}

// Each what `asking` loses to `denying`.
void record(std::vector<Narrowed>& all, const Layer& asking, const Layer& denying, bool by_ceiling) {
    for (Narrowed& loss : losses(asking.grant, denying.grant)) {
        loss.asked_by = asking.name;
        loss.denied_by = denying.name;
        loss.by_ceiling = by_ceiling;
        all.push_back(std::move(loss));
    }
}

Grant nameless(Grant grant) {
    grant.metadata = {.not_before = grant.metadata.not_before, .expires_at = grant.metadata.expires_at};
    return normalized(grant);
}

}  // namespace

Result<Effective> meet_layers(const Layers& layers) {
    Effective effective{.requirements = layers.requirements, .blocked_ranges = layers.blocked_ranges};
    for (const Layer& layer : layers.grants) {
        effective.without_ceiling = effective.without_ceiling ? meet(*effective.without_ceiling, layer.grant)
                                                              : normalized(layer.grant);
        for (const Layer& other : layers.grants) {
            if (&other != &layer) record(effective.narrowed, layer, other, false);
        }
    }
    effective.grant = effective.without_ceiling;
    if (!layers.ceiling || !effective.grant) return effective;

    std::vector<Narrowed> exceeding;
    for (const Layer& layer : layers.grants)
        record(exceeding, layer, *layers.ceiling, true);
    if (!exceeding.empty() && layers.on_exceed == OnExceed::reject) {
        return Error{.message = "exceeds_ceiling: " + names_of_fields(exceeding) +
                                ": more is asked for than " + layers.ceiling->name + " allows",
                     .reason = "exceeds_ceiling"};
    }
    effective.narrowed.insert(effective.narrowed.end(), exceeding.begin(), exceeding.end());
    effective.grant = meet(*effective.grant, layers.ceiling->grant);
    return effective;
}

bool is_within(const Grant& narrower, const Grant& wider) {
    return nameless(meet(narrower, wider)) == nameless(narrower);
}

}  // namespace rung::grant

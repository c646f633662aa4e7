// The plan under a ceiling and several grants: the plan of their meet, with each narrowing laid to the layer that made it.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "plan/make.hpp"
#include "plan/narrow.hpp"

namespace rung::plan {
namespace {

Status check_requirements(const grant::Requirements& wanted, const kernel::HostFacts& host) {
    if (!wanted.landlock) return {};
    if (host.landlock_abi >= 0 && static_cast<uint64_t>(host.landlock_abi) >= wanted.landlock_abi) return {};
    const std::string found =
        host.landlock_abi > 0 ? "only ABI " + std::to_string(host.landlock_abi) : "none";
    return unenforceable("requirements.landlock", "the ceiling requires Landlock ABI " +
                                                      std::to_string(wanted.landlock_abi) +
                                                      ", this kernel has " + found);
}

// Without the ceiling it would not be there, or be another.
void name_ceiling(SandboxPlan& plan, const Result<SandboxPlan>& without) {
    for (Narrowing& narrowing : plan.narrowings) {
        if (narrowing.layer != "grant") continue;
        const bool there_anyway = without && std::find(without->narrowings.begin(), without->narrowings.end(),
                                                       narrowing) != without->narrowings.end();
        if (!there_anyway) narrowing.layer = "ceiling";
    }
}

}  // namespace

Result<SandboxPlan> make_under_layers(const config::Spec& spec, const grant::Effective& effective,
                                      const kernel::HostFacts& host, int64_t now, const ImageFacts& image) {
    TRY(check_requirements(effective.requirements, host));
    SandboxPlan plan = TRY(make(spec, effective.grant, host, now, image));
    if (effective.grant && effective.without_ceiling != effective.grant) {
        // Only what was looked up in the image can be planned: what a ceiling takes of files and tools is told below, by the layers.
        grant::Grant alone = *effective.without_ceiling;
        alone.filesystem = effective.grant->filesystem;
        alone.tools = effective.grant->tools;
        name_ceiling(plan, make(spec, alone, host, now, image));
    }
    for (const grant::Narrowed& narrowed : effective.narrowed) {
        plan.narrowings.push_back(
            {.field = narrowed.field,
             .asked = narrowed.asked,
             .effective = narrowed.effective,
             .layer = narrowed.by_ceiling ? "ceiling" : "grant",
             .reason = narrowed.asked_by + " asks for it, " + narrowed.denied_by + " does not allow it"});
    }
    return plan;
}

}  // namespace rung::plan

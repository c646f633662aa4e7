// `rung plan --json`: the same facts for programs, with numbers as numbers where a program compares them.
// SPDX-License-Identifier: Apache-2.0
#include <nlohmann/json.hpp>

#include "config/capability.hpp"
#include "plan/facts.hpp"
#include "plan/make.hpp"

namespace rung::plan {
namespace {

using nlohmann::ordered_json;

ordered_json capabilities_json(const config::Capabilities& sets) {
    return {{"bounding", config::capability_names(sets.bounding)},
            {"effective", config::capability_names(sets.effective)},
            {"permitted", config::capability_names(sets.permitted)},
            {"inheritable", config::capability_names(sets.inheritable)},
            {"ambient", config::capability_names(sets.ambient)}};
}

ordered_json process_json(const config::Process& process) {
    ordered_json rlimits = ordered_json::array();
    for (const config::Rlimit& limit : process.rlimits) {
        rlimits.push_back({{"resource", limit.resource}, {"soft", limit.soft}, {"hard", limit.hard}});
    }
    return {{"args", process.args},
            {"cwd", process.cwd},
            {"uid", process.user.uid},
            {"gid", process.user.gid},
            {"additionalGids", process.user.additional_gids},
            {"terminal", process.terminal},
            {"noNewPrivileges", process.no_new_privileges},
            {"capabilities", capabilities_json(process.capabilities.value_or(config::Capabilities{}))},
            {"rlimits", rlimits}};
}

ordered_json filesystem_json(const SandboxPlan& plan) {
    ordered_json mounts = ordered_json::array();
    for (const config::Mount& mount : plan.spec.mounts) {
        mounts.push_back({{"destination", mount.destination},
                          {"type", mount.type},
                          {"source", mount.source},
                          {"options", mount.options}});
    }
    ordered_json writable = ordered_json::array();
    for (const Slice& slice : plan.slices)
        writable.push_back({{"path", slice.path}, {"mount", slice.mount}});
    ordered_json rules = ordered_json::array();
    for (const child::FileRule& rule : plan.files.rules)
        rules.push_back({{"path", rule.path}, {"access", access_text(rule.access)}});
    return {{"rootReadonly", plan.spec.root.read_only},
            {"mounts", mounts},
            {"writablePieces", writable},
            {"landlock", rules},
            {"pinnedPaths", plan.pinned},
            {"readonlyPaths", plan.spec.linux_.readonly_paths},
            {"maskedPaths", plan.spec.linux_.masked_paths}};
}

template <typename T>
ordered_json or_null(const std::optional<T>& value) {
    return value ? ordered_json(*value) : ordered_json(nullptr);
}

ordered_json resources_json(const config::Resources& resources) {
    return {{"memoryLimit", or_null(resources.memory.limit)},
            {"memorySwap", or_null(resources.memory.swap)},
            {"cpuQuota", or_null(resources.cpu.quota)},
            {"cpuPeriod", or_null(resources.cpu.period)},
            {"cpuShares", or_null(resources.cpu.shares)},
            {"pidsLimit", or_null(resources.pids_limit)},
            {"unified", resources.unified}};
}

ordered_json namespaces_json(const SandboxPlan& plan) {
    ordered_json namespaces = ordered_json::array();
    for (const config::Namespace& each : plan.spec.linux_.namespaces) {
        namespaces.push_back({{"type", namespace_name(each.type)}, {"path", each.path}});
    }
    return namespaces;
}

ordered_json narrowings_json(const std::vector<Narrowing>& narrowings) {
    ordered_json list = ordered_json::array();
    for (const Narrowing& narrowing : narrowings) {
        list.push_back({{"field", narrowing.field},
                        {"asked", narrowing.asked},
                        {"effective", narrowing.effective},
                        {"layer", narrowing.layer},
                        {"reason", narrowing.reason}});
    }
    return list;
}

}  // namespace

std::string print_json(const SandboxPlan& plan) {
    const ordered_json document = {
        {"granted", plan.granted},
        {"process", process_json(plan.spec.process)},
        {"filesystem", filesystem_json(plan)},
        {"namespaces", namespaces_json(plan)},
        {"network",
         {{"onlyLoopback", plan.routeless_network}, {"hooksSeeEngineNetwork", plan.keep_engine_network}}},
        {"resources", resources_json(plan.spec.linux_.resources)},
        {"seccomp",
         {{"profiles", plan.seccomp_profiles},
          {"config", plan.spec.linux_.seccomp.has_value()},
          {"memfdNoexec", plan.memfd_noexec}}},
        {"narrowings", narrowings_json(plan.narrowings)}};
    return document.dump(2, ' ', false, ordered_json::error_handler_t::replace) + "\n";
}

}  // namespace rung::plan

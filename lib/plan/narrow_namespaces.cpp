// Under a grant the container shares no namespace with the host, and its network has no way out.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <utility>

#include "plan/make.hpp"
#include "plan/narrow.hpp"

namespace rung::plan {
namespace {

using config::NamespaceType;

constexpr std::array<std::pair<NamespaceType, const char*>, 6> kRequired = {
    {{NamespaceType::mount, "mount"},
     {NamespaceType::pid, "pid"},
     {NamespaceType::network, "network"},
     {NamespaceType::ipc, "ipc"},
     {NamespaceType::uts, "uts"},
     {NamespaceType::cgroup, "cgroup"}}};

bool has_hooks_inside(const config::Hooks& hooks) {
    return !hooks.prestart.empty() || !hooks.create_runtime.empty() || !hooks.create_container.empty();
}

void leave_only_loopback(SandboxPlan& plan, const std::string& layer, const std::string& reason) {
    auto& namespaces = plan.spec.linux_.namespaces;
    plan.routeless_network = true;
    const auto network =
        std::find_if(namespaces.begin(), namespaces.end(),
                     [](const config::Namespace& each) { return each.type == NamespaceType::network; });
    std::string asked = "the host's";
    if (network != namespaces.end()) {
        asked = network->path.empty() ? "a new one, set up by the engine" : network->path;
        plan.keep_engine_network = network->path.empty() && has_hooks_inside(plan.spec.hooks);
        network->path.clear();
    } else {
        namespaces.push_back({.type = NamespaceType::network});
    }
    plan.narrowings.push_back({.field = "linux.namespaces[network]",
                               .asked = asked,
                               .effective = "a new one with only lo",
                               .layer = layer,
                               .reason = reason});
    auto& devices = plan.spec.linux_.net_devices;
    if (devices.empty()) return;
    std::vector<std::string> names;
    for (const auto& [name, inside] : devices)
        names.push_back(name);
    plan.narrowings.push_back({.field = "linux.netDevices",
                               .asked = list_text(names),
                               .effective = "none",
                               .layer = layer,
                               .reason = reason});
    devices.clear();
}

}  // namespace

void narrow_network(SandboxPlan& plan) {
    leave_only_loopback(plan, "grant", "the grant has no network.egress");
}

void cut_network(SandboxPlan& plan) {
    if (!plan.routeless_network) leave_only_loopback(plan, "option", "--network=none");
}

void narrow_namespaces(SandboxPlan& plan) {
    for (const auto& [type, name] : kRequired) {
        if (plan.spec.has_namespace(type)) continue;
        plan.spec.linux_.namespaces.push_back({.type = type});
        plan.narrowings.push_back({.field = std::string("linux.namespaces[") + name + "]",
                                   .asked = "the host's",
                                   .effective = "a new one",
                                   .layer = "builtin",
                                   .reason = "a task with a grant shares no namespace with the host"});
    }
}

}  // namespace rung::plan

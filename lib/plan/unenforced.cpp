// What a grant may say and this build or this host cannot enforce. Saying nothing about it would be a promise, so creating fails.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "plan/narrow.hpp"

namespace rung::plan {
namespace {

using grant::Grant;
using kernel::CgroupLayout;
using kernel::HostFacts;

std::string executable(const config::Spec& spec) {
    return spec.process.args.empty() ? "the process" : "\"" + spec.process.args.front() + "\"";
}

Status needs_landlock(const HostFacts& host, std::string_view field) {
    if (host.landlock_abi > 0) return {};
    return unenforceable(field,
                         "this kernel has no Landlock (its name is missing in /sys/kernel/security/lsm)");
}

Status check_tools(const config::Spec& spec, const Grant& grant, const HostFacts& host) {
    if (!grant.tools || grant.tools->empty()) {
        return Error{.message = "grant_unrunnable: tools: the grant lists none, so " + executable(spec) +
                                " may not be executed",
                     .reason = "grant_unrunnable"};
    }
    const bool pinned = std::any_of(grant.tools->begin(), grant.tools->end(),
                                    [](const grant::Tool& tool) { return !tool.sha256.empty(); });
    if (pinned) return unenforceable("tools.sha256", "this build compares no digests");
    return grants_every_program(grant) ? Status{} : needs_landlock(host, "tools");
}

Status check_filesystem(const Grant& grant, const HostFacts& host) {
    const grant::Filesystem filesystem = grant.filesystem.value_or(grant::Filesystem{});
    if (filesystem.rootfs == grant::RootfsAccess::read_only) return {};
    return needs_landlock(host, "filesystem.rootfs");
}

Status check_outside(const Grant& grant) {
    const grant::Network network = grant.network.value_or(grant::Network{});
    if (!network.egress.empty()) {
        return unenforceable("network.egress",
                             "this build has no warden to relay connections; without egress the "
                             "workload gets a network of its own with only lo");
    }
    if (!network.ingress_ports.empty()) {
        return unenforceable("network.ingress", "this build has no warden to relay connections");
    }
    if (grant.devices && !grant.devices->empty()) {
        return unenforceable("devices", "this build does not resolve CDI names");
    }
    if (!grant.secrets.empty()) return unenforceable("secrets", "this build has no warden to insert them");
    if (grant.isolation != grant::Isolation::container) {
        return unenforceable("isolation.minimum", "this build runs containers only");
    }
    return {};
}

Status check_budgets(const Grant& grant) {
    const grant::Budgets budgets = grant.budgets.value_or(grant::Budgets{});
    if (budgets.active_deadline_seconds) {
        return unenforceable("budgets.activeDeadlineSeconds", "this build has no warden to keep the time");
    }
    if (budgets.max_ops)
        return unenforceable("budgets.maxOps", "this build has no warden to count operations");
    if (!budgets.counted_ops.empty()) {
        return unenforceable("budgets.countedOps", "this build has no warden to count operations");
    }
    if (budgets.max_output_bytes) {
        return unenforceable("budgets.maxOutputBytes", "this build has no warden to meter the output");
    }
    if (budgets.max_egress_bytes) {
        return unenforceable("budgets.maxEgressBytes", "this build has no warden to meter connections");
    }
    if (grant.termination_grace_seconds) {
        return unenforceable("terminationGracePeriodSeconds",
                             "this build has no deadline that it could follow");
    }
    return {};
}

Status check_audit(const Grant& grant) {
    if (grant.audit_level) return unenforceable("audit.level", "this build writes no audit log");
    if (grant.audit_feedback) return unenforceable("audit.feedback", "this build writes no audit log");
    return {};
}

// cgroup v2 tells its controllers only in the cgroup itself: there the limit's own write decides.
Status check_controller(const kernel::CgroupFacts& facts, std::string_view field,
                        std::string_view controller) {
    if (facts.layout == CgroupLayout::none) return unenforceable(field, "no cgroup file system is mounted");
    if (facts.layout == CgroupLayout::v2) return {};
    for (const kernel::CgroupMount& hierarchy : facts.hierarchies) {
        for (const std::string& name : hierarchy.controllers) {
            if (name == controller) return {};
        }
    }
    return unenforceable(
        field, "no cgroup hierarchy with the controller \"" + std::string(controller) + "\" is mounted");
}

Status check_limits(const grant::Limits& limits, const HostFacts& host) {
    if (limits.memory) TRY(check_controller(host.cgroup, "limits.memory", "memory"));
    if (limits.cpu_milli) TRY(check_controller(host.cgroup, "limits.cpu", "cpu"));
    if (limits.pids) TRY(check_controller(host.cgroup, "limits.pids", "pids"));
    if (limits.ephemeral_storage) {
        return unenforceable("limits.ephemeralStorage", "this build has no quota for writable image layers");
    }
    return {};
}

Status check_namespaces(const config::Spec& spec) {
    const config::Namespace* mounts = spec.find_namespace(config::NamespaceType::mount);
    if (mounts != nullptr && !mounts->path.empty()) {
        return unenforceable("filesystem", "config.json joins the mount namespace " + mounts->path +
                                               ", whose mounts other processes use");
    }
    return {};
}

}  // namespace

Error unenforceable(std::string_view field, std::string_view what) {
    return Error{.message = "grant_unenforceable: " + std::string(field) + ": " + std::string(what),
                 .reason = "grant_unenforceable"};
}

Status check_enforceable(const config::Spec& spec, const Grant& grant, const HostFacts& host) {
    TRY(check_tools(spec, grant, host));
    TRY(check_filesystem(grant, host));
    TRY(check_outside(grant));
    TRY(check_budgets(grant));
    TRY(check_audit(grant));
    TRY(check_limits(grant.limits, host));
    TRY(check_namespaces(spec));
    if (spec.linux_.seccomp && !spec.linux_.seccomp->listener_path.empty()) {
        return unenforceable("linux.seccomp.listenerPath",
                             "an agent could open for the workload what the grant does not name");
    }
    if (!host.seccomp) return unenforceable("seccomp.profile", "this kernel has no seccomp filters");
    return {};
}

}  // namespace rung::plan

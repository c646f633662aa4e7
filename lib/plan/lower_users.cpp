// User namespaces: which ids exist in a new one, and who may write them down.
// SPDX-License-Identifier: Apache-2.0
#include "plan/draft.hpp"

namespace rung::plan {
namespace {

using config::IdMapping;
using config::NamespaceType;

constexpr uint64_t kCapSetgid = 1ULL << 6;
constexpr uint64_t kCapSetuid = 1ULL << 7;
constexpr uint64_t kCapSysAdmin = 1ULL << 21;

bool maps(const std::vector<IdMapping>& mappings, uint32_t id) {
    return config::host_id(mappings, id).has_value();
}

// What user_namespaces(7) lets a process without CAP_SETUID or CAP_SETGID write.
bool maps_only(const std::vector<IdMapping>& mappings, uint32_t own_id) {
    return mappings.size() == 1 && mappings.front().size == 1 && mappings.front().host_id == own_id;
}

MapWriter writer_of(const std::vector<IdMapping>& mappings, uint32_t own_id, bool privileged) {
    return privileged || maps_only(mappings, own_id) ? MapWriter::parent : MapWriter::tool;
}

}  // namespace

void plan_id_maps(Draft& draft) {
    Lowered& lowered = draft.lowered;
    lowered.maps_users = has_new_user_namespace(draft.plan);
    if (!lowered.maps_users) return;

    const config::Linux& linux_config = draft.plan.spec.linux_;
    const uint64_t held = draft.host.effective_capabilities;
    const bool maps_groups = (held & kCapSetgid) != 0;
    lowered.uid_map_writer =
        writer_of(linux_config.uid_mappings, draft.host.effective_uid, (held & kCapSetuid) != 0);
    lowered.gid_map_writer = writer_of(linux_config.gid_mappings, draft.host.effective_gid, maps_groups);
    // Or dropping a group, and with it what was forbidden to that group, would be a way to get at it (CVE-2014-8989).
    lowered.denies_setgroups = !maps_groups && lowered.gid_map_writer == MapWriter::parent;
}

// podman's --group-add keep-groups. An image of podman's may bring the annotation, so a grant is never widened by it.
bool keeps_groups(const SandboxPlan& plan) {
    const auto found = plan.spec.annotations.find("run.oci.keep_original_groups");
    return !plan.granted && found != plan.spec.annotations.end() && found->second != "0";
}

child::BecomeNamespaceRoot namespace_root(const SandboxPlan& plan, const config::User& user,
                                          const kernel::HostFacts& host) {
    child::BecomeNamespaceRoot root{.keep_groups = host.effective_uid != 0 || keeps_groups(plan)};
    if (!has_new_user_namespace(plan)) return root;
    if (!maps(plan.spec.linux_.uid_mappings, 0)) root.uid = user.uid;
    if (!maps(plan.spec.linux_.gid_mappings, 0)) root.gid = user.gid;
    return root;
}

Status check_ids(const SandboxPlan& plan, const config::User& user) {
    if (!has_new_user_namespace(plan)) return {};
    const config::Linux& linux_config = plan.spec.linux_;
    if (!maps(linux_config.uid_mappings, user.uid)) {
        return Error{.message = "process.user.uid " + std::to_string(user.uid) +
                                ": cannot set uid to unmapped user in user namespace"};
    }
    if (!maps(linux_config.gid_mappings, user.gid)) {
        return Error{.message = "process.user.gid " + std::to_string(user.gid) +
                                ": cannot set gid to unmapped user in user namespace"};
    }
    for (const uint32_t gid : user.additional_gids) {
        if (maps(linux_config.gid_mappings, gid)) continue;
        return Error{.message = "process.user.additionalGids " + std::to_string(gid) +
                                ": cannot set gid to unmapped user in user namespace"};
    }
    return {};
}

Status check_users(const Draft& draft) {
    const bool has_user_namespace = draft.plan.spec.has_namespace(NamespaceType::user);
    if (draft.host.effective_uid != 0 && !has_user_namespace) {
        return Error{.message = "linux.namespaces: rootless container requires user namespaces"};
    }
    if ((draft.host.effective_capabilities & kCapSysAdmin) == 0 && !has_user_namespace) {
        return Error{.message =
                         "linux.namespaces: making them takes CAP_SYS_ADMIN, which this process does not "
                         "have: operation not "
                         "permitted (inside a container, run that one with the capability, or list a user "
                         "namespace here)"};
    }
    if (draft.lowered.denies_setgroups && !draft.plan.spec.process.user.additional_gids.empty()) {
        return Error{.message =
                         "process.user.additionalGids: cannot set any additional groups in a rootless "
                         "container that maps a single group"};
    }
    return check_ids(draft.plan, draft.plan.spec.process.user);
}

}  // namespace rung::plan

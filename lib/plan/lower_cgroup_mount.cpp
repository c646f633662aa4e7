// The container's view of its control groups: one cgroup2 mount, or a tmpfs with one directory for each v1 hierarchy.
// SPDX-License-Identifier: Apache-2.0
#include <sys/mount.h>

#include "base/path.hpp"
#include "config/mount_options.hpp"
#include "plan/draft.hpp"

namespace rung::plan {
namespace {

using config::Mount;
using config::MountOptions;
using config::NamespaceType;
using kernel::CgroupLayout;

// {"cpu", "cpuacct"} -> both as flags, {"name=systemd"} -> name and "systemd": how fsconfig(2) wants them.
std::vector<std::pair<std::string, std::string>> hierarchy_options(const cgroup::Directory& directory) {
    std::vector<std::pair<std::string, std::string>> options;
    for (const std::string& controller : directory.controllers) {
        if (controller.starts_with("name=")) {
            options.emplace_back("none", "");
            options.emplace_back("name", controller.substr(5));
        } else {
            options.emplace_back(controller, "");
        }
    }
    return options;
}

void mount_hierarchy(Draft& draft, const cgroup::Directory& directory, const std::string& target,
                     uint64_t attributes) {
    if (draft.plan.spec.has_namespace(NamespaceType::cgroup)) {
        draft.add(child::MountFilesystem{.type = "cgroup",
                                         .source = "cgroup",
                                         .target = target,
                                         .options = hierarchy_options(directory),
                                         .attributes = attributes});
    } else {
        draft.add(child::BindHostPath{.source = directory.path, .target = target, .attributes = attributes});
    }
}

// Where the container has no cgroup of its own, as in hierarchies that its user may make none in, it is in the caller's.
std::vector<cgroup::Directory> visible_directories(const Draft& draft) {
    const bool may_make_any = draft.host.effective_uid == 0 && !draft.host.in_user_namespace;
    if (may_make_any && !draft.cgroup.v1.empty()) return draft.cgroup.v1;
    std::vector<cgroup::Directory> visible = cgroup::callers_own(draft.host.cgroup).v1;
    for (cgroup::Directory& directory : visible) {
        for (const cgroup::Directory& made : draft.cgroup.v1) {
            if (made.mount_point == directory.mount_point) directory = made;
        }
    }
    return visible;
}

void mount_v1(Draft& draft, const Mount& mount, const MountOptions& options) {
    const uint64_t attributes = options.set | options.recursive_set;
    const uint64_t writable = attributes & ~static_cast<uint64_t>(MOUNT_ATTR_RDONLY);
    draft.add(child::MountFilesystem{.type = "tmpfs",
                                     .source = "tmpfs",
                                     .target = mount.destination,
                                     .options = {{"mode", "755"}},
                                     .attributes = writable,
                                     .propagation = options.propagation});
    for (const cgroup::Directory& directory : visible_directories(draft)) {
        const std::string name = path::file_name(directory.mount_point);
        mount_hierarchy(draft, directory, mount.destination + "/" + name, attributes);
        if (directory.controllers.size() < 2) continue;
        for (const std::string& controller : directory.controllers) {
            if (controller != name) draft.add(child::MakeSymlink{name, mount.destination + "/" + controller});
        }
    }
    if (attributes != writable) {
        draft.add(child::RemountTarget{.target = mount.destination, .set = MOUNT_ATTR_RDONLY});
    }
}

// Nothing when the process's user has no number outside.
std::optional<uint32_t> host_uid_of(const config::Spec& spec) {
    const uint32_t uid = spec.process.user.uid;
    if (!spec.has_namespace(NamespaceType::user)) return uid;
    for (const config::IdMapping& mapping : spec.linux_.uid_mappings) {
        if (uid >= mapping.container_id && uid - mapping.container_id < mapping.size)
            return mapping.host_id + (uid - mapping.container_id);
    }
    return {};
}

// Without a cgroup namespace a new cgroup2 mount shows the whole hierarchy, as runc's does. In a user namespace the kernel refuses that
// mount, and the container's own cgroup is bound.
void mount_v2(Draft& draft, const Mount& mount, const MountOptions& options) {
    const uint64_t attributes = options.set | options.recursive_set;
    const config::Spec& spec = draft.plan.spec;
    const bool in_user_namespace = spec.has_namespace(NamespaceType::user) || draft.host.in_user_namespace;
    const bool has_own = !draft.cgroup.unified.empty();
    const bool is_there = has_own || !draft.host.cgroup.unified.empty();
    if (in_user_namespace && !spec.has_namespace(NamespaceType::cgroup) && is_there) {
        // In no cgroup of its own the container sees the whole hierarchy, as without a user namespace.
        draft.add(child::BindHostPath{
            .source = has_own ? draft.cgroup.unified : draft.host.cgroup.unified.front().mount_point,
            .target = mount.destination,
            .recursive = !has_own,
            .attributes = attributes});
        return;
    }
    // A writable view that begins at the container's own cgroup is for its process to divide further.
    const auto* view = spec.find_namespace(NamespaceType::cgroup);
    const bool is_usual_place = mount.destination == "/sys/fs/cgroup";
    if (view != nullptr && view->path.empty() && is_usual_place && (attributes & MOUNT_ATTR_RDONLY) == 0) {
        draft.lowered.cgroup_owner = host_uid_of(spec);
    }
    draft.add(child::MountFilesystem{.type = "cgroup2",
                                     .source = "cgroup",
                                     .target = mount.destination,
                                     .options = options.data,
                                     .attributes = attributes,
                                     .propagation = options.propagation});
}

}  // namespace

Status add_cgroup_mount(Draft& draft, const Mount& mount) {
    const MountOptions options =
        TRY(config::parse_mount_options(mount.options).context("mounts[" + mount.destination + "]"));
    if (draft.host.cgroup.layout == CgroupLayout::v2 || mount.type == "cgroup2") {
        mount_v2(draft, mount, options);
    } else {
        mount_v1(draft, mount, options);
    }
    return {};
}

}  // namespace rung::plan

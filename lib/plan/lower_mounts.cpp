// config.json's mounts as steps: host trees are cloned by the parent with their attributes, file systems are made by the child.
// SPDX-License-Identifier: Apache-2.0
#include <sys/mount.h>

#include <algorithm>
#include <charconv>

#include "base/path.hpp"
#include "config/mount_options.hpp"
#include "plan/draft.hpp"
#include "plan/mount_kind.hpp"

namespace rung::plan {
namespace {

using config::Mount;
using config::MountOptions;

Error mount_error(const Mount& mount, const std::string& what) {
    return Error{.message = "mounts[" + mount.destination + "]: " + what};
}

std::vector<Slice> slices_of(const SandboxPlan& plan, const Mount& mount) {
    std::vector<Slice> slices;
    std::copy_if(plan.slices.begin(), plan.slices.end(), std::back_inserter(slices),
                 [&](const Slice& slice) { return slice.mount == path::clean(mount.destination); });
    return slices;
}

// A clone of the host's mounts is a peer of the original: what the host's root became in the container, the clone becomes first.
std::vector<unsigned long> tree_propagation(const SandboxPlan& plan, const MountOptions& options) {
    std::vector<unsigned long> propagation;
    const unsigned long initial = initial_propagation(plan) | MS_REC;
    // What shall be shared stays a peer of the source's even below a private root (crun#2122).
    const bool is_shared = !options.propagation.empty() && (options.propagation.back() & MS_SHARED) != 0;
    if (is_shared && !plan.granted && (initial & MS_PRIVATE) != 0 &&
        !plan.spec.has_namespace(config::NamespaceType::user))
        return options.propagation;
    // The kernel makes every mount a slave that crosses into a user namespace; a tree opened outside has to be made one.
    if ((initial & MS_SHARED) != 0 && plan.spec.has_namespace(config::NamespaceType::user)) {
        propagation.push_back(MS_SLAVE | MS_REC);
    }
    propagation.push_back(initial);
    propagation.insert(propagation.end(), options.propagation.begin(), options.propagation.end());
    return propagation;
}

struct OwnAttributes {
    uint64_t set = 0;
    uint64_t clear = 0;
    uint64_t clear_unless_locked = 0;
};

// A bind that names no attribute has those of its source. With the first one that it names it has those that it names and no other, except
// for access times, which are a choice of their own: as for runc (mount(2), MS_BIND | MS_REMOUNT). What the host has set is locked in a
// user namespace and stays; and a grant takes nothing back that protects the host.
OwnAttributes own_attributes(const SandboxPlan& plan, const MountOptions& options) {
    OwnAttributes result{.set = options.set, .clear = options.clear};
    if (!options.names_attribute || plan.granted) return result;
    const bool names_access_time =
        (options.clear & MOUNT_ATTR__ATIME) != 0 || (options.set & MOUNT_ATTR_NODIRATIME) != 0;
    result.clear &= ~uint64_t{MOUNT_ATTR_NODIRATIME};
    if (names_access_time) result.clear |= MOUNT_ATTR__ATIME | (MOUNT_ATTR_NODIRATIME & ~options.set);
    result.clear |= MOUNT_ATTR_NOSYMFOLLOW & ~options.set;
    result.clear_unless_locked = child::kLockable & ~(options.set | options.clear);
    return result;
}

// The pieces are taken out while they are writable, and put back onto the mount that no longer is.
void attach_around_slices(Draft& draft, const Mount& mount, const std::vector<Slice>& slices) {
    std::vector<child::AttachTree> kept;
    for (const Slice& slice : slices) {
        kept.push_back({.tree = draft.new_slot(), .target = slice.path, .mount = slice.mount});
        draft.add(child::KeepTree{
            .kept = kept.back().tree, .path = slice.path, .set = kHarmless, .mount = slice.mount});
    }
    draft.add(child::RemountTarget{.target = mount.destination, .set = MOUNT_ATTR_RDONLY, .recursive = true});
    for (child::AttachTree& piece : kept)
        draft.add(std::move(piece));
}

// runc and crun end with such a mount as the container's root.
bool becomes_root(const Draft& draft, const Mount& mount) {
    return path::clean(mount.destination) == "/" &&
           draft.plan.spec.has_namespace(config::NamespaceType::mount);
}

Status check_new_root(const Draft& draft, const Mount& mount, const MountOptions& options) {
    if (becomes_root(draft, mount) && options.copy_up)
        return mount_error(mount, "tmpcopyup has nothing to copy for the root");
    return {};
}

// Where the caller may not clone mounts only the child may, as root of its user namespace.
void bind_in_child(Draft& draft, const Mount& mount, const MountOptions& options, const std::string& source,
                   const std::optional<IdMap>& id_map) {
    if (id_map) draft.lowered.id_maps.push_back(*id_map);
    const OwnAttributes own = own_attributes(draft.plan, options);
    draft.add(child::BindHostPath{.source = source,
                                  .target = mount.destination,
                                  .recursive = options.recursive_bind,
                                  .attributes = own.set,
                                  .clear = own.clear,
                                  .clear_unless_locked = own.clear_unless_locked,
                                  .id_map = id_map ? static_cast<int>(draft.lowered.id_maps.size()) - 1 : -1,
                                  .recursive_attributes = path::covers("/sys", path::clean(source)),
                                  .source_nofollow = options.source_nofollow,
                                  .target_nofollow = options.target_nofollow,
                                  .becomes_root = becomes_root(draft, mount)});
    if (!options.propagation.empty()) {
        draft.add(child::RemountTarget{.target = mount.destination, .propagation = options.propagation});
    }
    if ((options.recursive_set | options.recursive_clear) != 0) {
        draft.add(child::RemountTarget{.target = mount.destination,
                                       .set = options.recursive_set,
                                       .clear = options.recursive_clear,
                                       .recursive = true});
    }
}

// A source that names what an earlier entry mounts in the container: there is no such mount yet for the parent to clone.
bool is_made_earlier(const Draft& draft, const Mount& mount, const std::string& source) {
    if (draft.plan.granted) return false;  // sources were settled before, by name
    for (const Mount& earlier : draft.plan.spec.mounts) {
        if (&earlier == &mount) return false;
        const std::string place = path::clean(draft.options.rootfs + path::clean(earlier.destination));
        if (path::covers(place, path::clean(source))) return true;
    }
    return false;
}

// The mount's own mappings, or else those of the container's user namespace.
std::optional<IdMap> id_map_of(const SandboxPlan& plan, const Mount& mount, const MountOptions& options) {
    const bool none = mount.uid_mappings.empty() && mount.gid_mappings.empty();
    if (none && !options.idmap && !options.recursive_idmap) return {};
    IdMap map{.uids = mount.uid_mappings, .gids = mount.gid_mappings, .recursive = options.recursive_idmap};
    if (!none) return map;
    const config::Namespace* user = plan.spec.find_namespace(config::NamespaceType::user);
    if (user != nullptr) map.path = user->path;
    if (map.path.empty()) {
        map.uids = plan.spec.linux_.uid_mappings;
        map.gids = plan.spec.linux_.gid_mappings;
    }
    return map;
}

Status add_bind(Draft& draft, const Mount& mount, MountOptions options) {
    if (!options.data.empty() && draft.plan.granted) {
        return mount_error(mount,
                           "option \"" + options.data.front().first + "\" has no meaning for a bind mount");
    }
    if (mount.source.empty()) return mount_error(mount, "a bind mount needs a source");
    if (options.copy_symlink && (options.source_nofollow || options.target_nofollow))
        return mount_error(mount, "copy-symlink excludes src-nofollow and dest-nofollow");
    if (!mount.symlink.empty()) {
        draft.add(
            child::MakeSymlink{.content = mount.symlink, .path = mount.destination, .must_be_it = true});
        return {};
    }
    const std::string source = path::join(draft.options.bundle, mount.source);
    const std::vector<Slice> slices = slices_of(draft.plan, mount);
    if (!slices.empty()) {
        options.set &= ~uint64_t{MOUNT_ATTR_RDONLY};
        options.recursive_set &= ~uint64_t{MOUNT_ATTR_RDONLY};
    }
    const std::optional<IdMap> id_map = id_map_of(draft.plan, mount, options);
    const bool is_privileged = draft.host.may_clone_mounts;
    if (!is_privileged || is_made_earlier(draft, mount, source)) {
        if (id_map && !is_privileged)
            return mount_error(mount, "id-mapped mounts are not supported for rootless containers");
        bind_in_child(draft, mount, options, source, id_map);
    } else {
        const child::Slot tree = draft.new_slot();
        const OwnAttributes own = own_attributes(draft.plan, options);
        const bool is_locked = draft.plan.spec.has_namespace(config::NamespaceType::user);
        draft.lowered.trees.push_back({.slot = tree,
                                       .source = source,
                                       .target = mount.destination,
                                       .recursive = options.recursive_bind,
                                       .nofollow = options.source_nofollow,
                                       .set = own.set,
                                       .clear = own.clear | (is_locked ? 0 : own.clear_unless_locked),
                                       .is_locked = is_locked && options.names_attribute,
                                       .recursive_set = options.recursive_set,
                                       .recursive_clear = options.recursive_clear,
                                       .propagation = tree_propagation(draft.plan, options),
                                       .id_map = id_map});
        draft.add(child::AttachTree{.tree = tree,
                                    .target = mount.destination,
                                    .nofollow = options.target_nofollow,
                                    .becomes_root = becomes_root(draft, mount)});
    }
    if (!slices.empty()) attach_around_slices(draft, mount, slices);
    return {};
}

Status add_remount(Draft& draft, const Mount& mount, const MountOptions& options) {
    if (!options.data.empty()) {
        return mount_error(
            mount, "a remount cannot change the file system option \"" + options.data.front().first + "\"");
    }
    draft.add(child::RemountTarget{.target = mount.destination,
                                   .set = options.set,
                                   .clear = options.clear,
                                   .propagation = options.propagation});
    return {};
}

bool maps_group(const config::Linux& linux_config, std::string_view text) {
    uint32_t gid = 0;
    if (std::from_chars(text.data(), text.data() + text.size(), gid).ec != std::errc{}) return true;
    return std::any_of(linux_config.gid_mappings.begin(), linux_config.gid_mappings.end(),
                       [&](const config::IdMapping& mapping) {
                           return gid >= mapping.container_id && gid - mapping.container_id < mapping.size;
                       });
}

std::vector<std::pair<std::string, std::string>> filesystem_options(const SandboxPlan& plan,
                                                                    const Mount& mount,
                                                                    const MountOptions& options) {
    std::vector<std::pair<std::string, std::string>> result;
    if (options.sync) result.emplace_back("sync", "");
    if (options.dirsync) result.emplace_back("dirsync", "");
    if (options.mandatory_lock) result.emplace_back("mand", "");
    if (options.lazytime) result.emplace_back("lazytime", "");
    // proc, sysfs and mqueue take no label of ours (runtime-spec config-linux.md, "Mount Label").
    const std::string& label = plan.spec.linux_.mount_label;
    const bool labelled = mount.type != "proc" && mount.type != "sysfs" && mount.type != "mqueue";
    if (!label.empty() && labelled) result.emplace_back("context", label);
    for (const auto& option : options.data) {
        // The terminal group does not exist in a user namespace that maps only a few: the kernel would refuse it.
        const bool unmapped = mount.type == "devpts" && option.first == "gid" &&
                              has_new_user_namespace(plan) && !maps_group(plan.spec.linux_, option.second);
        if (!unmapped) result.push_back(option);
    }
    return result;
}

// A new sysfs needs the network namespace to belong to the user namespace; the host's own is bound instead.
bool needs_host_sysfs(const Draft& draft, const Mount& mount) {
    const bool in_user_namespace =
        draft.plan.spec.has_namespace(config::NamespaceType::user) || draft.host.in_user_namespace;
    return mount.type == "sysfs" && in_user_namespace && !draft.plan.routeless_network &&
           !draft.plan.spec.has_namespace(config::NamespaceType::network);
}

void add_filesystem(Draft& draft, const Mount& mount, const MountOptions& options) {
    uint64_t attributes = options.set | options.recursive_set;
    if (is_filled_first(mount)) attributes &= ~uint64_t{MOUNT_ATTR_RDONLY};
    if (needs_host_sysfs(draft, mount)) {
        draft.add(child::BindHostPath{
            .source = "/sys", .target = mount.destination, .recursive = true, .attributes = attributes});
        return;
    }
    const bool has_mode = std::any_of(options.data.begin(), options.data.end(),
                                      [](const auto& option) { return option.first == "mode"; });
    draft.add(child::MountFilesystem{.type = mount.type,
                                     .source = mount.source.empty() ? mount.type : mount.source,
                                     .target = mount.destination,
                                     .options = filesystem_options(draft.plan, mount, options),
                                     .attributes = attributes,
                                     .propagation = options.propagation,
                                     .copy_up = options.copy_up && mount.type == "tmpfs",
                                     .inherit_mode = mount.type == "tmpfs" && !has_mode,
                                     .must_be_plain_directory = mount.type == "proc" || mount.type == "sysfs",
                                     .becomes_root = becomes_root(draft, mount)});
}

Status add_mount(Draft& draft, const Mount& mount) {
    if (mount.type == "cgroup" || mount.type == "cgroup2") return add_cgroup_mount(draft, mount);
    MountOptions options =
        TRY(config::parse_mount_options(mount.options).context("mounts[" + mount.destination + "]"));
    if (options.remount) return add_remount(draft, mount, options);
    TRY(check_new_root(draft, mount, options));
    if (is_bind(mount, options)) return add_bind(draft, mount, std::move(options));
    if (mount.type.empty()) return mount_error(mount, "neither a type nor bind is given");
    add_filesystem(draft, mount, options);
    return {};
}

}  // namespace

std::optional<unsigned long> propagation_of(std::string_view name) {
    if (name == "shared") return MS_SHARED;
    if (name == "rshared") return MS_SHARED | MS_REC;
    if (name == "slave") return MS_SLAVE;
    if (name == "rslave") return MS_SLAVE | MS_REC;
    if (name == "private") return MS_PRIVATE;
    if (name == "rprivate") return MS_PRIVATE | MS_REC;
    if (name == "unbindable") return MS_UNBINDABLE;
    if (name == "runbindable") return MS_UNBINDABLE | MS_REC;
    return {};
}

unsigned long initial_propagation(const SandboxPlan& plan) {
    const unsigned long flags =
        propagation_of(plan.spec.linux_.rootfs_propagation).value_or(MS_SLAVE | MS_REC);
    return (flags & MS_UNBINDABLE) != 0 ? MS_PRIVATE | MS_REC : flags;
}

Status add_mounts(Draft& draft) {
    for (const Mount& mount : draft.plan.spec.mounts)
        TRY(add_mount(draft, mount));
    return {};
}

Status make_filled_mounts_read_only(Draft& draft) {
    for (const Mount& mount : draft.plan.spec.mounts) {
        if (!is_filled_first(mount)) continue;
        const MountOptions options = TRY(config::parse_mount_options(mount.options));
        if (options.remount || is_bind(mount, options)) continue;
        if (((options.set | options.recursive_set) & MOUNT_ATTR_RDONLY) == 0) continue;
        draft.add(child::RemountTarget{.target = mount.destination, .set = MOUNT_ATTR_RDONLY});
    }
    return {};
}

}  // namespace rung::plan

// The container's root: bound, filled, given its devices, shown to the hooks, and made "/".
// SPDX-License-Identifier: Apache-2.0
#include <sched.h>
#include <sys/mount.h>

#include <algorithm>
#include <array>

#include "base/path.hpp"
#include "config/mount_options.hpp"
#include "plan/draft.hpp"
#include "plan/mount_kind.hpp"

namespace rung::plan {
namespace {

using config::Device;
using config::DeviceType;

constexpr uint64_t kCapMknod = 1ULL << 27;

// runtime-spec config-linux.md, "Default Devices".
std::vector<Device> default_devices() {
    struct Node {
        const char* path;
        uint32_t major;
        uint32_t minor;
    };
    constexpr std::array<Node, 6> kNodes = {{{"/dev/null", 1, 3},
                                             {"/dev/zero", 1, 5},
                                             {"/dev/full", 1, 7},
                                             {"/dev/random", 1, 8},
                                             {"/dev/urandom", 1, 9},
                                             {"/dev/tty", 5, 0}}};
    std::vector<Device> devices;
    for (const Node& node : kNodes) {
        devices.push_back(
            {.path = node.path, .type = DeviceType::character, .major = node.major, .minor = node.minor});
    }
    return devices;
}

// The defaults, each replaced by what config.json says about the same path. /dev/ptmx is PrepareDev's link.
std::vector<Device> wanted_devices(const std::vector<Device>& configured) {
    std::vector<Device> wanted;
    for (const Device& device : default_devices()) {
        const bool replaced = std::any_of(configured.begin(), configured.end(), [&](const Device& other) {
            return path::clean(other.path) == device.path;
        });
        if (!replaced) wanted.push_back(device);
    }
    for (Device device : configured) {
        device.path = path::clean(device.path);  // "/mnt/" names a node as well
        if (device.path != "/dev/ptmx") wanted.push_back(std::move(device));
    }
    return wanted;
}

bool may_make_nodes(const Draft& draft) {
    return !draft.plan.spec.has_namespace(config::NamespaceType::user) && !draft.host.in_user_namespace &&
           (draft.host.effective_capabilities & kCapMknod) != 0;
}

// Before the host's root enters a new user namespace it can make what config.json says, owner and mode included. A grant is left with
// what the host lets the container open.
std::optional<Device> made_outside(const Draft& draft, Device device) {
    const config::Linux& linux_config = draft.plan.spec.linux_;
    if (draft.plan.granted || !draft.lowered.maps_users || draft.host.in_user_namespace ||
        !draft.host.may_clone_mounts || (draft.host.effective_capabilities & kCapMknod) == 0)
        return {};
    const auto uid = config::host_id(linux_config.uid_mappings, device.uid);
    const auto gid = config::host_id(linux_config.gid_mappings, device.gid);
    if (!uid || !gid) return {};
    device.uid = *uid;
    device.gid = *gid;
    return device;
}

Result<bool> dev_is_bound(const config::Spec& spec) {
    for (const config::Mount& mount : spec.mounts) {
        if (path::clean(mount.destination) != "/dev") continue;
        if (is_bind(mount, TRY(config::parse_mount_options(mount.options)))) return true;
    }
    return false;
}

// A /dev that is bound from the host is the host's: nothing is added to it.
Status fill_dev(Draft& draft) {
    if (TRY(dev_is_bound(draft.plan.spec))) return {};
    draft.add(child::PrepareDev{});
    const bool make = may_make_nodes(draft);
    child::BindNodes made;
    for (const Device& device : wanted_devices(draft.plan.spec.linux_.devices)) {
        if (make || device.type == DeviceType::fifo) {
            draft.add(child::MakeDevice{device});
        } else if (const auto node = made_outside(draft, device)) {
            draft.lowered.nodes.push_back(*node);
            made.paths.push_back(device.path);
        } else {
            draft.add(child::BindDevice{device.path});
        }
    }
    if (made.paths.empty()) return {};
    made.nodes = draft.lowered.nodes_slot = draft.new_slot();
    draft.add(std::move(made));
    return {};
}

// The hooks that see the finished root while the host's is still there: the parent's, then the container's own.
void run_create_hooks(Draft& draft, std::optional<NetworkSlots> networks) {
    const config::Hooks& hooks = draft.plan.spec.hooks;
    if (networks) draft.add(child::JoinNamespace{networks->engine, CLONE_NEWNET});
    if (!hooks.prestart.empty() || !hooks.create_runtime.empty()) {
        draft.add(child::SyncWithParent{child::SyncPoint::before_pivot});
    }
    if (!hooks.create_container.empty()) {
        draft.add(child::RunHooks{"createContainer", hooks.create_container, "creating"});
    }
    if (networks) draft.add(child::JoinNamespace{networks->workload, CLONE_NEWNET});
}

bool is_slave(std::string_view propagation) {
    return (propagation_of(propagation).value_or(0) & MS_SLAVE) != 0;
}

void bind_image_slices(Draft& draft) {
    for (const Slice& slice : draft.plan.slices) {
        if (slice.mount.empty()) draft.add(child::BindSlice{.path = slice.path, .set = kHarmless});
    }
}

}  // namespace

Status build_root(Draft& draft, std::optional<NetworkSlots> networks) {
    const config::Spec& spec = draft.plan.spec;
    const bool own_mounts = spec.has_namespace(config::NamespaceType::mount);
    draft.lowered.mounts_on_host = !own_mounts && (!spec.mounts.empty() || spec.root.read_only);
    if (own_mounts) {
        draft.add(child::SetRootPropagation{initial_propagation(draft.plan)});
        // What the host has mounted below the rootfs is no part of the image: read-only on the root would not reach it.
        draft.add(child::BindRootfs{.path = draft.options.rootfs,
                                    .recursive = !draft.plan.granted,
                                    .slave = is_slave(spec.linux_.rootfs_propagation)});
        // Before the mounts, which may lie on top of a slice.
        bind_image_slices(draft);
        TRY(add_mounts(draft));
    } else if (draft.lowered.mounts_on_host) {
        // On one mount of ours, with which all that lies on it can be taken away again.
        draft.add(child::BindRootfs{.path = draft.options.rootfs, .on_host = true});
        TRY(add_mounts(draft));
    } else {
        draft.add(child::OpenRootfs{draft.options.rootfs});
    }
    TRY(fill_dev(draft));
    run_create_hooks(draft, networks);

    if (!own_mounts) {
        draft.add(child::ChangeRoot{});
    } else if (draft.options.no_pivot) {
        draft.add(child::MoveRoot{});
    } else {
        draft.add(child::PivotRoot{});
    }
    if (own_mounts && !TRY(dev_is_bound(draft.plan.spec))) draft.add(child::ReopenNullStreams{});
    return {};
}

void protect_paths(Draft& draft) {
    const config::Spec& spec = draft.plan.spec;
    for (const std::string& path : draft.plan.pinned)
        draft.add(child::PinPath{path});
    for (const std::string& path : spec.linux_.readonly_paths)
        draft.add(child::ReadOnlyPath{path});
    for (const std::string& path : spec.linux_.masked_paths)
        draft.add(child::MaskPath{path});
    const bool own_mounts = spec.has_namespace(config::NamespaceType::mount);
    if (!own_mounts && !draft.lowered.mounts_on_host) return;

    child::RemountRoot root{.read_only = spec.root.read_only};
    // What config.json says of the root holds from the pivot on: an unbindable root could not have been bound.
    // The mounts have had theirs, and may have been given another.
    if (const auto flags = propagation_of(spec.linux_.rootfs_propagation); flags && own_mounts)
        root.propagation = {*flags & ~static_cast<unsigned long>(MS_REC)};
    if (root.read_only || !root.propagation.empty()) draft.add(std::move(root));
}

}  // namespace rung::plan

// What a grant makes of the container's tree: the root, its writable pieces, scratch, and what is hidden.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <charconv>
#include <limits>

#include "base/path.hpp"
#include "plan/mount_kind.hpp"
#include "plan/narrow.hpp"

namespace rung::plan {
namespace {

using config::Mount;

// Docker's lists: what the kernel shows in /proc and /sys that no task has any business with.
const std::vector<std::string> kMasked = {"/proc/acpi",
                                          "/proc/asound",
                                          "/proc/interrupts",
                                          "/proc/kcore",
                                          "/proc/keys",
                                          "/proc/latency_stats",
                                          "/proc/sched_debug",
                                          "/proc/scsi",
                                          "/proc/timer_list",
                                          "/proc/timer_stats",
                                          "/sys/devices/virtual/powercap",
                                          "/sys/firmware"};
const std::vector<std::string> kReadOnly = {"/proc/bus", "/proc/fs", "/proc/irq", "/proc/sys",
                                            "/proc/sysrq-trigger"};

bool contains(const std::vector<std::string>& list, const std::string& item) {
    return std::find(list.begin(), list.end(), item) != list.end();
}

Error reserved(const std::string& field, const std::string& path, const std::string& why) {
    return Error{.message = "path_reserved: " + field + ": " + path + " " + why, .reason = "path_reserved"};
}

Status check_paths(const grant::Filesystem& grant) {
    if (contains(grant.read_write, "/")) {
        return reserved("filesystem.readWrite", "/", "is the image, which rootfs: readOnly keeps unchanged");
    }
    for (const grant::Tmpfs& scratch : grant.tmpfs) {
        for (const char* root : {"/", "/proc", "/sys", "/dev"}) {
            if (scratch.path == root)
                return reserved("filesystem.tmpfs", root, "cannot be replaced by scratch");
        }
        for (const std::string& hidden : grant.hidden) {
            if (!path::covers(hidden, scratch.path)) continue;
            return Error{
                .message = "grant_conflict: filesystem.tmpfs: " + scratch.path + " is hidden by " + hidden,
                .reason = "grant_conflict"};
        }
    }
    return {};
}

void keep_read_only(SandboxPlan& plan, const std::string& path, const std::string& layer,
                    const std::string& reason) {
    plan.narrowings.push_back({.field = "filesystem.readWrite[" + path + "]",
                               .asked = "read-write",
                               .effective = "read-only",
                               .layer = layer,
                               .reason = reason});
}

Status open_piece_of_mount(SandboxPlan& plan, const grant::Filesystem& grant, const std::string& path,
                           const Mount& mount) {
    const std::string destination = path::clean(mount.destination);
    if (destination == path || granted_access(grant, destination) == Access::read_write) {
        if (!is_writable(mount))
            keep_read_only(plan, path, "oci", "config.json mounts " + destination + " read-only");
        return {};
    }
    if (is_kernel_owned(kind_of(mount))) {
        keep_read_only(plan, path, "builtin", destination + " is the kernel's own file system");
        return {};
    }
    if (!is_writable(mount)) {
        keep_read_only(plan, path, "oci", "config.json mounts " + destination + " read-only");
        return {};
    }
    if (kind_of(mount) != MountKind::bind) {
        return unenforceable("filesystem.readWrite", path + " lies inside the " + mount.type + " at " +
                                                         destination +
                                                         ", which can only be granted as a whole");
    }
    plan.slices.push_back({.path = path, .mount = destination});
    return {};
}

// True when scratch lies between the path and what would hold it without.
bool is_in_scratch(const grant::Filesystem& grant, const std::string& path, const std::string& holder) {
    return std::any_of(grant.tmpfs.begin(), grant.tmpfs.end(), [&](const grant::Tmpfs& scratch) {
        return path::covers(scratch.path, path) && !path::covers(scratch.path, holder);
    });
}

// Each readWrite path that no mount of its own serves becomes a writable piece of what holds it.
Status open_slices(SandboxPlan& plan, const grant::Filesystem& grant, bool image_writable) {
    std::vector<std::string> paths = grant.read_write;
    std::sort(paths.begin(), paths.end());  // a path comes after every path that covers it
    for (const std::string& path : paths) {
        const Mount* mount = mount_holding(plan.spec.mounts, path);
        const std::string holder = mount == nullptr ? "" : path::clean(mount->destination);
        const bool inside_another = std::any_of(
            plan.slices.begin(), plan.slices.end(),
            [&](const Slice& slice) { return slice.mount == holder && path::covers(slice.path, path); });
        if (inside_another || is_in_scratch(grant, path, holder)) continue;
        if (granted_access(grant, path) == Access::read_only) continue;
        if (mount != nullptr) {
            TRY(open_piece_of_mount(plan, grant, path, *mount));
        } else if (image_writable) {
            plan.slices.push_back({.path = path});
        } else {
            keep_read_only(plan, path, "oci", "config.json makes the root read-only");
        }
    }
    return {};
}

// "64k" -> bytes, as tmpfs(5) reads a size; nothing for a share of memory, which no number here can be compared with.
std::optional<uint64_t> parse_tmpfs_size(std::string_view text) {
    uint64_t number = 0;
    const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc{}) return {};
    const std::string_view suffix(rest, static_cast<size_t>(text.data() + text.size() - rest));
    constexpr std::string_view kSuffixes = "kKmMgG";  // two letters for each ten bits
    const size_t found = suffix.empty() ? 0 : kSuffixes.find(suffix);
    if (found == std::string_view::npos || suffix.size() > 1) return {};
    const size_t shift = suffix.empty() ? 0 : 10 * (found / 2 + 1);
    if (number > (std::numeric_limits<uint64_t>::max() >> shift)) return {};
    return number << shift;
}

std::optional<uint64_t> tmpfs_size(const Mount& mount) {
    if (mount.type != "tmpfs") return {};
    for (const std::string& option : mount.options) {
        if (!option.starts_with("size=")) continue;
        const auto size = parse_tmpfs_size(std::string_view(option).substr(5));
        if (size && *size > 0) return size;
    }
    return {};
}

// What the engine put at the very place of scratch is gone, but its size remains the most there is.
std::vector<grant::Tmpfs> replace_mounts(SandboxPlan& plan, const grant::Filesystem& grant) {
    std::vector<Mount>& mounts = plan.spec.mounts;
    std::vector<grant::Tmpfs> scratches = grant.tmpfs;
    for (grant::Tmpfs& scratch : scratches) {
        const auto is_here = [&](const Mount& mount) {
            return path::clean(mount.destination) == scratch.path;
        };
        for (const Mount& mount : mounts) {
            if (!is_here(mount)) continue;
            scratch.size = std::min(scratch.size, tmpfs_size(mount).value_or(scratch.size));
            plan.narrowings.push_back({.field = "mounts[" + scratch.path + "]",
                                       .asked = mount.type + " of " + mount.source,
                                       .effective = "tmpfs of " + std::to_string(scratch.size) + " bytes",
                                       .layer = "grant",
                                       .reason = "filesystem.tmpfs makes it scratch of the task's own"});
        }
        mounts.erase(std::remove_if(mounts.begin(), mounts.end(), is_here), mounts.end());
    }
    return scratches;
}

// Beneath it may lie mounts of the engine: they stay visible on top.
void add_scratch(SandboxPlan& plan, const grant::Tmpfs& scratch) {
    std::vector<Mount>& mounts = plan.spec.mounts;
    const auto beneath = std::find_if(mounts.begin(), mounts.end(), [&](const Mount& mount) {
        return path::covers(scratch.path, path::clean(mount.destination));
    });
    mounts.insert(beneath, {.destination = scratch.path,
                            .type = "tmpfs",
                            .source = "tmpfs",
                            .options = {"nosuid", "nodev", "noexec", "mode=1777",
                                        "size=" + std::to_string(scratch.size)}});
}

void add_paths(SandboxPlan& plan, std::vector<std::string>& list, const std::vector<std::string>& paths,
               Narrowing narrowing) {
    std::vector<std::string> added;
    for (const std::string& path : paths) {
        if (contains(list, path)) continue;
        list.push_back(path);
        added.push_back(path);
    }
    if (added.empty()) return;
    narrowing.effective += list_text(added);
    plan.narrowings.push_back(std::move(narrowing));
}

// readOnly beneath readWrite: a piece of a writable place that is not.
std::vector<std::string> read_only_pieces(const grant::Filesystem& grant) {
    std::vector<std::string> pieces;
    for (const std::string& path : grant.read_only) {
        const bool inside = std::any_of(grant.read_write.begin(), grant.read_write.end(),
                                        [&](const std::string& root) { return path::covers(root, path); });
        if (inside) pieces.push_back(path);
    }
    return pieces;
}

bool is_writable_place(const grant::Filesystem& grant, std::string_view path) {
    return granted_access(grant, path) == Access::read_write ||
           std::any_of(grant.tmpfs.begin(), grant.tmpfs.end(),
                       [&](const grant::Tmpfs& scratch) { return path::covers(scratch.path, path); });
}

// What the task could rename or replace on the way to `path`, from the top, with `path` itself.
void pin_way_to(SandboxPlan& plan, const grant::Filesystem& grant, const std::string& path) {
    std::string parent = "/";
    for (const std::string& part : path::components(path)) {
        const std::string child = path::join(parent, part);
        if (is_writable_place(grant, parent) && !contains(plan.pinned, child)) plan.pinned.push_back(child);
        parent = child;
    }
}

void protect(SandboxPlan& plan, const grant::Filesystem& grant) {
    for (const std::string& path : read_only_pieces(grant))
        pin_way_to(plan, grant, path);
    for (const std::string& path : grant.hidden)
        pin_way_to(plan, grant, path);
    config::Linux& linux_config = plan.spec.linux_;
    add_paths(plan, linux_config.masked_paths, kMasked,
              {.field = "linux.maskedPaths",
               .asked = "visible",
               .effective = "masked: ",
               .layer = "builtin",
               .reason = "kernel internals are hidden under a grant"});
    add_paths(plan, linux_config.readonly_paths, kReadOnly,
              {.field = "linux.readonlyPaths",
               .asked = "writable",
               .effective = "read-only: ",
               .layer = "builtin",
               .reason = "kernel settings are fixed under a grant"});
    add_paths(plan, linux_config.readonly_paths, read_only_pieces(grant),
              {.field = "linux.readonlyPaths",
               .asked = "writable",
               .effective = "read-only: ",
               .layer = "grant",
               .reason = "filesystem.readOnly inside filesystem.readWrite"});
    add_paths(plan, linux_config.masked_paths, grant.hidden,
              {.field = "linux.maskedPaths",
               .asked = "visible",
               .effective = "masked: ",
               .layer = "grant",
               .reason = "filesystem.hidden"});
}

// The file systems whose instances belong to the container alone, or that are narrowed by kind. Of any other, such as devtmpfs or tracefs,
// there is one for the whole host.
bool is_of_the_container(const Mount& mount) {
    static constexpr std::array<std::string_view, 9> kTypes = {
        "tmpfs", "overlay", "ramfs", "proc", "sysfs", "mqueue", "devpts", "cgroup", "cgroup2"};
    return kind_of(mount) == MountKind::bind ||
           std::find(kTypes.begin(), kTypes.end(), mount.type) != kTypes.end();
}

Status check_mount_options(const std::vector<Mount>& mounts) {
    for (const Mount& mount : mounts) {
        if (path::clean(mount.destination) == "/")
            return unenforceable("mounts[/]", "it would take the place of the image");
        if (!is_of_the_container(mount)) {
            return unenforceable("mounts[" + mount.destination + "]",
                                 "a " + mount.type + " belongs to the whole host");
        }
        TRY(config::parse_mount_options(mount.options).context("mounts[" + mount.destination + "]"));
    }
    return {};
}

}  // namespace

Status narrow_filesystem(SandboxPlan& plan, const grant::Grant& whole) {
    const grant::Filesystem grant = whole.filesystem.value_or(grant::Filesystem{});
    TRY(check_mount_options(plan.spec.mounts));
    TRY(check_paths(grant));
    const bool image_writable = !plan.spec.root.read_only;
    if (image_writable) {
        plan.spec.root.read_only = true;
        plan.narrowings.push_back({.field = "root.readonly",
                                   .asked = "false",
                                   .effective = "true",
                                   .layer = "grant",
                                   .reason = "filesystem.rootfs: readOnly"});
    }
    leave_out_mounts(plan, whole);
    const std::vector<grant::Tmpfs> scratches = replace_mounts(plan, grant);
    TRY(open_slices(plan, grant, image_writable));
    TRY(narrow_mounts(plan, whole));
    narrow_propagation(plan);
    for (const grant::Tmpfs& scratch : scratches)
        add_scratch(plan, scratch);
    protect(plan, grant);
    return {};
}

}  // namespace rung::plan

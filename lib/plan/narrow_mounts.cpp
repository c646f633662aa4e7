// Every mount of config.json under a grant: read-only unless the grant covers it, and harmless wherever it can be written to.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>

#include "base/path.hpp"
#include "plan/mount_kind.hpp"
#include "plan/narrow.hpp"

namespace rung::plan {
namespace {

using config::Mount;
using Words = std::vector<std::string>;

bool has(const Words& words, std::string_view word) {
    return std::find(words.begin(), words.end(), word) != words.end();
}

void remove(Words& words, std::string_view word) {
    words.erase(std::remove(words.begin(), words.end(), word), words.end());
}

bool is_recursive_bind(const Mount& mount) {
    return has(mount.options, "rbind");
}

// Sets an attribute by its word, for the whole tree where the mount is one; whatever said the opposite is gone.
void demand(Mount& mount, const std::string& word, const std::string& opposite) {
    remove(mount.options, opposite);
    remove(mount.options, "r" + opposite);
    const bool tree = is_recursive_bind(mount);
    if (has(mount.options, "r" + word) || (!tree && has(mount.options, word))) return;
    if (tree) remove(mount.options, word);
    mount.options.push_back(tree ? "r" + word : word);
}

void make_read_only(Mount& mount) {
    demand(mount, "ro", "rw");
}

void make_harmless(Mount& mount) {
    demand(mount, "nosuid", "suid");
    demand(mount, "noexec", "exec");
    // Nodes below /dev are what is there for.
    if (!path::covers("/dev", path::clean(mount.destination))) demand(mount, "nodev", "dev");
}

// A remount changes a mount that another entry made: it may only take away.
void make_remount_narrow(Mount& mount) {
    for (const char* word : {"rw", "suid", "dev", "exec", "rrw", "rsuid", "rdev", "rexec"})
        remove(mount.options, word);
}

void narrow_kernel_mount(Mount& mount, MountKind kind) {
    make_harmless(mount);
    const bool usual_proc = kind == MountKind::proc && path::clean(mount.destination) == "/proc";
    // devpts holds the terminals; /proc is what maskedPaths and readonlyPaths are about.
    if (!usual_proc && kind != MountKind::devpts) make_read_only(mount);
}

bool has_slice(const SandboxPlan& plan, const Mount& mount) {
    return std::any_of(plan.slices.begin(), plan.slices.end(),
                       [&](const Slice& slice) { return slice.mount == path::clean(mount.destination); });
}

// A relative source begins at the bundle, whose place is not known here: it may lie anywhere.
bool may_overlap(const Mount& left, const Mount& right) {
    if (path::is_absolute(left.source) != path::is_absolute(right.source)) return true;
    const std::string left_source = path::clean(left.source);
    const std::string right_source = path::clean(right.source);
    return path::covers(left_source, right_source) || path::covers(right_source, left_source);
}

bool holds_tools(const grant::Grant& grant, const std::string& destination) {
    return std::any_of(grant.tools->begin(), grant.tools->end(),
                       [&](const grant::Tool& tool) { return path::covers(tool.path, destination); });
}

struct Change {
    std::string layer = {};
    std::string reason = {};
};

Change narrow_mount(const SandboxPlan& plan, const grant::Grant& whole, const grant::Filesystem& grant,
                    Mount& mount) {
    const MountKind kind = kind_of(mount);
    if (has(mount.options, "remount")) {
        make_remount_narrow(mount);
        return {"builtin", "a remount may only take away under a grant"};
    }
    if (is_kernel_owned(kind)) {
        narrow_kernel_mount(mount, kind);
        return {"builtin", "the kernel's own file systems stay read-only and free of programs"};
    }
    if (granted_access(grant, path::clean(mount.destination)) == Access::read_write) {
        if (is_writable(mount)) make_harmless(mount);
        return {"builtin", "what can be written to holds no programs, devices or setuid files"};
    }
    if (has_slice(plan, mount)) {
        make_harmless(mount);
        make_read_only(mount);
        return {"grant", "filesystem.readWrite covers only a part of it"};
    }
    if (is_writable(mount)) make_read_only(mount);
    // An overlay's layers, say, may have a second name that can be written to.
    if (kind != MountKind::bind) make_harmless(mount);
    if (grants_every_program(whole) || holds_tools(whole, path::clean(mount.destination)))
        return {"grant", "no filesystem.readWrite path covers it"};
    // A loader that may be executed maps nothing from here either.
    make_harmless(mount);
    return {"grant", "no filesystem.readWrite path covers it, and no tool lies in it"};
}

// A loader could execute what lies beside a tool, so a mount of the engine is granted as a whole or not at all.
Status refuse_single_tools_of_mounts(const SandboxPlan& plan, const grant::Grant& grant) {
    if (grants_every_program(grant)) return {};
    for (const grant::Tool& tool : *grant.tools) {
        const Mount* mount = mount_holding(plan.spec.mounts, tool.path);
        if (mount == nullptr || holds_tools(grant, path::clean(mount->destination))) continue;
        return unenforceable("tools", tool.path + " lies inside the mount at " + mount->destination +
                                          ", whose programs can only be granted together");
    }
    return {};
}

// The image is readable and executable, so no mount may make a part of it writable under another name.
Status refuse_image_under_another_name(const SandboxPlan& plan) {
    const std::string& root = plan.spec.root.path;
    for (const Mount& mount : plan.spec.mounts) {
        const bool writable = is_writable(mount) || has_slice(plan, mount);
        if (kind_of(mount) != MountKind::bind || !writable || !path::is_absolute(root)) continue;
        const std::string source = path::clean(mount.source);
        if (!path::covers(root, source) && !path::covers(source, root)) continue;
        return unenforceable("tools", "config.json binds " + mount.source +
                                          ", a part of the image, writable at " + mount.destination);
    }
    return {};
}

// What can be written to under one name must not be executable under another.
void close_second_names(SandboxPlan& plan) {
    std::vector<Mount>& mounts = plan.spec.mounts;
    for (Mount& mount : mounts) {
        if (kind_of(mount) != MountKind::bind || is_writable(mount)) continue;
        const bool second_name = std::any_of(mounts.begin(), mounts.end(), [&](const Mount& other) {
            return &other != &mount && kind_of(other) == MountKind::bind &&
                   (is_writable(other) || has_slice(plan, other)) && may_overlap(mount, other);
        });
        const bool names_slice = std::any_of(plan.slices.begin(), plan.slices.end(), [&](const Slice& slice) {
            const std::string place = plan.spec.root.path + slice.path;
            return slice.mount.empty() && (path::covers(place, path::clean(mount.source)) ||
                                           path::covers(path::clean(mount.source), place));
        });
        if (second_name || names_slice) make_harmless(mount);
    }
}

void record_changes(SandboxPlan& plan, const std::vector<Mount>& before, const std::vector<Change>& changes) {
    for (size_t index = 0; index < before.size(); ++index) {
        const Mount& after = plan.spec.mounts[index];
        if (after.options == before[index].options) continue;
        plan.narrowings.push_back({.field = "mounts[" + after.destination + "]",
                                   .asked = list_text(before[index].options),
                                   .effective = list_text(after.options),
                                   .layer = changes[index].layer,
                                   .reason = changes[index].reason});
    }
}

}  // namespace

Access granted_access(const grant::Filesystem& grant, std::string_view path) {
    size_t longest = 0;
    Access access = Access::read_only;
    for (const std::string& root : grant.read_write) {
        if (path::covers(root, path) && root.size() > longest) {
            longest = root.size();
            access = Access::read_write;
        }
    }
    for (const std::string& root : grant.read_only) {
        if (path::covers(root, path) && root.size() >= longest) {
            longest = root.size();
            access = Access::read_only;
        }
    }
    return access;
}

Status narrow_mounts(SandboxPlan& plan, const grant::Grant& grant) {
    TRY(refuse_single_tools_of_mounts(plan, grant));
    const grant::Filesystem files = grant.filesystem.value_or(grant::Filesystem{});
    const std::vector<Mount> before = plan.spec.mounts;
    std::vector<Change> changes;
    for (Mount& mount : plan.spec.mounts)
        changes.push_back(narrow_mount(plan, grant, files, mount));
    close_second_names(plan);
    record_changes(plan, before, changes);
    return refuse_image_under_another_name(plan);
}

// A mount made inside must not reach the host; one made on the host later would appear inside with rights that nobody has decided on.
void narrow_propagation(SandboxPlan& plan) {
    constexpr std::array kOpen = {"shared", "rshared", "slave", "rslave"};
    for (Mount& mount : plan.spec.mounts) {
        for (const char* word : kOpen) {
            if (!has(mount.options, word)) continue;
            remove(mount.options, word);
            mount.options.emplace_back("rprivate");
            plan.narrowings.push_back({.field = "mounts[" + mount.destination + "]",
                                       .asked = word,
                                       .effective = "rprivate",
                                       .layer = "builtin",
                                       .reason = "mounts made later on either side stay there"});
        }
    }
    std::string& root = plan.spec.linux_.rootfs_propagation;
    if (root == "rprivate" || root.ends_with("unbindable")) return;
    plan.narrowings.push_back({.field = "linux.rootfsPropagation",
                               .asked = root.empty() ? "rslave" : root,
                               .effective = "rprivate",
                               .layer = "builtin",
                               .reason = "mounts made later on either side stay there"});
    root = "rprivate";
}

}  // namespace rung::plan

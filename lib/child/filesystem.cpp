// New file systems: fsopen(2), fsconfig(2), fsmount(2), and the few that need more than that.
// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <sys/mount.h>
#include <sys/stat.h>

#include <algorithm>

#include "base/fd.hpp"
#include "child/proc_guard.hpp"
#include "child/small_text.hpp"
#include "child/targets.hpp"
#include "child/tmpfs_copy.hpp"
#include "child/trees.hpp"
#include "kernel/syscalls.hpp"

namespace rung::child {
namespace {

constexpr size_t kMaxFsconfigValue = 255;
constexpr size_t kMaxMountData = 4096;  // a page, mount(2)
constexpr size_t kDescriptorPath = 40;

// Where the file system goes.
struct Target {
    Fd place = {};
    bool existed = true;
};

Target open_target(const Context& context, const MountFilesystem& step) {
    const char* path = step.target.c_str();
    Target target{.place = Fd{step.must_be_plain_directory ? resolve_plain_directory(context, path)
                                                           : resolve(context, path)}};
    if (target.place.get() != -ENOENT) return target;
    target.existed = false;
    target.place = Fd{resolve_or_make(context, path, TargetKind::directory)};
    // Once more: what was missing a moment ago may be a symlink by now.
    if (target.place && step.must_be_plain_directory)
        target.place = Fd{resolve_plain_directory(context, path)};
    return target;
}

Outcome bad_target(int result, const MountFilesystem& step) {
    if (step.must_be_plain_directory && (result == -ELOOP || result == -ENOTDIR))
        return failed(result, Detail::target_is_symlink);
    return failed(result, Detail::target_create, step.target.c_str());
}

// A file system that is mounted nowhere yet, or why there is none.
struct NewTree {
    Fd tree = {};
    Outcome outcome = {};
};

NewTree no_tree(int result, const char* option = nullptr) {
    return {.outcome = failed(result, Detail::none, option)};
}

int configure(int filesystem, const char* key, const char* value) {
    if (*value == '\0') return kernel::fsconfig(filesystem, FSCONFIG_SET_FLAG, key, nullptr, 0);
    return kernel::fsconfig(filesystem, FSCONFIG_SET_STRING, key, value, 0);
}

// `mode`: the tmpfs option of that name, empty for none.
NewTree make_filesystem(const MountFilesystem& step, const char* mode, uint64_t attributes) {
    const Fd filesystem{kernel::fsopen(step.type.c_str(), FSOPEN_CLOEXEC)};
    if (!filesystem) return no_tree(filesystem.get());
    if (!step.source.empty()) {
        const int result = configure(filesystem.get(), "source", step.source.c_str());
        if (result < 0) return no_tree(result, "source");
    }
    for (const auto& [key, value] : step.options) {
        const int result = configure(filesystem.get(), key.c_str(), value.c_str());
        if (result < 0) return no_tree(result, key.c_str());
    }
    if (*mode != '\0') {
        if (const int result = configure(filesystem.get(), "mode", mode); result < 0)
            return no_tree(result, "mode");
    }
    const int created = kernel::fsconfig(filesystem.get(), FSCONFIG_CMD_CREATE, nullptr, nullptr, 0);
    if (created < 0) return no_tree(created);
    const int tree =
        kernel::fsmount(filesystem.get(), FSMOUNT_CLOEXEC, static_cast<unsigned int>(attributes));
    return tree < 0 ? no_tree(tree) : NewTree{.tree = Fd{tree}};
}

// A new sysfs needs a network namespace that belongs to the user namespace. The host's own, recursively,
// stands in for it.
NewTree clone_host_sysfs(const MountFilesystem& step) {
    const Fd sysfs{kernel::checked(open("/sys", O_PATH | O_DIRECTORY | O_CLOEXEC))};
    if (!sysfs) return no_tree(sysfs.get());
    Fd tree{clone_tree(sysfs.get(), Depth::recursive)};
    if (!tree) return no_tree(tree.get());
    const int result = set_attributes(tree.get(), step.attributes, 0, Depth::recursive);
    return result < 0 ? no_tree(result) : NewTree{.tree = std::move(tree)};
}

NewTree make_tree(const MountFilesystem& step, const char* mode) {
    // Read-only comes last where something has to be written first.
    const uint64_t later = step.copy_up ? uint64_t{MOUNT_ATTR_RDONLY} : 0;
    NewTree made = make_filesystem(step, mode, step.attributes & ~later);
    if (made.outcome.error == EPERM && step.type == "sysfs") made = clone_host_sysfs(step);
    return made;
}

bool fits_fsconfig(const MountFilesystem& step) {
    return step.source.size() <= kMaxFsconfigValue &&
           std::all_of(step.options.begin(), step.options.end(),
                       [](const auto& option) { return option.second.size() <= kMaxFsconfigValue; });
}

unsigned long mount_flags(uint64_t attributes) {
    unsigned long flags = 0;
    if ((attributes & MOUNT_ATTR_RDONLY) != 0) flags |= MS_RDONLY;
    if ((attributes & MOUNT_ATTR_NOSUID) != 0) flags |= MS_NOSUID;
    if ((attributes & MOUNT_ATTR_NODEV) != 0) flags |= MS_NODEV;
    if ((attributes & MOUNT_ATTR_NOEXEC) != 0) flags |= MS_NOEXEC;
    if ((attributes & MOUNT_ATTR_NODIRATIME) != 0) flags |= MS_NODIRATIME;
    if ((attributes & MOUNT_ATTR_NOSYMFOLLOW) != 0) flags |= MS_NOSYMFOLLOW;
    if ((attributes & MOUNT_ATTR__ATIME) == MOUNT_ATTR_NOATIME) flags |= MS_NOATIME;
    if ((attributes & MOUNT_ATTR__ATIME) == MOUNT_ATTR_STRICTATIME) flags |= MS_STRICTATIME;
    return flags;
}

// For an option longer than fsconfig(2) takes, such as overlay's lowerdir: mount(2) onto the descriptor, by
// the one path that names it.
Outcome mount_by_path(const Context& context, const MountFilesystem& step, int target) {
    if (const int result = guard_proc(context, -1, target); result < 0)
        return failed(result, Detail::target_in_proc, step.target.c_str());
    char data[kMaxMountData];
    SmallText text{data, sizeof data};
    for (const auto& [key, value] : step.options) {
        if (text.length() > 0) text.add(",");
        text.add(key.data(), key.size());
        if (!value.empty()) text.add("=").add(value.data(), value.size());
    }
    if (!text.complete()) return failed(-E2BIG);
    char path[kDescriptorPath];
    SmallText{path, sizeof path}.add("/proc/self/fd/").add_decimal(static_cast<uint64_t>(target));
    if (mount(step.source.c_str(), path, step.type.c_str(), mount_flags(step.attributes), data) < 0)
        return failed(-errno);

    // `target` is what is underneath now.
    const Fd mounted{resolve(context, step.target.c_str())};
    if (!mounted) return failed(mounted.get());
    return failed(set_propagation(mounted.get(), step.propagation));
}

}  // namespace

Outcome perform(Context& context, const MountFilesystem& step) {
    const Target target = open_target(context, step);
    if (!target.place) return bad_target(target.place.get(), step);
    if (!fits_fsconfig(step) && step.becomes_root) return failed(-E2BIG);
    if (!fits_fsconfig(step)) return mount_by_path(context, step, target.place.get());

    char mode[8] = {};
    struct stat status {};
    if (step.inherit_mode && target.existed && fstat(target.place.get(), &status) == 0)
        SmallText{mode, sizeof mode}.add_octal(status.st_mode & 07777);
    NewTree made = make_tree(step, mode);
    if (made.outcome.failed()) return made.outcome;
    const int tree = made.tree.get();
    if (const int guarded = guard_proc(context, tree, target.place.get()); guarded < 0)
        return failed(guarded, Detail::target_in_proc, step.target.c_str());

    int result = step.copy_up && target.existed ? copy_content(target.place.get(), tree) : 0;
    // A new mount has exactly the attributes it was made with; only what could not be written to before is left.
    const uint64_t later = step.copy_up ? step.attributes & MOUNT_ATTR_RDONLY : 0;
    if (result >= 0 && later != 0) result = set_attributes(tree, later, 0, Depth::one_mount);
    if (result >= 0) result = attach(tree, target.place.get());
    if (result >= 0) result = set_propagation(tree, step.propagation);
    if (result >= 0 && step.becomes_root) keep_root(context, made.tree.release());
    return failed(result);
}

}  // namespace rung::child

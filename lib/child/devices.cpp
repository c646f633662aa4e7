// /dev: its links and nodes. They are made at descriptors of directories that were resolved inside the root,
// and every node is looked at again through a descriptor of its own before its mode or owner changes: a name
// may have been replaced meanwhile.
// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <limits.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include <cstring>

#include "base/fd.hpp"
#include "child/small_text.hpp"
#include "child/targets.hpp"
#include "child/trees.hpp"
#include "kernel/syscalls.hpp"

namespace rung::child {
namespace {

constexpr size_t kDescriptorPath = 40;
constexpr const char* kPtmx = "pts/ptmx";

int make_link(int directory, const char* name, const char* content) {
    const int result = kernel::checked(symlinkat(content, directory, name));
    return result == -EEXIST ? 0 : result;
}

// A /dev/ptmx of the image's would be a device of the host's devpts instance.
int replace_ptmx(int dev) {
    char content[16];
    const ssize_t length = readlinkat(dev, "ptmx", content, sizeof content);
    if (length == static_cast<ssize_t>(strlen(kPtmx)) && memcmp(content, kPtmx, strlen(kPtmx)) == 0) return 0;
    if (unlinkat(dev, "ptmx", 0) < 0 && errno != ENOENT) return -errno;
    return kernel::checked(symlinkat(kPtmx, dev, "ptmx"));
}

int make_links(const Context& context, int dev) {
    struct Link {
        const char* name;
        const char* content;
    };
    // runtime-spec config-linux.md, "Dev symbolic links".
    for (const Link& link : {Link{"fd", "/proc/self/fd"}, Link{"stdin", "/proc/self/fd/0"},
                             Link{"stdout", "/proc/self/fd/1"}, Link{"stderr", "/proc/self/fd/2"}}) {
        if (const int result = make_link(dev, link.name, link.content); result < 0) return result;
    }
    const Fd core{resolve(context, "/proc/kcore")};
    return core ? make_link(dev, "core", "/proc/kcore") : 0;
}

mode_t type_of(const config::Device& device) {
    switch (device.type) {
        case config::DeviceType::block:
            return S_IFBLK;
        case config::DeviceType::character:
            return S_IFCHR;
        case config::DeviceType::fifo:
            return S_IFIFO;
    }
    return 0;
}

// Through /proc/self/fd, which is the host's until the pivot: fchmod(2) refuses an O_PATH descriptor, and a
// name can be swapped for a symlink out of the root. fchmodat2(2) would do, from Linux 6.6 on.
int change_mode(int node, mode_t mode) {
    char path[kDescriptorPath];
    SmallText{path, sizeof path}.add("/proc/self/fd/").add_decimal(static_cast<uint64_t>(node));
    return kernel::checked(chmod(path, mode));
}

// An image's own node is as good as a new one; any other file of that name is not touched.
int verify_and_own(int node, const config::Device& device, mode_t mode, dev_t number) {
    struct stat status {};
    if (fstat(node, &status) < 0) return -errno;
    const bool is_fifo = device.type == config::DeviceType::fifo;
    if ((status.st_mode & S_IFMT) != type_of(device) || (!is_fifo && status.st_rdev != number))
        return -EEXIST;
    if (status.st_uid != device.uid || status.st_gid != device.gid) {
        if (fchownat(node, "", device.uid, device.gid, AT_EMPTY_PATH) < 0) return -errno;
    }
    return (status.st_mode & 07777) == mode ? 0 : change_mode(node, mode);
}

Outcome bind_node(const Context& context, int node, const char* path) {
    const Fd tree{clone_tree(node, Depth::one_mount)};
    if (!tree) return failed(tree.get());
    const Fd target{resolve_or_make(context, path, TargetKind::file)};
    if (!target) return failed(target.get(), Detail::target_create, path);
    return failed(attach(tree.get(), target.get()));
}

}  // namespace

Outcome perform(Context& context, const PrepareDev& step) {
    Fd dev{resolve_plain_directory(context, "/dev")};
    if (dev.get() == -ENOENT) {
        const int made = kernel::checked(mkdirat(context.root, "dev", 0755));
        if (made < 0 && made != -EEXIST) return failed(made);
        dev = Fd{resolve_plain_directory(context, "/dev")};
    }
    // Whatever is made in /dev would be made where a symlink leads (CVE-2026-41579).
    if (dev.get() == -ELOOP || dev.get() == -ENOTDIR) return failed(dev.get(), Detail::unsafe_dev);
    if (!dev) return failed(dev.get());

    if (const int result = make_links(context, dev.get()); result < 0) return failed(result);
    return failed(step.ptmx ? replace_ptmx(dev.get()) : 0);
}

Outcome perform(Context& context, const MakeDevice& step) {
    const config::Device& device = step.device;
    const mode_t mode = device.mode.value_or(config::kDefaultDeviceMode) & 07777;
    const bool is_fifo = device.type == config::DeviceType::fifo;
    const dev_t number = is_fifo ? 0 : makedev(device.major, device.minor);
    const char* name = nullptr;
    const Fd directory{resolve_parent(context, device.path.c_str(), name)};
    if (!directory) return failed(directory.get());

    const int made = kernel::checked(mknodat(directory.get(), name, type_of(device) | mode, number));
    if (made < 0 && made != -EEXIST) return failed(made);
    const Fd node{kernel::checked(openat(directory.get(), name, O_PATH | O_NOFOLLOW | O_CLOEXEC))};
    if (!node) return failed(node.get());
    return failed(verify_and_own(node.get(), device, mode, number));
}

Outcome perform(Context& context, const BindDevice& step) {
    const char* path = step.path.c_str();
    const Fd node{kernel::checked(open(path, O_PATH | O_NOFOLLOW | O_CLOEXEC))};
    if (!node) return failed(node.get(), Detail::source, path);
    struct stat status {};
    if (fstat(node.get(), &status) < 0) return failed(-errno, Detail::source, path);
    if (!S_ISCHR(status.st_mode) && !S_ISBLK(status.st_mode)) return failed(-ENODEV, Detail::source, path);

    return bind_node(context, node.get(), path);
}

// Before Linux 6.15 only what is attached can be cloned. Over the root it covers nothing: paths start at the descriptor beneath.
Outcome perform(Context& context, const BindNodes& step) {
    const Fd nodes{context.descriptors.slots[static_cast<size_t>(step.nodes)]};
    context.descriptors.slots[static_cast<size_t>(step.nodes)] = -1;
    if (const int result = attach(nodes.get(), context.root); result < 0) return failed(result);
    for (size_t index = 0; index < step.paths.size(); ++index) {
        char name[kDescriptorPath];
        SmallText{name, sizeof name}.add_decimal(index);
        const char* path = step.paths[index].c_str();
        const Fd node{kernel::checked(openat(nodes.get(), name, O_PATH | O_NOFOLLOW | O_CLOEXEC))};
        if (!node) return failed(node.get(), Detail::source, path);
        const Outcome bound = bind_node(context, node.get(), path);
        if (bound.failed()) return failed(-bound.error, bound.detail, path);
    }
    const Fd here{kernel::checked(open(".", O_PATH | O_DIRECTORY | O_CLOEXEC))};
    if (!here) return failed(here.get());
    if (fchdir(nodes.get()) < 0 || umount2(".", MNT_DETACH) < 0 || fchdir(here.get()) < 0)
        return failed(-errno);
    return done();
}

Outcome perform(Context& context, const MakeSymlink& step) {
    const char* name = nullptr;
    const Fd directory{resolve_parent(context, step.path.c_str(), name)};
    if (!directory) return failed(directory.get(), Detail::target_create, step.path.c_str());
    const char* content = step.content.c_str();
    if (const int made = make_link(directory.get(), name, content); made < 0 || !step.must_be_it)
        return failed(made);
    char found[PATH_MAX];
    const ssize_t length = readlinkat(directory.get(), name, found, sizeof found);
    const bool same =
        length == static_cast<ssize_t>(strlen(content)) && memcmp(found, content, strlen(content)) == 0;
    return same ? done() : failed(-EEXIST, Detail::target_create, step.path.c_str());
}

}  // namespace rung::child

// Landlock's rules for a grant. A rule holds for a directory and all beneath it, across mounts; rights of several rules add up, so what is
// taken away within a granted tree (hidden, read-only, noexec) is the mounts' to enforce. landlock(7).
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "base/path.hpp"
#include "kernel/landlock.hpp"
#include "plan/mount_kind.hpp"
#include "plan/narrow.hpp"

namespace rung::plan {
namespace {

namespace landlock = kernel::landlock;

constexpr uint64_t kRead = landlock::kReadFile | landlock::kReadDirectory;
// Device nodes are never made; who may not (CAP_MKNOD) could not anyway.
constexpr uint64_t kWrite = landlock::kWriteFile | landlock::kTruncate | landlock::kMakeFile |
                            landlock::kMakeDirectory | landlock::kMakeSymlink | landlock::kMakeFifo |
                            landlock::kMakeSocket | landlock::kRemoveFile | landlock::kRemoveDirectory |
                            landlock::kRefer;
constexpr uint64_t kUseDevices =
    kRead | landlock::kWriteFile | landlock::kTruncate | landlock::kIoctlOnDevice;

// Everything that the kernel's ABI knows is denied unless a rule allows it.
uint64_t handled_by(int abi) {
    if (abi < 1) return 0;
    uint64_t handled = landlock::kRefer - 1;  // ABI 1: every right below
    if (abi >= 2) handled |= landlock::kRefer;
    if (abi >= 3) handled |= landlock::kTruncate;
    if (abi >= 5) handled |= landlock::kIoctlOnDevice;
    return handled;
}

// A namespace of the container's own keeps signals and abstract sockets in without cutting `exec` sessions off from the first process, which
// are in a domain each. One that others use (a pod's) does not.
uint64_t scoped_by(int abi, const config::Spec& spec) {
    constexpr int kFirstWithScopes = 6;
    const auto is_shared = [&](config::NamespaceType type) {
        const config::Namespace* found = spec.find_namespace(type);
        return found == nullptr || !found->path.empty();
    };
    uint64_t scoped = 0;
    if (abi < kFirstWithScopes) return scoped;
    if (is_shared(config::NamespaceType::pid)) scoped |= landlock::kScopeSignals;
    if (is_shared(config::NamespaceType::network)) scoped |= landlock::kScopeAbstractSockets;
    return scoped;
}

bool lies_in_image(const config::Spec& spec, const std::string& path) {
    return mount_holding(spec.mounts, path) == nullptr;
}

class Rules {
  public:
    Rules(SandboxPlan& plan, const grant::Grant& grant, const ImageFacts& image)
        : plan_(plan), grant_(grant), image_(image), everything_(grants_every_program(grant)) {}

    void add_all() {
        // The kernel's own: masks and mount flags decide what of them can be read and written.
        add("/proc", kUseDevices);
        add("/dev", kUseDevices);
        const grant::Filesystem files = grant_.filesystem.value_or(grant::Filesystem{});
        if (files.rootfs == grant::RootfsAccess::read_only) add_readable("/", "");
        for (const std::string& path : files.read_only)
            add_readable(path, "filesystem.readOnly");
        for (const std::string& path : files.read_write)
            add(path, kRead | kWrite, "filesystem.readWrite");
        for (const grant::Tmpfs& scratch : files.tmpfs)
            add(scratch.path, kRead | kWrite);
        for (const std::string& piece : image_.readable)
            add(piece, kRead);
        if (!everything_) add_tools();
    }

  private:
    void add(const std::string& path, uint64_t access, const std::string& field = {}) {
        plan_.files.rules.push_back({.path = path, .access = access, .field = field});
    }

    // Of the image only the names are open at once when some of its programs are not: what can be read there has been listed. Nothing can
    // be executed on the mounts that lie on it.
    void add_readable(const std::string& path, const std::string& field) {
        if (everything_) return add(path, kRead | landlock::kExecute, field);
        if (!lies_in_image(plan_.spec, path)) return add(path, kRead, field);
        add(path, landlock::kReadDirectory, field);
        for (const config::Mount& mount : plan_.spec.mounts) {
            const std::string destination = path::clean(mount.destination);
            if (path::covers(path, destination)) add(destination, kRead);
        }
    }

    void add_tools() {
        for (const grant::Tool& tool : *grant_.tools) {
            add(tool.path, kRead | landlock::kExecute, "tools");
            plan_.files.tools.push_back(tool.path);
        }
        for (const std::string& loader : image_.loaders)
            add(loader, landlock::kReadFile | landlock::kExecute);
    }

    SandboxPlan& plan_;
    const grant::Grant& grant_;
    const ImageFacts& image_;
    bool everything_;
};

}  // namespace

void allow_files(SandboxPlan& plan, const grant::Grant& grant, const kernel::HostFacts& host,
                 const ImageFacts& image) {
    plan.files.handled = handled_by(host.landlock_abi);
    plan.files.scoped = scoped_by(host.landlock_abi, plan.spec);
    if (plan.files.handled != 0) Rules(plan, grant, image).add_all();
}

}  // namespace rung::plan

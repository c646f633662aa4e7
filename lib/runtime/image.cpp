// Looking into an image from outside, before the container is there.
// SPDX-License-Identifier: Apache-2.0
#include "runtime/image.hpp"

#include <fcntl.h>
#include <limits.h>
#include <linux/openat2.h>
#include <unistd.h>

#include <algorithm>
#include <set>

#include "base/fd.hpp"
#include "base/path.hpp"
#include "kernel/syscalls.hpp"
#include "runtime/programs.hpp"

namespace rung::runtime {
namespace {

// One name of the image at a time, with the image's root as the end of every symlink.
class RealPaths {
  public:
    RealPaths(int root, const std::string& rootfs) : root_(root), rootfs_(rootfs == "/" ? "" : rootfs) {}

    void add_mount(const std::string& destination) { mounts_.insert(find(destination)); }

    // The real name of a clean absolute path. What does not exist, and what a mount holds, keeps the name that it has.
    std::string find(const std::string& path) const {
        std::string real = "/";
        const std::vector<std::string> parts = path::components(path);
        for (size_t index = 0; index < parts.size(); ++index) {
            const std::string next = path::clean(real + "/" + parts[index]);
            const std::string found = mounts_.contains(next) ? "" : follow(next);
            if (found.empty()) return with_rest(next, parts, index + 1);
            real = found;
            if (mounts_.contains(real)) return with_rest(real, parts, index + 1);
        }
        return real;
    }

  private:
    static std::string with_rest(std::string path, const std::vector<std::string>& parts, size_t from) {
        for (size_t index = from; index < parts.size(); ++index)
            path += "/" + parts[index];
        return path::clean(path);
    }

    // "" when there is nothing by this name.
    std::string follow(const std::string& path) const {
        open_how how{};
        how.flags = O_PATH | O_CLOEXEC;
        how.resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS;
        const Fd file{kernel::openat2(root_, path.c_str(), how)};
        if (!file) return {};
        char place[PATH_MAX];
        const std::string link = "/proc/self/fd/" + std::to_string(file.get());
        const ssize_t length = readlink(link.c_str(), place, sizeof place);
        if (length <= 0 || static_cast<size_t>(length) == sizeof place) return {};
        const std::string whole(place, static_cast<size_t>(length));
        if (whole == rootfs_) return "/";
        return whole.starts_with(rootfs_ + "/") ? whole.substr(rootfs_.size()) : std::string{};
    }

    int root_;
    std::string rootfs_;
    std::set<std::string> mounts_ = {};
};

void note(plan::ImageFacts& facts, const RealPaths& paths, const std::string& path) {
    std::string real = paths.find(path);
    if (real != path) facts.real_paths[path] = std::move(real);
}

void resolve_paths(plan::ImageFacts& facts, RealPaths& paths, const config::Spec& spec,
                   const grant::Grant& grant) {
    // One mount may lie on a path that an earlier one has.
    for (const config::Mount& mount : spec.mounts) {
        const std::string destination = path::clean(mount.destination);
        const std::string real = paths.find(destination);
        if (real != mount.destination) facts.real_paths[mount.destination] = real;
        paths.add_mount(destination);
    }
    if (grant.filesystem) {
        for (const auto* list :
             {&grant.filesystem->read_only, &grant.filesystem->read_write, &grant.filesystem->hidden}) {
            for (const std::string& path : *list)
                note(facts, paths, path);
        }
        for (const grant::Tmpfs& scratch : grant.filesystem->tmpfs)
            note(facts, paths, scratch.path);
    }
    if (!grant.tools) return;
    for (const grant::Tool& tool : *grant.tools)
        note(facts, paths, tool.path);
}

}  // namespace

Result<plan::ImageFacts> look_into_image(const grant::Grant& grant, const config::Spec& spec,
                                         const std::string& rootfs) {
    plan::ImageFacts facts;
    const Fd root{open(rootfs.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC)};
    if (!root) return errno_error(rootfs, errno);
    RealPaths paths{root.get(), rootfs};
    resolve_paths(facts, paths, spec, grant);
    if (!grant.tools || plan::grants_every_program(grant)) return facts;

    const grant::Grant placed = plan::with_real_paths(grant, facts);
    std::vector<std::string> tools;
    for (const grant::Tool& tool : *placed.tools)
        tools.push_back(tool.path);
    const std::vector<std::string> places = plan::readable_places(plan::with_real_paths(spec, facts), placed);
    Programs programs = TRY(find_programs(root.get(), places, tools));
    facts.readable = std::move(programs.readable);
    for (const std::string& loader : programs.loaders)
        facts.loaders.push_back(paths.find(loader));
    return facts;
}

}  // namespace rung::runtime

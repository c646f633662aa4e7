// Real paths in place of those that were written.
// SPDX-License-Identifier: Apache-2.0
#include "plan/image_facts.hpp"

#include "base/path.hpp"
#include "plan/mount_kind.hpp"

namespace rung::plan {
namespace {

void replace(std::string& path, const ImageFacts& image) {
    const auto found = image.real_paths.find(path);
    if (found != image.real_paths.end()) path = found->second;
}

}  // namespace

grant::Grant with_real_paths(grant::Grant grant, const ImageFacts& image) {
    if (grant.filesystem) {
        for (auto* list :
             {&grant.filesystem->read_only, &grant.filesystem->read_write, &grant.filesystem->hidden}) {
            for (std::string& path : *list)
                replace(path, image);
        }
        for (grant::Tmpfs& scratch : grant.filesystem->tmpfs)
            replace(scratch.path, image);
    }
    if (grant.tools) {
        for (grant::Tool& tool : *grant.tools)
            replace(tool.path, image);
    }
    return grant;
}

config::Spec with_real_paths(config::Spec spec, const ImageFacts& image) {
    for (config::Mount& mount : spec.mounts)
        replace(mount.destination, image);
    return spec;
}

bool grants_every_program(const grant::Grant& grant) {
    return grant.tools && grant.tools->size() == 1 && grant.tools->front().path == "/" &&
           grant.tools->front().sha256.empty();
}

std::vector<std::string> readable_places(const config::Spec& spec, const grant::Grant& grant) {
    if (grants_every_program(grant) || !grant.filesystem) return {};
    if (grant.filesystem->rootfs == grant::RootfsAccess::read_only) return {"/"};
    std::vector<std::string> places;
    for (const std::string& path : grant.filesystem->read_only) {
        if (mount_holding(spec.mounts, path) == nullptr) places.push_back(path);
    }
    return places;
}

}  // namespace rung::plan

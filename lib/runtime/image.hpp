// What the host knows of an image and a decision needs: where its symlinks lead, and which of its files are programs.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "base/result.hpp"
#include "config/spec.hpp"
#include "grant/grant.hpp"
#include "plan/image_facts.hpp"

namespace rung::runtime {

// Resolves the paths of the grant and the destinations of the mounts within the image. What lies below a mount is not the image's to lead
// elsewhere. When the grant lists tools, it also walks what the task may read of the image, which takes time with the number of files, and tells
// programs from other files: whatever the kernel executes, or a loader that is handed the file.
Result<plan::ImageFacts> look_into_image(const grant::Grant& grant, const config::Spec& spec,
                                         const std::string& rootfs);

}  // namespace rung::runtime

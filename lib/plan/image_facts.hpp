// ImageFacts: what has to be known of the image before a grant's paths and tools can be decided on; looked up once, then a value.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>
#include <vector>

#include "config/spec.hpp"
#include "grant/grant.hpp"

namespace rung::plan {

struct ImageFacts {
    // Where a path really is, for each path of the grant and each destination of a mount that a symlink of the image leads elsewhere.
    std::map<std::string, std::string> real_paths = {};
    // Trees and files that together are all that the grant lets the task read of the image, without the programs that it does not grant.
    std::vector<std::string> readable = {};
    // The loaders that the granted programs name (PT_INTERP, elf(5)): executing one of these opens the loader as well.
    std::vector<std::string> loaders = {};
    bool operator==(const ImageFacts&) const = default;
};

// The same with every path by its real name, so that no symlink has to be followed later.
grant::Grant with_real_paths(grant::Grant grant, const ImageFacts& image);
config::Spec with_real_paths(config::Spec spec, const ImageFacts& image);

// True for [/]: every program of the image, so that nobody has to know which there are.
bool grants_every_program(const grant::Grant& grant);

// The parts of the image that the grant lets the task read, where programs have to be looked for; real paths. Empty when every program is
// granted.
std::vector<std::string> readable_places(const config::Spec& spec, const grant::Grant& grant);

}  // namespace rung::plan

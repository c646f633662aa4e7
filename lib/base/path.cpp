// Paths as text: split, join, compare. Nothing here asks the file system, so a symlink is just a name.
// SPDX-License-Identifier: Apache-2.0
#include "base/path.hpp"

namespace rung::path {

std::vector<std::string> components(std::string_view path) {
    std::vector<std::string> names;
    while (!path.empty()) {
        const size_t slash = path.find('/');
        const std::string_view name = path.substr(0, slash);
        if (!name.empty() && name != ".") names.emplace_back(name);
        if (slash == std::string_view::npos) break;
        path.remove_prefix(slash + 1);
    }
    return names;
}

std::string clean(std::string_view path) {
    std::vector<std::string> kept;
    for (std::string& name : components(path)) {
        if (name != "..") {
            kept.push_back(std::move(name));
        } else if (!kept.empty()) {
            kept.pop_back();
        }
    }
    std::string text;
    for (const std::string& name : kept) {
        text += '/';
        text += name;
    }
    return text.empty() ? "/" : text;
}

std::string join(std::string_view base, std::string_view path) {
    if (is_absolute(path)) return std::string{path};
    std::string text{base};
    if (!text.ends_with('/')) text += '/';
    text += path;
    return text;
}

std::string parent(std::string_view clean_path) {
    const size_t slash = clean_path.rfind('/');
    if (slash == std::string_view::npos || slash == 0) return "/";
    return std::string{clean_path.substr(0, slash)};
}

std::string file_name(std::string_view clean_path) {
    const size_t slash = clean_path.rfind('/');
    return std::string{slash == std::string_view::npos ? clean_path : clean_path.substr(slash + 1)};
}

}  // namespace rung::path

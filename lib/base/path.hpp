// Lexical path arithmetic: no file system is consulted.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace rung::path {

// Inline, as covers() is: what runs between clone and exec calls them too.
inline bool is_absolute(std::string_view path) {
    return path.starts_with('/');
}
// The path's components, without empty ones and "."; ".." is kept.
std::vector<std::string> components(std::string_view path);
// An absolute path with "." and ".." resolved by name; ".." at the root stays at the root. "a/b" becomes "/a/b".
std::string clean(std::string_view path);
// `path` when absolute, otherwise base + "/" + path, not cleaned.
std::string join(std::string_view base, std::string_view path);
// True when `path` is `root` or lies beneath it: "/work" covers "/work/a", never "/workshop". Both are clean.
inline bool covers(std::string_view root, std::string_view path) {
    if (root == "/") return is_absolute(path);
    if (!path.starts_with(root)) return false;
    // The character after the prefix tells "/work/a" from "/workshop".
    return path.size() == root.size() || path[root.size()] == '/';
}
std::string parent(std::string_view clean_path);     // "/" for "/"
std::string file_name(std::string_view clean_path);  // "" for "/"

}  // namespace rung::path

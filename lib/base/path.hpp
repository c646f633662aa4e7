// Lexical path arithmetic: no file system is consulted.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace rung::path {

bool is_absolute(std::string_view path);
// The path's components, without empty ones and "."; ".." is kept.
std::vector<std::string> components(std::string_view path);
// An absolute path with "." and ".." resolved by name; ".." at the root stays at the root. "a/b" becomes "/a/b".
std::string clean(std::string_view path);
// `path` when absolute, otherwise base + "/" + path, not cleaned.
std::string join(std::string_view base, std::string_view path);
// True when `path` is `root` or lies beneath it: "/work" covers "/work/a", never "/workshop". Both are clean.
bool covers(std::string_view root, std::string_view path);
std::string parent(std::string_view clean_path);     // "/" for "/"
std::string file_name(std::string_view clean_path);  // "" for "/"

}  // namespace rung::path

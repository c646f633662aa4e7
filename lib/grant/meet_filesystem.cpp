// Paths and tools by hierarchy: an entry covers what lies beneath it, and at each path that a layer lists,
// the lesser access of the two layers holds.
// SPDX-License-Identifier: Apache-2.0
#include <map>
#include <optional>
#include <string>
#include <tuple>

#include "base/path.hpp"
#include "grant/meet_parts.hpp"

namespace rung::grant {

namespace {

enum class Access { none, read, write };  // least first

// A path has the access of the deepest entry that covers it: readOnly beneath readWrite is read-only.
using AccessMap = std::map<std::string, Access>;

AccessMap listed(const Filesystem& filesystem) {
    AccessMap entries;
    for (const std::string& path : filesystem.read_write)
        entries[path] = Access::write;
    for (const std::string& path : filesystem.read_only)
        entries[path] = Access::read;
    return entries;
}

// What the deepest entry gives that covers `path`; nothing when none does.
std::optional<Access> deepest(const AccessMap& entries, const std::string& path) {
    for (std::string root = path;; root = path::parent(root)) {
        const auto entry = entries.find(root);
        if (entry != entries.end()) return entry->second;
        if (root == "/") return std::nullopt;
    }
}

Access access_to(const Filesystem& filesystem, const AccessMap& entries, const std::string& path) {
    const Access image = filesystem.rootfs == RootfsAccess::read_only ? Access::read : Access::none;
    return deepest(entries, path).value_or(image);
}

// Entries that say the same as the one above them are left out.
void list(Filesystem& filesystem, const AccessMap& entries) {
    for (const auto& [path, access] : entries) {
        if (access == Access::none) continue;
        if (path != "/" && deepest(entries, path::parent(path)) == access) continue;
        (access == Access::read ? filesystem.read_only : filesystem.read_write).push_back(path);
    }
}

std::vector<std::string> outermost(std::vector<std::string> paths) {
    paths = sorted_set(std::move(paths));
    std::vector<std::string> kept;
    for (const std::string& path : paths) {
        const bool covered = std::any_of(paths.begin(), paths.end(), [&](const std::string& other) {
            return other != path && path::covers(other, path);
        });
        if (!covered) kept.push_back(path);
    }
    return kept;
}

using TmpfsSizes = std::map<std::string, uint64_t>;

TmpfsSizes tmpfs_sizes(const Filesystem& filesystem) {
    TmpfsSizes sizes;
    for (const Tmpfs& tmpfs : filesystem.tmpfs) {
        const auto [entry, added] = sizes.emplace(tmpfs.path, tmpfs.size);
        if (!added) entry->second = std::min(entry->second, tmpfs.size);
    }
    return sizes;
}

std::vector<Tmpfs> to_list(const TmpfsSizes& sizes) {
    std::vector<Tmpfs> all;
    for (const auto& [path, size] : sizes)
        all.push_back({.path = path, .size = size});
    return all;
}

bool may_write_throughout(const AccessMap& entries, const std::string& path) {
    if (deepest(entries, path) != Access::write) return false;
    return std::none_of(entries.begin(), entries.end(), [&](const auto& entry) {
        return entry.second != Access::write && path::covers(path, entry.first);
    });
}

// Scratch that `one` lists and `other` lists too, or would let be written anyway.
void keep_accepted_tmpfs(TmpfsSizes& kept, const Filesystem& one, const Filesystem& other) {
    const TmpfsSizes others = tmpfs_sizes(other);
    for (const auto& [path, size] : tmpfs_sizes(one)) {
        const auto listed_too = others.find(path);
        if (listed_too != others.end()) {
            kept[path] = std::min(size, listed_too->second);
        } else if (may_write_throughout(listed(other), path)) {
            kept[path] = size;
        }
    }
}

// A pin (a tool with a digest) stands for its own path only, and restricts that path even beneath a granted
// directory.
bool is_pin(const Tool& tool) {
    return !tool.sha256.empty();
}

bool accepts(const std::vector<Tool>& tools, const Tool& asked) {
    return std::any_of(tools.begin(), tools.end(), [&](const Tool& tool) {
        return is_pin(tool) ? is_pin(asked) && tool.path == asked.path : path::covers(tool.path, asked.path);
    });
}

bool tool_before(const Tool& left, const Tool& right) {
    return std::tie(left.path, left.sha256) < std::tie(right.path, right.sha256);
}

bool is_beneath_granted(const Tool& tool, const std::vector<Tool>& tools) {
    return std::any_of(tools.begin(), tools.end(), [&](const Tool& other) {
        return !is_pin(other) && other != tool && path::covers(other.path, tool.path);
    });
}

// Nothing has two digests. Without a granted directory above, which would have to be restricted, such pins
// say nothing.
bool is_contradicted(const Tool& pin, const std::vector<Tool>& tools) {
    return std::any_of(tools.begin(), tools.end(), [&](const Tool& other) {
        return is_pin(other) && other.path == pin.path && other.sha256 != pin.sha256;
    });
}

bool is_redundant(const Tool& tool, const std::vector<Tool>& tools) {
    const bool beneath = is_beneath_granted(tool, tools);
    return is_pin(tool) ? !beneath && is_contradicted(tool, tools) : beneath;
}

}  // namespace

Filesystem normalized_filesystem(const Filesystem& filesystem) {
    Filesystem normal{.rootfs = filesystem.rootfs};
    list(normal, listed(filesystem));
    normal.hidden = outermost(filesystem.hidden);
    normal.tmpfs = to_list(tmpfs_sizes(filesystem));
    return normal;
}

Filesystem meet_filesystems(const Filesystem& left, const Filesystem& right) {
    const AccessMap left_entries = listed(left);
    const AccessMap right_entries = listed(right);
    AccessMap both;
    for (const AccessMap* entries : {&left_entries, &right_entries}) {
        for (const auto& [path, access] : *entries) {
            both[path] = std::min(access_to(left, left_entries, path), access_to(right, right_entries, path));
        }
    }
    Filesystem met{.rootfs = std::min(left.rootfs, right.rootfs)};
    list(met, both);
    std::vector<std::string> hidden = left.hidden;
    hidden.insert(hidden.end(), right.hidden.begin(), right.hidden.end());
    met.hidden = outermost(std::move(hidden));
    TmpfsSizes sizes;
    keep_accepted_tmpfs(sizes, left, right);
    keep_accepted_tmpfs(sizes, right, left);
    met.tmpfs = to_list(sizes);
    return met;
}

std::vector<Tool> normalized_tools(std::vector<Tool> tools) {
    std::sort(tools.begin(), tools.end(), tool_before);
    tools.erase(std::unique(tools.begin(), tools.end()), tools.end());
    std::vector<Tool> kept;
    for (const Tool& tool : tools) {
        if (!is_redundant(tool, tools)) kept.push_back(tool);
    }
    return kept;
}

std::vector<Tool> meet_tools(const std::vector<Tool>& left, const std::vector<Tool>& right) {
    std::vector<Tool> both;
    for (const Tool& tool : left) {
        if (accepts(right, tool)) both.push_back(tool);
    }
    for (const Tool& tool : right) {
        if (accepts(left, tool)) both.push_back(tool);
    }
    return normalized_tools(std::move(both));
}

}  // namespace rung::grant

// Paths and tools by hierarchy: an entry covers what lies beneath it, and where two layers' entries overlap, the deeper
// path gets the lesser access of the two.
// SPDX-License-Identifier: Apache-2.0
#include <map>
#include <string>
#include <tuple>

#include "base/path.hpp"
#include "grant/meet_parts.hpp"

namespace rung::grant {

namespace {

enum class Access { read, write };  // lesser first

// A path's access is the greatest among the entries that cover it.
using AccessMap = std::map<std::string, Access>;

void raise(AccessMap& entries, const std::string& path, Access access) {
    const auto [entry, added] = entries.emplace(path, access);
    if (!added) entry->second = std::max(entry->second, access);
}

AccessMap listed(const Filesystem& filesystem) {
    AccessMap entries;
    for (const std::string& path : filesystem.read_only)
        raise(entries, path, Access::read);
    for (const std::string& path : filesystem.read_write)
        raise(entries, path, Access::write);
    return entries;
}

// Entries that add nothing to one above them are left out.
void list(Filesystem& filesystem, const AccessMap& entries) {
    for (const auto& [path, access] : entries) {
        const bool redundant = std::any_of(entries.begin(), entries.end(), [&](const auto& other) {
            return other.first != path && path::covers(other.first, path) && other.second >= access;
        });
        if (redundant) continue;
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

bool covered_by(const std::vector<std::string>& roots, const std::string& path) {
    return std::any_of(roots.begin(), roots.end(),
                       [&](const std::string& root) { return path::covers(root, path); });
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

// Scratch that `one` lists and `other` lists too, or would let be written anyway.
void keep_accepted_tmpfs(TmpfsSizes& kept, const Filesystem& one, const Filesystem& other) {
    const TmpfsSizes others = tmpfs_sizes(other);
    for (const auto& [path, size] : tmpfs_sizes(one)) {
        const auto listed_too = others.find(path);
        if (listed_too != others.end()) {
            kept[path] = std::min(size, listed_too->second);
        } else if (covered_by(other.read_write, path)) {
            kept[path] = size;
        }
    }
}

AccessMap meet_listed(const AccessMap& left, const AccessMap& right) {
    AccessMap both;
    for (const auto& [left_path, left_access] : left) {
        for (const auto& [right_path, right_access] : right) {
            const Access access = std::min(left_access, right_access);
            if (path::covers(left_path, right_path)) {
                raise(both, right_path, access);
            } else if (path::covers(right_path, left_path)) {
                raise(both, left_path, access);
            }
        }
    }
    return both;
}

// A pin (a tool with a digest) stands for its own path only, and restricts that path even beneath a granted directory.
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

// Nothing has two digests. Without a granted directory above, which would have to be restricted, such pins say nothing.
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
    AccessMap both = meet_listed(listed(left), listed(right));
    // A readable image accepts whatever the other layer lists, for reading.
    const AccessMap image = {{"/", Access::read}};
    if (left.rootfs == RootfsAccess::read_only) {
        for (const auto& [path, access] : meet_listed(image, listed(right)))
            raise(both, path, access);
    }
    if (right.rootfs == RootfsAccess::read_only) {
        for (const auto& [path, access] : meet_listed(image, listed(left)))
            raise(both, path, access);
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

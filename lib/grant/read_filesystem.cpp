// filesystem and tools: paths inside the container, checked by name only.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>

#include "base/path.hpp"
#include "grant/sections.hpp"

namespace rung::grant {

namespace {

constexpr std::size_t kMaxPath = 4095;
constexpr std::size_t kMaxListedPaths = 256;
constexpr std::size_t kMaxTmpfs = 16;

// "/work/" is "/work"; everything else must be written the way it is meant.
Result<std::string> read_path(const Field& field) {
    std::string text = TRY(read_string(field));
    if (!path::is_absolute(text))
        return refuse(field, "path_not_absolute", quoted(text) + " must start with '/'");
    if (text.size() > kMaxPath) return refuse(field, "grant_parse_error", "is longer than 4095 bytes");
    const bool control = std::any_of(text.begin(), text.end(), [](char character) {
        const auto byte = static_cast<unsigned char>(character);
        return byte < 0x20 || byte == 0x7f;
    });
    if (control) return refuse(field, "grant_parse_error", quoted(text) + " holds a control character");
    std::string clean = path::clean(text);
    const bool slash_at_end = text.ends_with('/') && !text.ends_with("//") && text.size() > 1;
    if (slash_at_end) text.pop_back();
    if (clean != text)
        return refuse(field, "path_traversal", quoted(text) + " must not hold '.', '..' or '//'");
    return clean;
}

bool is_reserved(std::string_view clean_path) {
    constexpr std::array kReserved = {"/proc", "/sys", "/dev", "/run/rung"};
    return std::any_of(kReserved.begin(), kReserved.end(),
                       [&](std::string_view reserved) { return path::covers(reserved, clean_path); });
}

Error reserved(const Field& field, std::string_view clean_path, std::string_view what) {
    return refuse(field, "path_reserved", quoted(clean_path) + " " + std::string{what});
}

// A place the task may change: not the whole tree, not what the kernel and rung show there.
Result<std::string> read_writable_path(const Field& field) {
    std::string clean = TRY(read_path(field));
    if (clean == "/" || is_reserved(clean)) return reserved(field, clean, "cannot be writable");
    return clean;
}

Result<std::string> read_hidden_path(const Field& field) {
    std::string clean = TRY(read_path(field));
    if (clean == "/") return reserved(field, clean, "cannot be hidden");
    return clean;
}

Result<std::vector<std::string>> read_paths(const Field& field,
                                            Result<std::string> (*read_one)(const Field&)) {
    std::vector<std::string> paths;
    for (const Field& entry : TRY(read_list(field, {0, kMaxListedPaths})))
        paths.push_back(TRY(read_one(entry)));
    return paths;
}

Result<std::vector<Tmpfs>> read_tmpfs(const Field& field) {
    std::vector<Tmpfs> all;
    for (const Field& entry : TRY(read_list(field, {0, kMaxTmpfs}))) {
        const Section section = TRY(Section::of(entry, {"path", "size"}));
        const Field path_field = TRY(section.require("path"));
        // One by one: a TRY that returns out of braces leaks the members before it (GCC 12, Clang 14).
        Tmpfs tmpfs;
        tmpfs.path = TRY(read_path(path_field));
        tmpfs.size = TRY(read_bytes(TRY(section.require("size"))));
        const bool shared_memory = path::covers("/dev/shm", tmpfs.path);
        if (tmpfs.path == "/" || (is_reserved(tmpfs.path) && !shared_memory)) {
            return reserved(path_field, tmpfs.path, "cannot be a tmpfs");
        }
        const bool repeated =
            std::any_of(all.begin(), all.end(), [&](const Tmpfs& other) { return other.path == tmpfs.path; });
        if (repeated) return refuse(path_field, "grant_conflict", quoted(tmpfs.path) + " is listed twice");
        all.push_back(std::move(tmpfs));
    }
    return all;
}

bool is_sha256(std::string_view text) {
    return text.size() == 64 && text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

Result<std::string> read_tool_path(const Field& field) {
    std::string clean = TRY(read_path(field));
    if (is_reserved(clean)) return reserved(field, clean, "holds no tools");
    return clean;
}

Result<Tool> read_tool(const Field& field) {
    if (field.node->kind != Kind::map) return Tool{.path = TRY(read_tool_path(field))};
    const Section section = TRY(Section::of(field, {"path", "sha256"}));
    Tool tool{.path = TRY(read_tool_path(TRY(section.require("path"))))};
    if (const auto digest = section.find("sha256")) {
        tool.sha256 = TRY(read_string(*digest));
        if (!is_sha256(tool.sha256)) {
            return refuse(*digest, "grant_parse_error", "must be 64 lower-case hexadecimal digits");
        }
    }
    return tool;
}

}  // namespace

Result<Filesystem> read_filesystem(const Field& field) {
    const Section section = TRY(Section::of(field, {"rootfs", "readOnly", "readWrite", "hidden", "tmpfs"}));
    Filesystem filesystem;
    if (const auto rootfs = section.find("rootfs")) {
        constexpr std::array kAccess = {RootfsAccess::none, RootfsAccess::read_only};
        filesystem.rootfs = kAccess.at(TRY(read_choice(*rootfs, {"none", "readOnly"})));
    }
    if (const auto paths = section.find("readOnly"))
        filesystem.read_only = TRY(read_paths(*paths, read_path));
    if (const auto paths = section.find("readWrite")) {
        filesystem.read_write = TRY(read_paths(*paths, read_writable_path));
    }
    if (const auto paths = section.find("hidden"))
        filesystem.hidden = TRY(read_paths(*paths, read_hidden_path));
    if (const auto tmpfs = section.find("tmpfs")) filesystem.tmpfs = TRY(read_tmpfs(*tmpfs));
    for (const std::string& writable : filesystem.read_write) {
        if (std::find(filesystem.read_only.begin(), filesystem.read_only.end(), writable) !=
            filesystem.read_only.end()) {
            return refuse(field, "grant_conflict", quoted(writable) + " is both readOnly and readWrite");
        }
    }
    return filesystem;
}

Result<std::vector<Tool>> read_tools(const Field& field) {
    std::vector<Tool> tools;
    for (const Field& entry : TRY(read_list(field, {0, kMaxListedPaths}))) {
        Tool tool = TRY(read_tool(entry));
        for (const Tool& other : tools) {
            if (other.path == tool.path && other.sha256 != tool.sha256) {
                return refuse(entry, "grant_conflict",
                              quoted(tool.path) + " is listed with different digests");
            }
        }
        tools.push_back(std::move(tool));
    }
    return tools;
}

}  // namespace rung::grant

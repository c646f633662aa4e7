// Real paths and real kinds of what is bound into a container.
// SPDX-License-Identifier: Apache-2.0
#include "runtime/bind_sources.hpp"

#include <limits.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>

#include "base/path.hpp"
#include "config/mount_options.hpp"
#include "kernel/files.hpp"

namespace rung::runtime {
namespace {

// One instance for the whole host, or, for proc, links to every process's root. sysfs and cgroup are narrowed to read-only instead.
constexpr std::array<std::string_view, 12> kKernelTypes = {"proc",    "binfmt_misc", "bpf",       "configfs",
                                                           "debugfs", "devtmpfs",    "efivarfs",  "fusectl",
                                                           "pstore",  "securityfs",  "selinuxfs", "tracefs"};

bool is_kernel_type(std::string_view type) {
    return std::find(kKernelTypes.begin(), kKernelTypes.end(), type) != kKernelTypes.end();
}

// "\040" is a space: mountinfo writes blanks and backslashes in octal.
std::string unescape(std::string_view text) {
    std::string plain;
    for (size_t at = 0; at < text.size(); ++at) {
        if (text[at] != '\\' || at + 3 >= text.size()) {
            plain += text[at];
            continue;
        }
        plain +=
            static_cast<char>((text[at + 1] - '0') * 64 + (text[at + 2] - '0') * 8 + (text[at + 3] - '0'));
        at += 3;
    }
    return plain;
}

std::string_view take_word(std::string_view& line) {
    const size_t space = std::min(line.find(' '), line.size());
    const std::string_view word = line.substr(0, space);
    line.remove_prefix(std::min(space + 1, line.size()));
    return word;
}

Error refused(const config::Mount& mount, const std::string& what) {
    return Error{
        .message = "grant_unenforceable: mounts[" + mount.destination + "]: " + mount.source + " " + what,
        .reason = "grant_unenforceable"};
}

Status settle(config::Mount& mount, const std::vector<MountedFilesystem>& mounts, Below below) {
    char real[PATH_MAX];
    if (realpath(mount.source.c_str(), real) == nullptr)
        return {};  // opening it says so, with the mount's name
    mount.source = real;
    struct stat status {};
    if (stat(real, &status) == 0 && (S_ISSOCK(status.st_mode) || S_ISFIFO(status.st_mode))) {
        return refused(mount, "is a socket or FIFO of the host, which no limit of files or network holds");
    }
    const std::string type = kernel_filesystem_in(mounts, mount.source, below);
    if (!type.empty()) return refused(mount, "would bring in the host's " + type);
    return {};
}

}  // namespace

std::vector<MountedFilesystem> parse_mountinfo(std::string_view text) {
    std::vector<MountedFilesystem> mounts;
    while (!text.empty()) {
        const size_t end = std::min(text.find('\n'), text.size());
        std::string_view line = text.substr(0, end);
        text.remove_prefix(std::min(end + 1, text.size()));
        for (int field = 0; field < 4; ++field)
            (void)take_word(line);
        const std::string mount_point = unescape(take_word(line));
        const size_t separator = line.find(" - ");
        if (separator == std::string_view::npos) continue;
        line.remove_prefix(separator + 3);
        mounts.push_back({.mount_point = mount_point, .type = std::string{take_word(line)}});
    }
    return mounts;
}

std::string kernel_filesystem_in(const std::vector<MountedFilesystem>& mounts, const std::string& source,
                                 Below below) {
    const MountedFilesystem* holding = nullptr;
    for (const MountedFilesystem& mount : mounts) {
        // Of two mounts at one place the later lies on top.
        const bool deeper = holding == nullptr || mount.mount_point.size() >= holding->mount_point.size();
        if (path::covers(mount.mount_point, source) && deeper) holding = &mount;
        const bool beneath = below == Below::included && path::covers(source, mount.mount_point);
        if (beneath && is_kernel_type(mount.type)) return mount.type;
    }
    return holding != nullptr && is_kernel_type(holding->type) ? holding->type : "";
}

Status read_symlinks(config::Spec& spec, const std::string& bundle) {
    for (config::Mount& mount : spec.mounts) {
        const auto options = TRY(config::parse_mount_options(mount.options));
        if (!options.copy_symlink) continue;
        char content[PATH_MAX];
        const ssize_t length =
            readlink(path::join(bundle, mount.source).c_str(), content, sizeof content - 1);
        if (length > 0) mount.symlink.assign(content, static_cast<size_t>(length));
    }
    return {};
}

Status settle_bind_sources(config::Spec& spec, const std::string& bundle, const std::string& rootfs) {
    spec.root.path = rootfs;
    const auto mounts = parse_mountinfo(TRY(kernel::read_file("/proc/self/mountinfo")));
    for (config::Mount& mount : spec.mounts) {
        const auto options = TRY(config::parse_mount_options(mount.options));
        if (mount.type != "bind" && !options.bind && !options.recursive_bind) continue;
        mount.source = path::join(bundle, mount.source);
        struct stat status {};
        if ((options.copy_symlink || options.source_nofollow) && lstat(mount.source.c_str(), &status) == 0 &&
            S_ISLNK(status.st_mode))
            return refused(mount, "is a symlink, and where it leads in the container is not decided here");
        TRY(settle(mount, mounts, options.recursive_bind ? Below::included : Below::left_out));
    }
    return {};
}

}  // namespace rung::runtime

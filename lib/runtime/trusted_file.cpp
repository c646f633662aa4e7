// From / downwards, one directory at a time: what was checked is what the next step opens.
// SPDX-License-Identifier: Apache-2.0
#include "runtime/trusted_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <sstream>

#include "base/fd.hpp"
#include "base/path.hpp"
#include "kernel/files.hpp"
#include "kernel/probe.hpp"

namespace rung::runtime {
namespace {

constexpr uid_t kOverflowUid = 65534;

// As whom the host's root appears here: in a user namespace that does not map it, as the overflow id. Whoever such a namespace calls root is
// then somebody else.
uid_t host_root() {
    if (!kernel::in_user_namespace()) return 0;
    const auto text = kernel::read_file("/proc/self/uid_map");
    std::istringstream map{text ? *text : std::string{}};
    unsigned long inside = 0;
    unsigned long outside = 0;
    unsigned long count = 0;
    while (map >> inside >> outside >> count) {
        if (outside == 0) return static_cast<uid_t>(inside);
    }
    return kOverflowUid;
}

Error insecure(const TrustedFile& file, const std::string& what) {
    return Error{.message = file.reason + ": " + what, .reason = file.reason};
}

Error unreadable(const TrustedFile& file, const Error& why) {
    const bool redirected = why.errno_value == ELOOP || why.errno_value == ENOTDIR;
    Error error = insecure(file, redirected ? file.path + ": is reached through a symlink" : why.message);
    error.errno_value = why.errno_value;
    return error;
}

// In a sticky directory nobody renames or removes what is root's, so a directory further down is still what it was.
bool may_be_replaced(const struct stat& directory, mode_t closed) {
    const bool sticky = (directory.st_mode & S_ISVTX) != 0 && closed == 022;
    return (directory.st_mode & closed) != 0 && !sticky;
}

Status check_directory(const TrustedFile& file, const Fd& directory, const std::string& name, mode_t closed) {
    struct stat facts {};
    if (fstat(directory.get(), &facts) < 0) return errno_error(name, errno);
    if (facts.st_uid != host_root()) return insecure(file, name + ": is not owned by root");
    if (may_be_replaced(facts, closed))
        return insecure(file, name + ": is open to others: " +
                                  (closed == 077 ? "chmod 0700" : "remove their right to write"));
    return {};
}

Result<Fd> open_directory_of(const TrustedFile& file) {
    const std::string directory = path::parent(file.path);
    Fd opened = TRY(kernel::open_at(AT_FDCWD, "/", O_PATH | O_DIRECTORY));
    std::string name = "/";
    TRY(check_directory(file, opened, name, 022));
    for (const std::string& component : path::components(directory)) {
        name = name == "/" ? "/" + component : name + "/" + component;
        opened = TRY(kernel::open_at(opened.get(), component, O_PATH | O_DIRECTORY | O_NOFOLLOW));
        TRY(check_directory(file, opened, name, name == directory ? file.closed : 022));
    }
    return opened;
}

Result<std::string> read_checked(const TrustedFile& file) {
    const Fd directory = TRY(open_directory_of(file));
    const Fd opened = TRY(kernel::open_at(directory.get(), path::file_name(file.path),
                                          O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY));
    struct stat facts {};
    if (fstat(opened.get(), &facts) < 0) return errno_error(file.path, errno);
    if (!S_ISREG(facts.st_mode)) return insecure(file, file.path + ": is not a regular file");
    if (facts.st_uid != host_root()) return insecure(file, file.path + ": is not owned by root");
    if ((facts.st_mode & 022) != 0) return insecure(file, file.path + ": others may write it");
    return kernel::read_all(opened, file.path, file.most);
}

}  // namespace

Result<std::optional<std::string>> read_trusted(const TrustedFile& file) {
    // A dangling symlink counts as present: whoever put it there meant a file, and going on without it would fail open.
    if (faccessat(AT_FDCWD, file.path.c_str(), F_OK, AT_SYMLINK_NOFOLLOW) != 0 && errno == ENOENT)
        return std::optional<std::string>{};
    auto text = read_checked(file);
    if (text) return std::optional{*std::move(text)};
    if (!text.error().reason.empty()) return std::move(text).error();
    if (text.error().errno_value == EFBIG)
        return Error{.message = "grant_too_large: " + file.path + ": is too long",
                     .reason = "grant_too_large"};
    return unreadable(file, text.error());
}

}  // namespace rung::runtime

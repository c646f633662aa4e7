// Files and directories as Result-returning calls.
// SPDX-License-Identifier: Apache-2.0
#include "kernel/files.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <memory>
#include <optional>

#include "kernel/syscalls.hpp"

namespace rung::kernel {

namespace {

Status checked_status(const char* verb, const std::string& name, long returned) {
    if (returned == -1) return errno_error(std::string{verb} + " " + name, errno);
    return {};
}

// read(2), write(2) and fsync(2) may be interrupted by a signal that a handler took.
template <typename Call>
ssize_t uninterrupted(Call call) {
    ssize_t returned = -1;
    do {
        returned = call();
    } while (returned == -1 && errno == EINTR);
    return returned;
}

Status write_all(const Fd& file, const std::string& name, std::string_view text) {
    while (!text.empty()) {
        const ssize_t written = uninterrupted([&] { return ::write(file.get(), text.data(), text.size()); });
        if (written == -1) return errno_error("write " + name, errno);
        text.remove_prefix(static_cast<size_t>(written));
    }
    return {};
}

struct DirectoryCloser {
    void operator()(DIR* stream) const { (void)closedir(stream); }
};

enum class Entries { all, directories };

bool is_directory(int directory, const dirent& entry) {
    if (entry.d_type != DT_UNKNOWN) return entry.d_type == DT_DIR;
    struct stat facts = {};
    return ::fstatat(directory, entry.d_name, &facts, AT_SYMLINK_NOFOLLOW) == 0 && S_ISDIR(facts.st_mode);
}

Result<std::vector<std::string>> list(Fd directory, const std::string& name, Entries wanted) {
    const std::unique_ptr<DIR, DirectoryCloser> stream{::fdopendir(directory.get())};
    if (!stream) return errno_error("list " + name, errno);
    (void)directory.release();  // the stream closes it
    std::vector<std::string> names;
    for (;;) {
        errno = 0;
        const dirent* entry = ::readdir(stream.get());
        if (entry == nullptr) break;
        const std::string_view found{entry->d_name};
        if (found == "." || found == "..") continue;
        if (wanted == Entries::directories && !is_directory(::dirfd(stream.get()), *entry)) continue;
        names.emplace_back(found);
    }
    if (errno != 0) return errno_error("list " + name, errno);
    std::sort(names.begin(), names.end());
    return names;
}

}  // namespace

Result<Fd> open_at(int directory, const std::string& name, int flags) {
    const int number = ::openat(directory, name.c_str(), flags | O_CLOEXEC);
    if (number == -1) return errno_error("open " + name, errno);
    return Fd{number};
}

Result<Fd> open_path(const std::string& path) {
    return open_at(AT_FDCWD, path, O_PATH);
}

Result<std::string> read_all(const Fd& file, const std::string& name, size_t most) {
    constexpr size_t kFirstRead = 4096;
    std::string text;
    size_t used = 0;
    for (;;) {
        if (used == text.size()) text.resize(std::max(kFirstRead, 2 * text.size()));
        const ssize_t count =
            uninterrupted([&] { return ::read(file.get(), text.data() + used, text.size() - used); });
        if (count == -1) return errno_error("read " + name, errno);
        if (count == 0) break;
        used += static_cast<size_t>(count);
        if (used > most) return errno_error("read " + name, EFBIG);
    }
    text.resize(used);
    return text;
}

Result<std::string> read_document(const std::string& path, size_t most) {
    const bool is_callers_own =
        path == "/dev/stdin" || path.starts_with("/dev/fd/") || path.starts_with("/proc/self/fd/");
    const Fd file = TRY(open_at(AT_FDCWD, path, O_RDONLY | (is_callers_own ? 0 : O_NONBLOCK) | O_NOCTTY));
    struct stat status {};
    if (fstat(file.get(), &status) < 0) return errno_error(path, errno);
    const bool ends = S_ISREG(status.st_mode) || (is_callers_own && S_ISFIFO(status.st_mode));
    if (S_ISDIR(status.st_mode)) return errno_error("read " + path, EISDIR);
    if (!ends) return Error{.message = path + ": not a regular file"};
    return read_all(file, path, most);
}

Result<std::string> read_file(const std::string& path, size_t most) {
    return read_file_at(AT_FDCWD, path, most);
}

Result<std::string> read_file_at(int directory, const std::string& name, size_t most) {
    const Fd file = TRY(open_at(directory, name, O_RDONLY));
    return read_all(file, name, most);
}

Status write_once(const Fd& file, const std::string& name, std::string_view text) {
    const ssize_t written = uninterrupted([&] { return ::write(file.get(), text.data(), text.size()); });
    if (written == -1) return errno_error("write " + name, errno);
    if (static_cast<size_t>(written) != text.size()) return errno_error("write " + name, EIO);
    return {};
}

Status write_file(const std::string& path, std::string_view text) {
    return write_file_at(AT_FDCWD, path, text);
}

Status write_file_at(int directory, const std::string& name, std::string_view text) {
    const Fd file = TRY(open_at(directory, name, O_WRONLY));
    return write_once(file, name, text);
}

Status write_file_atomically(int directory, const NewFile& file) {
    // The pid keeps two writers apart; what a killed writer left behind is replaced by the next one of that
    // pid.
    const std::string temporary = file.name + "." + std::to_string(::getpid()) + ".tmp";
    (void)::unlinkat(directory, temporary.c_str(), 0);
    const Fd made{::openat(directory, temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600)};
    if (!made) return errno_error("create " + temporary, errno);

    Status status = write_all(made, file.name, file.text);
    if (status) status = checked_status("chmod", file.name, ::fchmod(made.get(), file.mode));
    if (status && file.durability == Durability::synced) {
        status = checked_status("fsync", file.name, uninterrupted([&] { return ::fsync(made.get()); }));
    }
    if (status) {
        status = checked_status("rename to", file.name,
                                ::renameat(directory, temporary.c_str(), directory, file.name.c_str()));
    }
    if (!status) (void)::unlinkat(directory, temporary.c_str(), 0);
    return status;
}

Result<Fd> make_memory_file(const char* name) {
    constexpr unsigned int kNoexecSeal = 8;  // MFD_NOEXEC_SEAL, linux/memfd.h since Linux 6.3
    // Where vm.memfd_noexec is 2 a memory file must be sealed, and before Linux 6.3 it cannot be.
    Fd made{::memfd_create(name, MFD_CLOEXEC | kNoexecSeal)};
    if (!made && errno == EINVAL) made = Fd{::memfd_create(name, MFD_CLOEXEC)};
    if (!made) return errno_error("make a memory file", errno);
    return made;
}

Status make_directory(const std::string& path, mode_t mode) {
    return make_directory_at(AT_FDCWD, path, mode);
}

Status make_directory_at(int directory, const std::string& name, mode_t mode) {
    return checked_status("mkdir", name, ::mkdirat(directory, name.c_str(), mode));
}

Status make_directories(const std::string& path, mode_t mode) {
    Status made = make_directory(path, mode);
    if (made || made.error().errno_value == EEXIST) return {};
    const size_t slash = path.find_last_of('/');
    if (made.error().errno_value != ENOENT || slash == std::string::npos || slash == 0) return made;
    TRY(make_directories(path.substr(0, slash), mode));
    made = make_directory(path, mode);
    if (!made && made.error().errno_value == EEXIST) return {};
    return made;
}

Status remove_file_at(int directory, const std::string& name) {
    return checked_status("unlink", name, ::unlinkat(directory, name.c_str(), 0));
}

Status remove_directory(const std::string& path) {
    return remove_directory_at(AT_FDCWD, path);
}

Status remove_directory_at(int directory, const std::string& name) {
    return checked_status("rmdir", name, ::unlinkat(directory, name.c_str(), AT_REMOVEDIR));
}

Status remove_tree_at(int directory, const std::string& name) {
    if (::unlinkat(directory, name.c_str(), 0) == 0 || errno == ENOENT) return {};
    if (errno != EISDIR && errno != EPERM) return errno_error("unlink " + name, errno);
    const Fd tree = TRY(open_at(directory, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW));
    for (const std::string& entry : TRY(list_directory_at(tree.get(), "."))) {
        TRY(remove_tree_at(tree.get(), entry).context(name));
    }
    return remove_directory_at(directory, name);
}

Result<std::vector<std::string>> list_directory(const std::string& path) {
    return list_directory_at(AT_FDCWD, path);
}

Result<std::vector<std::string>> list_directory_at(int directory, const std::string& name) {
    return list(TRY(open_at(directory, name, O_RDONLY | O_DIRECTORY)), name, Entries::all);
}

Result<std::vector<std::string>> list_subdirectories(const std::string& path) {
    return list(TRY(open_at(AT_FDCWD, path, O_RDONLY | O_DIRECTORY)), path, Entries::directories);
}

bool exists(const std::string& path) {
    return ::faccessat(AT_FDCWD, path.c_str(), F_OK, AT_EACCESS) == 0;
}

}  // namespace rung::kernel

// A walk over an image. A file is a program when the kernel would execute it, or when a loader would that is handed its name: the mode does not
// decide for ELF files, since a loader only reads them.
// SPDX-License-Identifier: Apache-2.0
#include "runtime/programs.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <memory>

#include "base/fd.hpp"
#include "base/path.hpp"
#include "kernel/syscalls.hpp"
#include "runtime/elf_file.hpp"

namespace rung::runtime {
namespace {

constexpr size_t kMostDepth = 128;
constexpr size_t kMostPieces = 65536;

Error too_much(const std::string& path, const std::string& what) {
    return Error{.message = "grant_unenforceable: tools: " + path + " " + what,
                 .reason = "grant_unenforceable"};
}

bool is_program(const ElfFile& elf, const std::string& name, bool may_execute) {
    if (elf.is_fixed) return true;
    if (!elf.is_dynamic) return false;  // an object file or a kernel module
    const bool called_library = name.find(".so") != std::string::npos;
    if (elf.says_program) return true;
    // The C library has both, so that it can say its version; nothing else is reached by executing it.
    if (!elf.loader.empty()) return !(called_library && elf.has_name);
    return may_execute && !called_library;
}

// Opening a device may do something to it, and an image may hold any: only what is a file or a directory is opened for reading, the rest is
// no more than named (O_PATH).
Fd open_to_look(int directory, const std::string& path, uint64_t resolve) {
    open_how how{};
    how.flags = O_PATH | O_CLOEXEC;
    how.resolve = resolve;
    Fd place{kernel::openat2(directory, path.c_str(), how)};
    struct stat status {};
    if (!place || fstat(place.get(), &status) < 0) return place;
    if (!S_ISREG(status.st_mode) && !S_ISDIR(status.st_mode)) return place;
    const std::string again = "/proc/self/fd/" + std::to_string(place.get());
    return Fd{kernel::checked(open(again.c_str(), O_RDONLY | O_CLOEXEC))};
}

class Walk {
  public:
    explicit Walk(const std::vector<std::string>& tools) : tools_(tools) {}

    // True when all of it may be read: then it is up to the caller to list it, alone or within something larger.
    Result<bool> is_readable(const Fd& place, const std::string& path, size_t depth) {
        struct stat status {};
        if (fstat(place.get(), &status) < 0) return errno_error(path, errno);
        if (S_ISDIR(status.st_mode)) return is_readable_directory(place, path, depth);
        return !S_ISREG(status.st_mode) || is_readable_file(place, path, status);
    }

    Status list(std::string path) {
        if (found_.readable.size() == kMostPieces)
            return too_much(path, "lies in an image with too many programs");
        found_.readable.push_back(std::move(path));
        return {};
    }

    Programs take() { return std::move(found_); }

  private:
    bool is_granted(const std::string& path) const {
        return std::any_of(tools_.begin(), tools_.end(),
                           [&](const std::string& tool) { return path::covers(tool, path); });
    }

    bool is_readable_file(const Fd& file, const std::string& path, const struct stat& status) {
        const bool may_execute = (status.st_mode & (S_IXUSR | S_IXGRP | S_IXOTH)) != 0;
        const auto elf = read_elf(file.get());
        const bool program = elf ? is_program(*elf, path::file_name(path), may_execute) : may_execute;
        if (!program) return true;
        if (!is_granted(path)) return false;
        if (elf && !elf->loader.empty()) found_.loaders.insert(elf->loader);
        return true;
    }

    Result<bool> is_readable_directory(const Fd& directory, const std::string& path, size_t depth) {
        if (depth == kMostDepth) return too_much(path, "lies too deep to look for programs in it");
        const std::unique_ptr<DIR, int (*)(DIR*)> stream{fdopendir(dup(directory.get())), closedir};
        if (!stream) return errno_error(path, errno);
        std::vector<std::string> readable;
        bool all = true;
        while (const dirent* entry = readdir(stream.get())) {
            const std::string name = entry->d_name;
            if (name == "." || name == "..") continue;
            // A symlink opens nothing itself, and devices and sockets hold no programs.
            if (entry->d_type != DT_REG && entry->d_type != DT_DIR && entry->d_type != DT_UNKNOWN) continue;
            const std::string below = (path == "/" ? "" : path) + "/" + name;
            const Fd child = open_here(directory.get(), name, entry->d_type);
            const bool clean = child && TRY(is_readable(child, below, depth + 1));
            if (clean) readable.push_back(below);
            all = all && clean;
        }
        if (all) return true;
        for (std::string& piece : readable)
            TRY(list(std::move(piece)));
        return false;
    }

    // What cannot be opened, such as a place with a mount of the host's on it, is not listed either.
    static Fd open_here(int directory, const std::string& name, unsigned char type) {
        open_how how{};
        how.flags = O_RDONLY | O_NONBLOCK | O_CLOEXEC;
        how.resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_XDEV;
        if (type == DT_UNKNOWN) return open_to_look(directory, name, how.resolve);
        return Fd{kernel::openat2(directory, name.c_str(), how)};
    }

    const std::vector<std::string>& tools_;
    Programs found_ = {};
};

Fd open_place(int root, const std::string& path) {
    return open_to_look(root, path, RESOLVE_IN_ROOT | RESOLVE_NO_SYMLINKS);
}

}  // namespace

Result<Programs> find_programs(int root, const std::vector<std::string>& places,
                               const std::vector<std::string>& tools) {
    Walk walk{tools};
    for (const std::string& path : places) {
        const Fd place = open_place(root, path);
        if (place && TRY(walk.is_readable(place, path, 0))) TRY(walk.list(path));
    }
    Programs found = walk.take();
    // The tools themselves, which may lie elsewhere: only their loaders are wanted.
    Walk again{tools};
    for (const std::string& path : tools) {
        const Fd tool = open_place(root, path);
        if (tool) TRY(again.is_readable(tool, path, 0));
    }
    found.loaders.merge(again.take().loaders);
    return found;
}

}  // namespace rung::runtime

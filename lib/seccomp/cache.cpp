// Generating a filter for an engine's profile takes milliseconds, reading it back microseconds, and engines send the same
// profile every time. The cache can only cost a miss: whoever may write to it could write filters, so a directory that
// is not ours alone is not used, and an entry that is not exactly right is made again.
// SPDX-License-Identifier: Apache-2.0
#include <dirent.h>
#include <fcntl.h>
#include <seccomp.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <optional>
#include <string>
#include <vector>

#include "base/fd.hpp"
#include "seccomp/compile.hpp"
#include "seccomp/entry.hpp"

namespace rung::seccomp {
namespace {

constexpr size_t kMostEntries = 64;
constexpr off_t kLargestEntry = off_t{1} << 20;

Toolchain toolchain() {
    const scmp_version* version = seccomp_version();
    utsname system = {};
    (void)uname(&system);  // fails for a bad address only
    return {.library_version = std::to_string(version->major) + "." + std::to_string(version->minor) + "." +
                               std::to_string(version->micro),
            .machine = system.machine};
}

// An empty Fd when the directory cannot be made or trusted.
Fd open_cache(const std::string& directory) {
    constexpr int flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
    Fd opened(open(directory.c_str(), flags));
    if (!opened && errno == ENOENT && mkdir(directory.c_str(), 0700) == 0)
        opened = Fd(open(directory.c_str(), flags));
    struct stat status = {};
    if (!opened || fstat(opened.get(), &status) != 0) return {};
    if (status.st_uid != geteuid() || (status.st_mode & (S_IWGRP | S_IWOTH)) != 0) return {};
    return opened;
}

std::optional<Compiled> load(const Fd& cache, const std::string& name, const std::string& key) {
    // O_NONBLOCK: a FIFO of that name would otherwise hold us up.
    const Fd file(openat(cache.get(), name.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
    struct stat status = {};
    if (!file || fstat(file.get(), &status) != 0) return {};
    if (!S_ISREG(status.st_mode) || status.st_size <= 0 || status.st_size > kLargestEntry) return {};
    std::string bytes(static_cast<size_t>(status.st_size), '\0');
    if (read(file.get(), bytes.data(), bytes.size()) != static_cast<ssize_t>(bytes.size())) return {};
    return decode_entry(bytes, key);
}

struct AgedName {
    timespec modified = {};
    std::string name = {};
};

bool is_older(const AgedName& left, const AgedName& right) {
    if (left.modified.tv_sec != right.modified.tv_sec) return left.modified.tv_sec < right.modified.tv_sec;
    return left.modified.tv_nsec < right.modified.tv_nsec;
}

// Temporary files that a killed process left behind are entries too, and age like them.
std::vector<AgedName> entries_of(const Fd& cache) {
    std::vector<AgedName> entries = {};
    DIR* directory = fdopendir(openat(cache.get(), ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (directory == nullptr) return entries;
    while (const dirent* item = readdir(directory)) {
        struct stat status = {};
        if (fstatat(cache.get(), item->d_name, &status, AT_SYMLINK_NOFOLLOW) != 0) continue;
        if (!S_ISDIR(status.st_mode)) entries.push_back({.modified = status.st_mtim, .name = item->d_name});
    }
    (void)closedir(directory);
    return entries;
}

void evict(const Fd& cache) {
    std::vector<AgedName> entries = entries_of(cache);
    if (entries.size() <= kMostEntries) return;
    std::sort(entries.begin(), entries.end(), is_older);
    for (size_t i = 0; i < entries.size() - kMostEntries; i++) {
        (void)unlinkat(cache.get(), entries[i].name.c_str(), 0);  // another process may have been first
    }
}

void store(const Fd& cache, const std::string& name, const std::string& bytes) {
    const std::string temporary = "new-" + std::to_string(getpid());
    const Fd file(
        openat(cache.get(), temporary.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0600));
    if (!file) return;
    const bool complete = write(file.get(), bytes.data(), bytes.size()) == static_cast<ssize_t>(bytes.size());
    if (!complete || renameat(cache.get(), temporary.c_str(), cache.get(), name.c_str()) != 0) {
        (void)unlinkat(cache.get(), temporary.c_str(), 0);
        return;
    }
    evict(cache);
}

}  // namespace

Result<Compiled> compile_cached(const config::Seccomp& profile, const std::string& cache_directory) {
    if (cache_directory.empty()) return compile(profile);
    const Fd cache = open_cache(cache_directory);
    if (!cache) return compile(profile);
    const std::string key = cache_key(profile, toolchain());
    const std::string name = entry_name(key);
    if (std::optional<Compiled> known = load(cache, name, key)) return *std::move(known);
    Compiled compiled = TRY(compile(profile));
    store(cache, name, encode_entry(key, compiled));
    return compiled;
}

}  // namespace rung::seccomp

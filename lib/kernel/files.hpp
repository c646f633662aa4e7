// Files and directories as Result-returning calls, for the parent side. Each error names the path as it was given.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "base/fd.hpp"
#include "base/result.hpp"

namespace rung::kernel {

inline constexpr size_t kMostFileBytes = size_t{16} << 20;

// Every `directory` is a directory's descriptor or AT_FDCWD, and `name` is relative to it.

// open(2) with O_CLOEXEC added.
Result<Fd> open_at(int directory, const std::string& name, int flags);
// An O_PATH descriptor: names a place, permits neither reading nor listing.
Result<Fd> open_path(const std::string& path);

// The whole file. One longer than `most` bytes is an error, EFBIG: nothing is ever cut silently.
Result<std::string> read_file(const std::string& path, size_t most = kMostFileBytes);
Result<std::string> read_file_at(int directory, const std::string& name, size_t most = kMostFileBytes);
// Only what ends by itself: a regular file, or a pipe that the caller opened and names as /dev/fd/N, /proc/self/fd/N or /dev/stdin. A FIFO
// by any other name could make us wait for ever.
Result<std::string> read_document(const std::string& path, size_t most = kMostFileBytes);
Result<std::string> read_all(const Fd& file, const std::string& name, size_t most = kMostFileBytes);

// `text` in a single write(2) to a file that exists, as control files of proc, sysfs and cgroupfs want it.
Status write_file(const std::string& path, std::string_view text);
Status write_file_at(int directory, const std::string& name, std::string_view text);
Status write_once(const Fd& file, const std::string& name, std::string_view text);

// Makes or replaces `name`: a reader sees the old text or the new one, never a part. `synced` is for what
// must survive a crash of the host.
enum class Durability { rename_only, synced };
struct NewFile {
    std::string name = {};
    std::string_view text = {};
    mode_t mode = 0600;  // exactly, whatever the umask
    Durability durability = Durability::rename_only;
};
Status write_file_atomically(int directory, const NewFile& file);

// An anonymous file in memory, CLOEXEC and never to be executed; memfd_create(2). `name` is what /proc shows.
Result<Fd> make_memory_file(const char* name);

// mkdir(2); that it exists already is an error, EEXIST.
Status make_directory(const std::string& path, mode_t mode);
Status make_directory_at(int directory, const std::string& name, mode_t mode);
// With its parents; what exists already is fine.
Status make_directories(const std::string& path, mode_t mode);

// That there is nothing to remove is an error, ENOENT, for the caller to judge.
Status remove_file_at(int directory, const std::string& name);
Status remove_directory(const std::string& path);
Status remove_directory_at(int directory, const std::string& name);
// Files and directories beneath `name`, and itself; no symlink is followed, and what is gone already is fine.
Status remove_tree_at(int directory, const std::string& name);

// Names, sorted, without "." and "..".
Result<std::vector<std::string>> list_directory(const std::string& path);
Result<std::vector<std::string>> list_directory_at(int directory, const std::string& name);
Result<std::vector<std::string>> list_subdirectories(const std::string& path);

// False when it is absent or may not be looked at.
bool exists(const std::string& path);

}  // namespace rung::kernel

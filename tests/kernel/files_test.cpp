// Files and directories in a temporary directory of their own.
// SPDX-License-Identifier: Apache-2.0
#include "kernel/files.hpp"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>

using namespace rung;

namespace {

class TemporaryDirectory {
  public:
    TemporaryDirectory() {
        char name[] = "/tmp/rung-files-XXXXXX";
        path_ = mkdtemp(name);
        descriptor_ = Fd{open(name, O_RDONLY | O_DIRECTORY | O_CLOEXEC)};
    }
    ~TemporaryDirectory() { (void)kernel::remove_tree_at(AT_FDCWD, path_); }
    TemporaryDirectory(const TemporaryDirectory&) = delete;
    TemporaryDirectory& operator=(const TemporaryDirectory&) = delete;

    const std::string& path() const { return path_; }
    int fd() const { return descriptor_.get(); }

  private:
    std::string path_ = {};
    Fd descriptor_ = {};
};

}  // namespace

TEST_CASE("an atomically written file has its text and exactly its mode, and leaves no temporary name") {
    const TemporaryDirectory directory;
    const mode_t old_mask = umask(0077);

    const Status written = kernel::write_file_atomically(
        directory.fd(),
        {.name = "state", .text = "one", .mode = 0644, .durability = kernel::Durability::synced});
    const Status replaced =
        kernel::write_file_atomically(directory.fd(), {.name = "state", .text = "two", .mode = 0644});
    umask(old_mask);

    REQUIRE(written);
    REQUIRE(replaced);
    CHECK(*kernel::read_file_at(directory.fd(), "state") == "two");
    CHECK(*kernel::list_directory(directory.path()) == std::vector<std::string>{"state"});
    struct stat facts = {};
    REQUIRE(fstatat(directory.fd(), "state", &facts, 0) == 0);
    CHECK((facts.st_mode & 07777) == 0644);
}

TEST_CASE("an error names the path and keeps the errno") {
    const TemporaryDirectory directory;

    const Result<std::string> read = kernel::read_file(directory.path() + "/absent");
    const Status written = kernel::write_file_at(directory.fd(), "absent", "x");

    REQUIRE_FALSE(read);
    CHECK(read.error().message == "open " + directory.path() + "/absent: no such file or directory");
    CHECK(read.error().errno_value == ENOENT);
    REQUIRE_FALSE(written);
    CHECK(written.error().message == "open absent: no such file or directory");
}

TEST_CASE("a file longer than the limit is refused, not cut") {
    const TemporaryDirectory directory;
    const std::string text(10000, 'x');
    REQUIRE(kernel::write_file_atomically(directory.fd(), {.name = "long", .text = text}));

    const Result<std::string> whole = kernel::read_file_at(directory.fd(), "long", 10000);
    const Result<std::string> refused = kernel::read_file_at(directory.fd(), "long", 9999);

    REQUIRE(whole);
    CHECK(*whole == text);
    REQUIRE_FALSE(refused);
    CHECK(refused.error().errno_value == EFBIG);
}

TEST_CASE("directories are made with their parents, listed and removed as a tree") {
    const TemporaryDirectory directory;

    REQUIRE(kernel::make_directories(directory.path() + "/a/b/c", 0755));
    REQUIRE(kernel::make_directories(directory.path() + "/a/b/c", 0755));
    REQUIRE(kernel::write_file_atomically(directory.fd(), {.name = "a/file", .text = "x"}));
    REQUIRE(symlink("/etc", (directory.path() + "/a/link").c_str()) == 0);

    CHECK(*kernel::list_directory(directory.path() + "/a") == std::vector<std::string>{"b", "file", "link"});
    CHECK(*kernel::list_subdirectories(directory.path() + "/a") == std::vector<std::string>{"b"});
    CHECK(kernel::make_directory(directory.path() + "/a", 0755).error().errno_value == EEXIST);
    CHECK(kernel::remove_directory_at(directory.fd(), "a").error().errno_value == ENOTEMPTY);
    REQUIRE(kernel::remove_tree_at(directory.fd(), "a"));
    CHECK_FALSE(kernel::exists(directory.path() + "/a"));
    CHECK(kernel::exists("/etc/passwd"));
    CHECK(kernel::remove_tree_at(directory.fd(), "a"));
}

TEST_CASE("a file below a missing parent that cannot be made is an error") {
    const TemporaryDirectory directory;
    REQUIRE(kernel::write_file_atomically(directory.fd(), {.name = "file", .text = ""}));

    const Status made = kernel::make_directories(directory.path() + "/file/a/b", 0755);

    REQUIRE_FALSE(made);
    CHECK(made.error().errno_value == ENOTDIR);
}

// Mount options: every word of the specification, and how words combine.
// SPDX-License-Identifier: Apache-2.0
#include "config/mount_options.hpp"

#include <doctest/doctest.h>
#include <sys/mount.h>

#include <algorithm>

using namespace rung::config;

namespace {

MountOptions parsed(const std::vector<std::string>& options) {
    const auto result = parse_mount_options(options);
    REQUIRE(result);
    return *result;
}

}  // namespace

TEST_CASE("words become attributes, and the rest is data for the file system") {
    const MountOptions options =
        parsed({"nosuid", "noexec", "nodev", "mode=1777", "size=64k", "newinstance"});

    CHECK(options.set == (MOUNT_ATTR_NOSUID | MOUNT_ATTR_NOEXEC | MOUNT_ATTR_NODEV));
    CHECK(options.clear == 0);
    CHECK(options.data == std::vector<std::pair<std::string, std::string>>{
                              {"mode", "1777"}, {"size", "64k"}, {"newinstance", ""}});
}

TEST_CASE("crun's words about symlinks are no data") {
    const MountOptions options = parsed({"bind", "copy-symlink", "src-nofollow", "dest-nofollow"});

    CHECK(options.copy_symlink);
    CHECK(options.source_nofollow);
    CHECK(options.target_nofollow);
    CHECK(options.data.empty());
}

TEST_CASE("a data value keeps its own equals signs") {
    CHECK(parsed({"lowerdir=/a=b:/c"}).data[0] == std::pair<std::string, std::string>{"lowerdir", "/a=b:/c"});
}

TEST_CASE("the later of two contradicting words wins") {
    const MountOptions writable = parsed({"ro", "nosuid", "rw"});
    const MountOptions read_only = parsed({"rw", "ro"});

    CHECK(writable.set == MOUNT_ATTR_NOSUID);
    CHECK(writable.clear == MOUNT_ATTR_RDONLY);
    CHECK(read_only.set == MOUNT_ATTR_RDONLY);
    CHECK(read_only.clear == 0);
}

TEST_CASE("exec, dev and suid clear what a bind mount inherits") {
    const MountOptions options = parsed({"bind", "exec", "dev", "suid"});

    CHECK(options.bind);
    CHECK(options.clear == (MOUNT_ATTR_NOEXEC | MOUNT_ATTR_NODEV | MOUNT_ATTR_NOSUID));
}

TEST_CASE("an atime mode replaces the whole field") {
    CHECK(parsed({"noatime", "strictatime"}).set == MOUNT_ATTR_STRICTATIME);
    CHECK(parsed({"noatime"}).clear == MOUNT_ATTR__ATIME);
    CHECK(parsed({"relatime"}).set == 0);
    CHECK(parsed({"relatime"}).clear == MOUNT_ATTR__ATIME);
    CHECK(parsed({"noatime", "atime"}).set == 0);
    CHECK(parsed({"strictatime", "atime"}).set == MOUNT_ATTR_STRICTATIME);
    CHECK(parsed({"strictatime", "nostrictatime"}).set == 0);
    CHECK(parsed({"noatime", "norelatime"}).set == MOUNT_ATTR_NOATIME);
    CHECK(parsed({"nodiratime"}).set == MOUNT_ATTR_NODIRATIME);
    CHECK(parsed({"nodiratime"}).clear == 0);
    CHECK(parsed({"atime", "norelatime"}).clear == 0);
    CHECK(parsed({"relatime", "norelatime"}).clear == 0);
    CHECK(parsed({"ratime"}).recursive_clear == MOUNT_ATTR__ATIME);
}

TEST_CASE("a word about the mount's own attributes is remembered, even if it sets none") {
    CHECK(parsed({"atime"}).names_attribute);
    CHECK(parsed({"rw"}).names_attribute);
    CHECK_FALSE(parsed({"rbind", "rprivate", "rro", "sync", "defaults"}).names_attribute);
}

TEST_CASE("recursive words are kept apart from those of the mount itself") {
    const MountOptions options = parsed({"rbind", "rro", "rnosuid", "rdev", "rnoatime", "nosymfollow"});

    CHECK(options.recursive_bind);
    CHECK_FALSE(options.bind);
    CHECK(options.recursive_set == (MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOSUID | MOUNT_ATTR_NOATIME));
    CHECK(options.recursive_clear == (MOUNT_ATTR_NODEV | MOUNT_ATTR__ATIME));
    CHECK(options.set == MOUNT_ATTR_NOSYMFOLLOW);
    CHECK(options.clear == 0);
    CHECK(parsed({"rro", "rrw"}).recursive_clear == MOUNT_ATTR_RDONLY);
}

TEST_CASE("propagation is kept in the order written") {
    CHECK(parsed({"rprivate", "shared", "rslave", "unbindable"}).propagation ==
          std::vector<unsigned long>{MS_PRIVATE | MS_REC, MS_SHARED, MS_SLAVE | MS_REC, MS_UNBINDABLE});
}

TEST_CASE("super block flags can be switched on and off again") {
    CHECK(parsed({"sync"}).sync);
    CHECK_FALSE(parsed({"sync", "async"}).sync);
    CHECK(parsed({"dirsync", "mand", "lazytime"}) ==
          MountOptions{.dirsync = true, .mandatory_lock = true, .lazytime = true});
    CHECK(parsed({"remount", "tmpcopyup", "ridmap"}) ==
          MountOptions{.remount = true, .copy_up = true, .recursive_idmap = true});
}

TEST_CASE("words without effect are still not data") {
    CHECK(parsed({"defaults", "loud", "silent", "iversion", "noiversion", "acl", ""}) == MountOptions{});
}

TEST_CASE("an option needs a name") {
    const auto result = parse_mount_options({"=5"});

    REQUIRE_FALSE(result);
    CHECK(result.error().message == "option \"=5\" has no name");
}

TEST_CASE("the known options are sorted, each is understood, and the specification's are all there") {
    const std::vector<std::string> names = known_mount_options();

    CHECK(std::is_sorted(names.begin(), names.end()));
    for (const std::string& name : names)
        CHECK_MESSAGE(parsed({name}).data.empty(), name);
    for (const std::string name : {"async",
                                   "atime",
                                   "bind",
                                   "defaults",
                                   "dev",
                                   "diratime",
                                   "dirsync",
                                   "exec",
                                   "iversion",
                                   "lazytime",
                                   "loud",
                                   "mand",
                                   "noatime",
                                   "nodev",
                                   "nodiratime",
                                   "noexec",
                                   "noiversion",
                                   "nolazytime",
                                   "nomand",
                                   "norelatime",
                                   "nostrictatime",
                                   "nosuid",
                                   "nosymfollow",
                                   "private",
                                   "ratime",
                                   "rbind",
                                   "rdev",
                                   "rdiratime",
                                   "relatime",
                                   "remount",
                                   "rexec",
                                   "rnoatime",
                                   "rnodev",
                                   "rnodiratime",
                                   "rnoexec",
                                   "rnorelatime",
                                   "rnostrictatime",
                                   "rnosuid",
                                   "rnosymfollow",
                                   "ro",
                                   "rprivate",
                                   "rrelatime",
                                   "rro",
                                   "rrw",
                                   "rshared",
                                   "rslave",
                                   "rstrictatime",
                                   "rsuid",
                                   "rsymfollow",
                                   "runbindable",
                                   "rw",
                                   "shared",
                                   "silent",
                                   "slave",
                                   "strictatime",
                                   "suid",
                                   "symfollow",
                                   "sync",
                                   "tmpcopyup",
                                   "unbindable",
                                   "idmap",
                                   "ridmap"}) {
        CHECK_MESSAGE(std::binary_search(names.begin(), names.end(), name), name);
    }
}

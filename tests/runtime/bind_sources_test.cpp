// What a bind brings in besides the directory it names.
// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include "runtime/bind_sources.hpp"

using namespace rung::runtime;

TEST_CASE("mountinfo gives mount points and types, blanks and optional fields included") {
    const auto mounts = parse_mountinfo(
        "22 1 254:0 / / rw,relatime shared:1 - ext4 /dev/vda rw\n"
        "23 22 0:20 / /a\\040b rw - tmpfs none rw\n"
        "damaged\n");

    CHECK(mounts == std::vector<MountedFilesystem>{{"/", "ext4"}, {"/a b", "tmpfs"}});
}

TEST_CASE("a bind on or, recursively, above a file system of the kernel's brings it in") {
    const std::vector<MountedFilesystem> mounts = {{"/", "ext4"}, {"/proc", "proc"}, {"/data", "ext4"}};

    CHECK(kernel_filesystem_in(mounts, "/proc", Below::left_out) == "proc");
    CHECK(kernel_filesystem_in(mounts, "/proc/1/root", Below::left_out) == "proc");
    CHECK(kernel_filesystem_in(mounts, "/", Below::included) == "proc");
    CHECK(kernel_filesystem_in(mounts, "/", Below::left_out).empty());
    CHECK(kernel_filesystem_in(mounts, "/data", Below::included).empty());
    CHECK(kernel_filesystem_in(mounts, "/process", Below::included).empty());
}

TEST_CASE("of two mounts at one place the later one counts") {
    const std::vector<MountedFilesystem> mounts = {{"/", "ext4"}, {"/x", "proc"}, {"/x", "tmpfs"}};

    CHECK(kernel_filesystem_in(mounts, "/x/y", Below::left_out).empty());
}

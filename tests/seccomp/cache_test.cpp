// The cache directory: used when it is ours and right, passed over in silence otherwise.
// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "seccomp/compile.hpp"
#include "seccomp/docker_profile.hpp"
#include "seccomp/entry.hpp"

using namespace rung;
using seccomp::compile_cached;
using seccomp::Compiled;

namespace {

struct TemporaryDirectory {
    std::string path = "/tmp/rung-seccomp-XXXXXX";
    TemporaryDirectory() { REQUIRE(mkdtemp(path.data()) != nullptr); }
    TemporaryDirectory(const TemporaryDirectory&) = delete;
    TemporaryDirectory& operator=(const TemporaryDirectory&) = delete;
    ~TemporaryDirectory() { std::filesystem::remove_all(path); }
};

std::vector<std::string> names_in(const std::string& directory) {
    std::vector<std::string> names = {};
    for (const auto& item : std::filesystem::directory_iterator(directory))
        names.push_back(item.path().filename());
    return names;
}

std::string contents(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    std::ostringstream text;
    text << file.rdbuf();
    return text.str();
}

void overwrite(const std::string& path, const std::string& bytes) {
    std::ofstream(path, std::ios::binary | std::ios::trunc) << bytes;
}

// Magic and checksum take 16 bytes; then the key's length and the key.
std::string key_of(const std::string& entry) {
    uint32_t size = 0;
    std::memcpy(&size, entry.data() + 16, sizeof size);
    return entry.substr(20, size);
}

bool same(const Compiled& left, const Compiled& right) {
    return left.instructions.size() == right.instructions.size() && left.flags == right.flags &&
           left.notify == right.notify && left.warnings == right.warnings &&
           std::memcmp(left.instructions.data(), right.instructions.data(),
                       left.instructions.size() * sizeof(sock_filter)) == 0;
}

config::Seccomp small_profile(const std::string& name) {
    return {.default_action = config::SeccompAction::error, .rules = {{.names = {"read", name}}}};
}

}  // namespace

TEST_CASE("a filter from the cache is the filter that was compiled") {
    const TemporaryDirectory parent;
    const std::string cache = parent.path + "/cache";
    config::Seccomp profile = rung::seccomp::test::docker_profile();
    profile.rules[0].names.push_back("no_such_call");
    const auto fresh = seccomp::compile(profile);

    const auto first = compile_cached(profile, cache);
    const auto second = compile_cached(profile, cache);

    REQUIRE(fresh);
    REQUIRE(first);
    REQUIRE(second);
    CHECK(same(*first, *fresh));
    CHECK(same(*second, *fresh));
    CHECK(names_in(cache).size() == 1);
    struct stat status = {};
    REQUIRE(stat(cache.c_str(), &status) == 0);
    CHECK((status.st_mode & 07777) == 0700);
}

TEST_CASE("a good entry is used without compiling again") {
    const TemporaryDirectory cache;
    const config::Seccomp profile = small_profile("write");
    REQUIRE(compile_cached(profile, cache.path));
    const std::string entry = cache.path + "/" + names_in(cache.path).at(0);
    const Compiled marker{.instructions = {{0x06, 0, 0, 0x7fff0000}}, .warnings = {"from the cache"}};
    overwrite(entry, seccomp::encode_entry(key_of(contents(entry)), marker));

    const auto compiled = compile_cached(profile, cache.path);

    REQUIRE(compiled);
    CHECK(same(*compiled, marker));
}

TEST_CASE("a damaged entry is a miss and is replaced") {
    const TemporaryDirectory cache;
    const config::Seccomp profile = small_profile("write");
    const auto fresh = compile_cached(profile, cache.path);
    REQUIRE(fresh);
    const std::string entry = cache.path + "/" + names_in(cache.path).at(0);
    const std::string good = contents(entry);
    const std::vector<std::string> damaged = {"",
                                              "rungbpf1",
                                              good.substr(0, good.size() - 8),
                                              good + "12345678",
                                              std::string(good.size(), '\0'),
                                              std::string(2 << 20, 'x')};

    for (const std::string& bytes : damaged) {
        CAPTURE(bytes.size());
        overwrite(entry, bytes);

        const auto compiled = compile_cached(profile, cache.path);

        REQUIRE(compiled);
        CHECK(same(*compiled, *fresh));
        CHECK(contents(entry) == good);
    }
}

TEST_CASE("an entry of another profile under this profile's name is a miss") {
    const TemporaryDirectory cache;
    REQUIRE(compile_cached(small_profile("write"), cache.path));
    const std::string entry = cache.path + "/" + names_in(cache.path).at(0);
    const auto wanted = compile_cached(small_profile("write"), cache.path);
    const TemporaryDirectory other;
    REQUIRE(compile_cached(small_profile("keyctl"), other.path));
    overwrite(entry, contents(other.path + "/" + names_in(other.path).at(0)));

    const auto compiled = compile_cached(small_profile("write"), cache.path);

    REQUIRE(wanted);
    REQUIRE(compiled);
    CHECK(same(*compiled, *wanted));
}

TEST_CASE("what lies in an entry's place without being a file is a miss") {
    const TemporaryDirectory cache;
    const config::Seccomp profile = small_profile("write");
    REQUIRE(compile_cached(profile, cache.path));
    const std::string entry = cache.path + "/" + names_in(cache.path).at(0);

    std::filesystem::remove(entry);
    REQUIRE(mkfifo(entry.c_str(), 0600) == 0);
    CHECK(compile_cached(profile, cache.path));
    std::filesystem::remove(entry);
    std::filesystem::create_directory(entry);
    CHECK(compile_cached(profile, cache.path));
    std::filesystem::remove(entry);
    std::filesystem::create_symlink("/etc/passwd", entry);
    CHECK(compile_cached(profile, cache.path));
    CHECK(std::filesystem::is_regular_file(std::filesystem::symlink_status(entry)));
}

TEST_CASE("a cache directory that is not ours alone is neither read nor written") {
    const TemporaryDirectory parent;
    const std::string writable = parent.path + "/writable";
    const std::string target = parent.path + "/target";
    const std::string link = parent.path + "/link";
    REQUIRE(mkdir(writable.c_str(), 0700) == 0);
    REQUIRE(chmod(writable.c_str(), 0770) == 0);
    REQUIRE(mkdir(target.c_str(), 0700) == 0);
    REQUIRE(symlink("target", link.c_str()) == 0);

    CHECK(compile_cached(small_profile("write"), writable));
    CHECK(compile_cached(small_profile("write"), link));
    CHECK(compile_cached(small_profile("write"), parent.path + "/no/such/parent"));
    CHECK(compile_cached(small_profile("write"), ""));

    CHECK(names_in(writable).empty());
    CHECK(names_in(target).empty());
}

TEST_CASE("a cache directory of another user is neither read nor written") {
    const TemporaryDirectory cache;
    if (chown(cache.path.c_str(), 12345, 12345) != 0) return;  // needs root

    CHECK(compile_cached(small_profile("write"), cache.path));

    CHECK(names_in(cache.path).empty());
}

TEST_CASE("at most 64 entries stay, the newest among them") {
    const TemporaryDirectory cache;
    for (int i = 0; i < 80; i++) {
        const std::string path = cache.path + "/old-" + std::to_string(i);
        overwrite(path, "x");
        std::filesystem::last_write_time(
            path, std::filesystem::file_time_type::clock::now() - std::chrono::hours(i + 1));
    }

    REQUIRE(compile_cached(small_profile("write"), cache.path));

    const auto names = names_in(cache.path);
    CHECK(names.size() == 64);
    CHECK(std::filesystem::exists(cache.path + "/old-0"));
    CHECK(std::filesystem::exists(cache.path + "/old-62"));
    CHECK_FALSE(std::filesystem::exists(cache.path + "/old-63"));
    CHECK_FALSE(std::filesystem::exists(cache.path + "/old-79"));
}

TEST_CASE("a profile that does not compile is the same error with and without a cache") {
    const TemporaryDirectory cache;
    const config::Seccomp profile{.flags = {"SECCOMP_FILTER_FLAG_NONE"}};

    const auto compiled = compile_cached(profile, cache.path);

    REQUIRE_FALSE(compiled);
    CHECK(compiled.error().message == "seccomp flag SECCOMP_FILTER_FLAG_NONE is not known");
    CHECK(names_in(cache.path).empty());
}

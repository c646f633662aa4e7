// Which files of an image count as programs, and what of a tree is left to read.
// SPDX-License-Identifier: Apache-2.0
#include "runtime/programs.hpp"

#include <doctest/doctest.h>
#include <elf.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>

#include "base/fd.hpp"
#include "runtime/elf_file.hpp"

namespace rung {
namespace {

// A directory of the test's own, removed with what is in it.
class Tree {
  public:
    Tree() {
        char name[] = "/tmp/rung-programs-XXXXXX";
        path_ = mkdtemp(name);
    }
    ~Tree() { (void)!system(("rm -rf " + path_).c_str()); }

    void add_directory(const std::string& name) const { REQUIRE(mkdir((path_ + name).c_str(), 0755) == 0); }
    void add(const std::string& name, std::string_view content, mode_t mode) const {
        const Fd file{open((path_ + name).c_str(), O_WRONLY | O_CREAT | O_TRUNC, mode)};
        REQUIRE(write(file.get(), content.data(), content.size()) == static_cast<ssize_t>(content.size()));
    }
    Fd open_root() const { return Fd{open(path_.c_str(), O_PATH | O_DIRECTORY)}; }
    Fd open_file(const std::string& name) const { return Fd{open((path_ + name).c_str(), O_RDONLY)}; }

  private:
    std::string path_;
};

struct Elf {
    Elf64_Half type = ET_DYN;
    std::string loader = {};
    bool has_name = false;
    bool says_program = false;
};

// An ELF file with as many headers as the fields above need.
std::string elf(const Elf& wanted) {
    Elf64_Ehdr header{};
    memcpy(header.e_ident, ELFMAG, SELFMAG);
    header.e_ident[EI_CLASS] = ELFCLASS64;
    header.e_type = wanted.type;
    header.e_phoff = sizeof header;
    header.e_phentsize = sizeof(Elf64_Phdr);
    header.e_phnum = 2;
    Elf64_Dyn dynamic[3] = {};
    size_t entry = 0;
    if (wanted.has_name) dynamic[entry++].d_tag = DT_SONAME;
    if (wanted.says_program) {
        dynamic[entry].d_tag = DT_FLAGS_1;
        dynamic[entry++].d_un.d_val = DF_1_PIE;
    }
    Elf64_Phdr segments[2] = {};
    segments[0].p_type = PT_DYNAMIC;
    segments[0].p_offset = sizeof header + sizeof segments;
    segments[0].p_filesz = sizeof dynamic;
    if (!wanted.loader.empty()) segments[1].p_type = PT_INTERP;
    segments[1].p_offset = sizeof header + sizeof segments + sizeof dynamic;
    segments[1].p_filesz = wanted.loader.size() + 1;
    std::string text(reinterpret_cast<const char*>(&header), sizeof header);
    text.append(reinterpret_cast<const char*>(segments), sizeof segments);
    text.append(reinterpret_cast<const char*>(dynamic), sizeof dynamic);
    return text + wanted.loader + '\0';
}

std::vector<std::string> readable(const Tree& tree, const std::vector<std::string>& tools) {
    auto found = runtime::find_programs(tree.open_root().get(), {"/"}, tools);
    REQUIRE(found);
    std::sort(found->readable.begin(), found->readable.end());
    return found->readable;
}

bool is_program(const std::string& name, const std::string& content, mode_t mode) {
    const Tree tree;
    tree.add("/" + name, content, mode);
    return readable(tree, {}) != std::vector<std::string>{"/"};
}

}  // namespace

TEST_CASE("a program is what the kernel or a loader executes") {
    CHECK(is_program("fixed", elf({.type = ET_EXEC}), 0755));
    CHECK(is_program("fixed.data", elf({.type = ET_EXEC}), 0644));  // a loader only reads
    CHECK(is_program("usual", elf({.loader = "/lib/ld.so"}), 0644));
    CHECK(is_program("named", elf({.loader = "/lib/ld.so", .has_name = true}), 0755));
    CHECK(is_program("static", elf({.says_program = true}), 0644));
    CHECK(is_program("old-static", elf({}), 0755));
    CHECK(is_program("script", "#!/bin/sh\n", 0755));
    CHECK(is_program("bare", "echo\n", 0711));
}

TEST_CASE("a library, an object file and data are no programs") {
    CHECK_FALSE(is_program("libx.so.1", elf({.has_name = true}), 0755));
    CHECK_FALSE(is_program("libc.so.6", elf({.loader = "/lib/ld.so", .has_name = true}), 0755));
    CHECK_FALSE(is_program("plugin.so", elf({}), 0755));
    CHECK_FALSE(is_program("module.ko", elf({.type = ET_REL}), 0644));
    CHECK_FALSE(is_program("notes", "#!/bin/sh\n", 0644));
    CHECK_FALSE(is_program("empty", "", 0644));
}

TEST_CASE("headers that point outside the file count as absent") {
    std::string text = elf({.loader = "/lib/ld.so"});
    text.resize(sizeof(Elf64_Ehdr) + 10);
    const Tree tree;
    tree.add("/cut", text, 0644);
    tree.add("/short", "\177ELF", 0644);

    CHECK(runtime::read_elf(tree.open_file("/cut").get())->loader == "");
    CHECK_FALSE(runtime::read_elf(tree.open_file("/short").get()));
}

TEST_CASE("a tree is listed in the fewest pieces that leave out every program that is not granted") {
    const Tree tree;
    tree.add_directory("/bin");
    tree.add_directory("/etc");
    tree.add_directory("/lib");
    tree.add_directory("/lib/deep");
    tree.add("/bin/granted", elf({.loader = "/lib/ld.so"}), 0755);
    tree.add("/bin/other", elf({.loader = "/lib/other.so"}), 0755);
    tree.add("/etc/passwd", "root", 0644);
    tree.add("/lib/libx.so", elf({.has_name = true}), 0644);
    tree.add("/lib/deep/data", "", 0644);

    CHECK(readable(tree, {"/bin/granted"}) == std::vector<std::string>{"/bin/granted", "/etc", "/lib"});
    CHECK(readable(tree, {"/bin"}) == std::vector<std::string>{"/"});
    CHECK(runtime::find_programs(tree.open_root().get(), {}, {"/bin/granted"})->loaders ==
          std::set<std::string>{"/lib/ld.so"});
}

TEST_CASE("a directory that begins like a granted one is not granted") {
    const Tree tree;
    tree.add_directory("/tools");
    tree.add_directory("/tools2");
    tree.add("/tools/one", "#!/x", 0755);
    tree.add("/tools2/two", "#!/x", 0755);

    CHECK(readable(tree, {"/tools"}) == std::vector<std::string>{"/tools"});
}

TEST_CASE("a symlink in the image is not walked") {
    const Tree tree;
    REQUIRE(symlinkat("/", tree.open_root().get(), "all") == 0);

    CHECK(readable(tree, {}) == std::vector<std::string>{"/"});
}

}  // namespace rung

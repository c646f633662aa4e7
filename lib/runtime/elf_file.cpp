// Reading ELF headers, of either class and in this machine's byte order: any other the kernel would not execute.
// SPDX-License-Identifier: Apache-2.0
#include "runtime/elf_file.hpp"

#include <elf.h>
#include <unistd.h>

#include <array>
#include <cstring>
#include <vector>

namespace rung::runtime {
namespace {

constexpr size_t kMostSegments = 2048;  // the kernel takes 64 KiB of them
constexpr size_t kMostTableBytes = 256 * 1024;
constexpr size_t kMostDynamicBytes = 16 * 1024;
constexpr size_t kMostLoaderBytes = 4096;

// Where a class keeps the fields, in bytes from the beginning of each structure.
struct Layout {
    size_t word = 0;                                                  // of an address or an offset
    size_t segments_offset = 0, segment_size = 0, segment_count = 0;  // in the file header
    size_t offset = 0, size = 0;                                      // in a program header
};
constexpr Layout kLayout32{.word = 4,
                           .segments_offset = offsetof(Elf32_Ehdr, e_phoff),
                           .segment_size = offsetof(Elf32_Ehdr, e_phentsize),
                           .segment_count = offsetof(Elf32_Ehdr, e_phnum),
                           .offset = offsetof(Elf32_Phdr, p_offset),
                           .size = offsetof(Elf32_Phdr, p_filesz)};
constexpr Layout kLayout64{.word = 8,
                           .segments_offset = offsetof(Elf64_Ehdr, e_phoff),
                           .segment_size = offsetof(Elf64_Ehdr, e_phentsize),
                           .segment_count = offsetof(Elf64_Ehdr, e_phnum),
                           .offset = offsetof(Elf64_Phdr, p_offset),
                           .size = offsetof(Elf64_Phdr, p_filesz)};

using Bytes = std::vector<unsigned char>;

// As much of it as the file has.
Bytes read_at(int file, uint64_t offset, size_t size) {
    Bytes bytes(size);
    const ssize_t length = pread(file, bytes.data(), size, static_cast<off_t>(offset));
    bytes.resize(length < 0 ? 0 : static_cast<size_t>(length));
    return bytes;
}

uint64_t number_at(const Bytes& bytes, size_t offset, size_t size) {
    uint64_t value = 0;
    if (offset + size <= bytes.size())
        memcpy(&value, bytes.data() + offset, size);  // little-endian hosts only
    return value;
}

void read_dynamic(ElfFile& elf, const Bytes& section, size_t word) {
    for (size_t entry = 0; entry + 2 * word <= section.size(); entry += 2 * word) {
        const uint64_t tag = number_at(section, entry, word);
        if (tag == DT_NULL) return;
        if (tag == DT_SONAME) elf.has_name = true;
        if (tag == DT_FLAGS_1 && (number_at(section, entry + word, word) & DF_1_PIE) != 0)
            elf.says_program = true;
    }
}

std::string text_of(const Bytes& bytes) {
    const auto* begin = reinterpret_cast<const char*>(bytes.data());
    return std::string(begin, strnlen(begin, bytes.size()));
}

}  // namespace

std::optional<ElfFile> read_elf(int file) {
    const Bytes header = read_at(file, 0, sizeof(Elf64_Ehdr));
    if (header.size() < sizeof(Elf32_Ehdr) || memcmp(header.data(), ELFMAG, SELFMAG) != 0) return {};
    const Layout& layout = header[EI_CLASS] == ELFCLASS32 ? kLayout32 : kLayout64;
    const uint64_t type = number_at(header, offsetof(Elf64_Ehdr, e_type), sizeof(Elf64_Half));
    ElfFile elf{.is_fixed = type == ET_EXEC, .is_dynamic = type == ET_DYN};

    const uint64_t begin = number_at(header, layout.segments_offset, layout.word);
    const size_t size = number_at(header, layout.segment_size, sizeof(Elf64_Half));
    const size_t count =
        std::min<size_t>(number_at(header, layout.segment_count, sizeof(Elf64_Half)), kMostSegments);
    const Bytes table = read_at(file, begin, std::min(size * count, kMostTableBytes));
    for (size_t index = 0; index < count; ++index) {
        const size_t segment = index * size;
        const uint64_t kind = number_at(table, segment, sizeof(Elf64_Word));
        const uint64_t offset = number_at(table, segment + layout.offset, layout.word);
        const uint64_t length = number_at(table, segment + layout.size, layout.word);
        if (kind == PT_INTERP)
            elf.loader = text_of(read_at(file, offset, std::min<size_t>(length, kMostLoaderBytes)));
        if (kind == PT_DYNAMIC)
            read_dynamic(elf, read_at(file, offset, std::min<size_t>(length, kMostDynamicBytes)),
                         layout.word);
    }
    return elf;
}

}  // namespace rung::runtime

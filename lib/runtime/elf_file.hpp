// The little of elf(5) that tells a program from a library.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

namespace rung::runtime {

struct ElfFile {
    bool is_fixed = false;      // ET_EXEC: a program that is loaded at its own addresses
    bool is_dynamic = false;    // ET_DYN: a library, or a program that is loaded anywhere
    bool says_program = false;  // DF_1_PIE
    bool has_name = false;      // DT_SONAME: others link to it
    std::string loader = {};    // PT_INTERP
    bool operator==(const ElfFile&) const = default;
};

// Nothing when the file is not ELF. Parts that lie outside the file count as absent.
std::optional<ElfFile> read_elf(int file);

}  // namespace rung::runtime

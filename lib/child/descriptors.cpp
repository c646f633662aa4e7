// Descriptors that must not be there any longer.
// SPDX-License-Identifier: Apache-2.0
#include "child/descriptors.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstring>

#include "kernel/syscalls.hpp"

namespace rung::child {
namespace {

void write_text(const char* text) {
    (void)!write(STDERR_FILENO, text, strlen(text));
}

}  // namespace

// The one line that a container started long ago can still say to whoever reads its standard error.
void explain_on_stderr(const char* path, int error) {
    const char* description = strerrordesc_np(error);
    write_text("exec ");
    write_text(path);
    write_text(": ");
    if (description == nullptr) {
        write_text("unknown error\n");
        return;
    }
    // Lower case, as every error of this program.
    const char first = *description;
    const char lower = first >= 'A' && first <= 'Z' ? static_cast<char>(first - 'A' + 'a') : first;
    (void)!write(STDERR_FILENO, &lower, 1);
    write_text(description + 1);
    write_text("\n");
}

void close_all_but(int first, std::span<int> kept) {
    std::sort(kept.begin(), kept.end());
    for (const int one : kept) {
        if (one < first) continue;
        if (one > first)
            (void)kernel::close_range(static_cast<unsigned int>(first), static_cast<unsigned int>(one - 1),
                                      0);
        first = one + 1;
    }
    (void)kernel::close_range(static_cast<unsigned int>(first), ~0U, 0);
}

}  // namespace rung::child

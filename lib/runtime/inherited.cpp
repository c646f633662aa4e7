// Counting descriptors; which of them are closed is the child's to do.
// SPDX-License-Identifier: Apache-2.0
#include "runtime/inherited.hpp"

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <string_view>

namespace rung::runtime {
namespace {

constexpr int kFirst = 3;
constexpr int kMost = 1 << 20;  // more than fs.nr_open lets a process have by default

int number_in_environment(const char* name) {
    const char* text = getenv(name);
    int number = 0;
    if (text == nullptr) return 0;
    const std::string_view view{text};
    const auto [end, error] = std::from_chars(view.data(), view.data() + view.size(), number);
    return error == std::errc{} && end == view.data() + view.size() ? number : 0;
}

Status check(int first, int count) {
    if (count < 0 || count > kMost - first)
        return Error{.message =
                         "--preserve-fds: " + std::to_string(count) + " is not a number of descriptors"};
    for (int number = first; number < first + count; ++number) {
        if (fcntl(number, F_GETFD) >= 0) return {};
    }
    if (count == 0) return {};
    return errno_error("unable to stat preserved-fd 0 (of " + std::to_string(count) + ")", ENOENT);
}

}  // namespace

Result<Inherited> preserved_descriptors(int preserve_fds) {
    TRY(check(kFirst, preserve_fds));
    return Inherited{.count = preserve_fds};
}

Result<Inherited> activated_descriptors(int preserve_fds) {
    const int sockets = number_in_environment("LISTEN_FDS");
    if (sockets <= 0 || sockets > kMost - kFirst || number_in_environment("LISTEN_PID") != getpid())
        return preserved_descriptors(preserve_fds);
    TRY(check(kFirst + sockets, preserve_fds));
    // sd_listen_fds(3) marks them close-on-exec in the process that takes them: whoever called us has not.
    return Inherited{.count = sockets + preserve_fds,
                     .environment = {"LISTEN_FDS=" + std::to_string(sockets), "LISTEN_PID=1"}};
}

}  // namespace rung::runtime

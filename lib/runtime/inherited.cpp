// Counting descriptors; which of them are closed is the child's to do.
// SPDX-License-Identifier: Apache-2.0
#include "runtime/inherited.hpp"

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <optional>
#include <string_view>

namespace rung::runtime {
namespace {

constexpr int kFirst = 3;
constexpr int kMost = 1 << 20;  // more than fs.nr_open lets a process have by default

std::optional<int> number_in_environment(const char* name) {
    const char* text = getenv(name);
    if (text == nullptr) return {};
    int number = 0;
    const std::string_view view{text};
    const auto [end, error] = std::from_chars(view.data(), view.data() + view.size(), number);
    if (error != std::errc{} || end != view.data() + view.size()) return {};
    return number;
}

// Those of an ancestor, which LISTEN_PID names, are not ours to give.
int activation_sockets() {
    const auto count = number_in_environment("LISTEN_FDS");
    if (!count || *count < 0 || *count > kMost - kFirst) return 0;
    const bool is_ours = getenv("LISTEN_PID") == nullptr || number_in_environment("LISTEN_PID") == getpid();
    return is_ours ? *count : 0;
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
    const int sockets = activation_sockets();
    if (sockets == 0) return preserved_descriptors(preserve_fds);
    TRY(check(kFirst + sockets, preserve_fds));
    return Inherited{.count = sockets + preserve_fds,
                     .environment = {"LISTEN_FDS=" + std::to_string(sockets),
                                     "LISTEN_PID=1"}};  // what the workload is in its pid namespace
}

}  // namespace rung::runtime

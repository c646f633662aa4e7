// The rule is runc's, so that an engine that changes users finds its containers again.
// SPDX-License-Identifier: Apache-2.0
#include "root_directory.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <memory>
#include <string_view>

#include "base/path.hpp"
#include "kernel/probe.hpp"

namespace rung::cli {

namespace {

std::string_view environment(const char* name) {
    const char* value = getenv(name);
    return value != nullptr ? value : "";
}

// As logind would set it for an ordinary user, where it has made the directory.
std::string without_runtime_directory() {
    const std::string usual = "/run/user/" + std::to_string(geteuid());
    struct stat status = {};
    const bool is_own = geteuid() != 0 && stat(usual.c_str(), &status) == 0 && status.st_uid == geteuid();
    return is_own ? usual + "/rung" : "/run/rung";
}

}  // namespace

std::string default_root() {
    const std::string_view runtime_directory = environment("XDG_RUNTIME_DIR");
    if (runtime_directory.empty()) return without_runtime_directory();
    const bool is_host_root =
        geteuid() == 0 && (!kernel::in_user_namespace() || environment("USER") == "root");
    return is_host_root ? "/run/rung" : path::join(runtime_directory, "rung");
}

Result<std::string> absolute_path(const std::string& path) {
    if (path::is_absolute(path)) return path::clean(path);
    const std::unique_ptr<char, decltype(&free)> directory{getcwd(nullptr, 0), free};
    if (!directory) return errno_error("getcwd", errno);
    return path::clean(path::join(directory.get(), path));
}

}  // namespace rung::cli

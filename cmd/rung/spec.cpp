// rung spec: a config.json to start from.
// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <unistd.h>

#include <cerrno>

#include "base/fd.hpp"
#include "base/path.hpp"
#include "config/parse.hpp"
#include "kernel/probe.hpp"
#include "verbs.hpp"

namespace rung::cli {

Result<int> perform(const runtime::Globals&, const Spec& verb) {
    const std::string path =
        verb.file.empty() ? path::join(verb.bundle.empty() ? "." : verb.bundle, "config.json") : verb.file;
    const auto host = TRY(kernel::probe());
    // O_EXCL: somebody's own configuration is not overwritten.
    const Fd file{open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666)};
    if (!file && errno == EEXIST) return Error{.message = "File config.json exists. Remove it first"};
    if (!file) return errno_error(path, errno);
    const std::string text =
        config::default_spec_json({.cgroup_namespace = host.cgroup.layout == kernel::CgroupLayout::v2,
                                   .rootless = verb.rootless,
                                   .uid = geteuid(),
                                   .gid = getegid()});
    const ssize_t count = write(file.get(), text.data(), text.size());
    if (count < 0) return errno_error(path, errno);
    if (static_cast<size_t>(count) != text.size()) return errno_error(path, ENOSPC);
    return 0;
}

}  // namespace rung::cli

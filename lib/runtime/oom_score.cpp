// /proc/self/oom_score_adj, proc(5).
// SPDX-License-Identifier: Apache-2.0
#include "runtime/oom_score.hpp"

#include <fcntl.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <cerrno>

#include "base/log.hpp"
#include "kernel/files.hpp"
#include "kernel/probe.hpp"

namespace rung::runtime {
namespace {

constexpr const char* kFile = "/proc/self/oom_score_adj";

// Only the opening asks who owns the file. No process of a container can see this one: we are in no namespace of theirs.
Result<Fd> open_own() {
    (void)prctl(PR_SET_DUMPABLE, 1, 0, 0, 0);
    auto file = kernel::open_at(AT_FDCWD, kFile, O_RDWR);
    (void)prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
    return file;
}

}  // namespace

InheritedOomScore::~InheritedOomScore() {
    if (before_.empty()) return;
    (void)!pwrite(file_.get(), before_.data(), before_.size(), 0);
}

Status InheritedOomScore::apply(std::optional<int> score) {
    if (!score) return {};
    file_ = TRY(open_own().context("process.oomScoreAdj"));
    char text[16] = {};
    const ssize_t length = pread(file_.get(), text, sizeof text, 0);
    if (length <= 0) return errno_error("process.oomScoreAdj: " + std::string{kFile}, errno);
    const std::string wanted = std::to_string(*score);
    if (pwrite(file_.get(), wanted.data(), wanted.size(), 0) > 0) {
        before_.assign(text, static_cast<size_t>(length));
        return {};
    }
    const int reason = errno;
    const bool is_host_root = geteuid() == 0 && !kernel::in_user_namespace();
    if (reason != EACCES || is_host_root) return errno_error("process.oomScoreAdj", reason);
    log::debug("process.oomScoreAdj: " + wanted +
               " is lower than rung's own score, which takes a privilege to go below");
    return {};
}

}  // namespace rung::runtime

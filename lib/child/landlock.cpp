// Landlock: what the program, and whatever it starts, may do with files, whoever owns them. landlock(7).
// SPDX-License-Identifier: Apache-2.0
#include "kernel/landlock.hpp"

#include <fcntl.h>
#include <linux/openat2.h>
#include <unistd.h>

#include <cerrno>

#include "base/fd.hpp"
#include "child/context.hpp"
#include "child/procfs.hpp"
#include "child/targets.hpp"

namespace rung::child {
namespace {

namespace landlock = kernel::landlock;

// The path was decided on with its symlinks resolved: one that is there now came later.
int open_granted(const char* path) {
    open_how how{};
    how.flags = O_PATH | O_CLOEXEC;
    how.resolve = RESOLVE_NO_SYMLINKS;
    return kernel::openat2(AT_FDCWD, path, how);
}

int allow(int ruleset, int file, uint64_t access) {
    landlock::PathBeneathAttributes attributes{.allowed_access = access, .parent_fd = file};
    if (kind_of(file) == TargetKind::file) attributes.allowed_access &= landlock::kOnFiles;
    if (attributes.allowed_access == 0) return 0;
    const int result = kernel::landlock_add_path(ruleset, attributes);
    // A pipe, a socket or a file in memory is on no mount, and Landlock does not look at it.
    return result == -EBADFD ? 0 : result;
}

// The streams that the engine gave stay what they are when they are opened again by name (/dev/stdout): for the access they have.
int allow_streams(int ruleset, uint64_t handled) {
    for (int stream = STDIN_FILENO; stream <= STDERR_FILENO; ++stream) {
        const int flags = fcntl(stream, F_GETFL);
        if (flags < 0 || (flags & O_PATH) != 0 || kind_of(stream) == TargetKind::directory) continue;
        const int mode = flags & O_ACCMODE;
        uint64_t access = landlock::kIoctlOnDevice;
        if (mode != O_WRONLY) access |= landlock::kReadFile;
        if (mode != O_RDONLY) access |= landlock::kWriteFile;
        if (const int result = allow(ruleset, stream, access & handled); result < 0) return result;
    }
    return 0;
}

}  // namespace

Outcome perform(Context& context, const MakeRuleset& step) {
    Fd ruleset{kernel::landlock_create_ruleset({.handled_access_fs = step.handled, .scoped = step.scoped})};
    if (!ruleset) return failed(ruleset.get());
    for (size_t index = 0; index < step.rules.size(); ++index) {
        const FileRule& rule = step.rules[index];
        const Fd file{open_granted(rule.path.c_str())};
        const bool missing = file.get() == -ENOENT || file.get() == -ENOTDIR || file.get() == -ELOOP;
        if (missing && rule.field.empty()) continue;
        int result = file.get();
        if (file) result = allow(ruleset.get(), file.get(), rule.access & step.handled);
        if (result < 0)
            return {.error = -result, .index = static_cast<uint32_t>(index), .text = rule.path.c_str()};
    }
    if (const int result = allow_streams(ruleset.get(), step.handled); result < 0) return failed(result);
    context.ruleset = ruleset.release();
    // For FindExecutable, which comes when nothing can be mounted any more.
    (void)private_procfs(context);
    return done();
}

Outcome perform(Context& context, const EnterRuleset&) {
    if (context.procfs >= 0) (void)close(context.procfs);
    context.procfs = -1;
    const Fd ruleset{context.ruleset};
    context.ruleset = -1;
    if (!ruleset) return failed(-EBADF);
    return failed(kernel::landlock_restrict_self(ruleset.get(), 0));
}

}  // namespace rung::child

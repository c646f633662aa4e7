// The last steps: descriptors, working directory, HOME, the program, and execve.
// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "base/fd.hpp"
#include "base/path.hpp"
#include "child/context.hpp"
#include "child/descriptors.hpp"
#include "child/passwd.hpp"
#include "child/small_text.hpp"
#include "child/targets.hpp"
#include "kernel/syscalls.hpp"

namespace rung::child {
namespace {

constexpr int kExecFailed = 255;

// Between the caller and execve the environment is a table of pointers into the program's strings.
const char* find_variable(const Context& context, const char* name) {
    const size_t length = strlen(name);
    for (const std::string& entry : context.program.env) {
        if (entry.size() > length && entry[length] == '=' && memcmp(entry.data(), name, length) == 0) {
            return entry.c_str() + length + 1;
        }
    }
    return nullptr;
}

// No magic link is followed, so no descriptor of the host can become the working directory (CVE-2024-21626).
int enter_directory(const char* path) {
    open_how how{};
    how.flags = O_PATH | O_DIRECTORY | O_CLOEXEC;
    how.resolve = RESOLVE_NO_MAGICLINKS;
    const int directory = kernel::openat2(AT_FDCWD, path, how);
    if (directory < 0) return directory;
    const int result = kernel::checked(fchdir(directory));
    (void)close(directory);
    return result;
}

// For a seccomp profile that forbids openat2: chdir, and then proof that we are still below our root.
int enter_directory_and_look(const char* path) {
    if (const int result = kernel::checked(chdir(path)); result < 0) return result;
    char here[kMaxPath];
    const long length = syscall(SYS_getcwd, here, sizeof here);
    // getcwd(2): the path of a directory outside the root begins with "(unreachable)".
    if (length < 0) return -errno;
    return here[0] == '/' ? 0 : -ELOOP;
}

// "/proc/self/exe" and its like: until execve that is this program of the host's, not one of the container's.
bool is_ourselves(const char* path, const struct stat& program) {
    struct stat own {};
    if (stat("/proc/self/exe", &own) < 0 || own.st_ino != program.st_ino || own.st_dev != program.st_dev)
        return false;
    // By a name of its own, as where a container brings this runtime along, it is a program like any other.
    open_how how{};
    how.flags = O_PATH | O_CLOEXEC;
    how.resolve = RESOLVE_NO_MAGICLINKS;
    const int file = kernel::openat2(AT_FDCWD, path, how);
    if (file >= 0) (void)close(file);
    return file == -ELOOP;
}

// As Go's exec.LookPath, whose errors engines know.
Outcome check_program(const char* path) {
    struct stat status {};
    if (stat(path, &status) < 0) return failed(-errno, Detail::executable_stat, path);
    if (S_ISDIR(status.st_mode)) return failed(-EISDIR, Detail::executable_is_directory, path);
    if (is_ourselves(path, status)) return failed(-ENOENT, Detail::executable_stat, path);
    if (faccessat(AT_FDCWD, path, X_OK, AT_EACCESS) == 0) return done();
    // A profile may forbid faccessat2; the mode bits are then the best answer.
    const bool unanswered = errno == ENOSYS || errno == EPERM;
    if (unanswered && (status.st_mode & (S_IXUSR | S_IXGRP | S_IXOTH)) != 0) return done();
    return failed(-EACCES, Detail::executable_not_allowed, path);
}

// Where a program lies once every symlink on the way has been followed, as text in `place`; 0, or a negative errno.
int find_place(const Context& context, const char* path, char (&place)[kMaxPath]) {
    if (context.procfs < 0) return -ENOENT;
    const Fd file{kernel::checked(open(path, O_PATH | O_CLOEXEC))};
    if (!file) return file.get();
    char name[32];
    SmallText{name, sizeof name}.add("self/fd/").add_decimal(static_cast<uint64_t>(file.get()));
    const int length = kernel::checked(readlinkat(context.procfs, name, place, sizeof place - 1));
    if (length < 0) return length;
    place[length] = '\0';
    return 0;
}

// Said beforehand and with the place, which the EACCES of execve could not: that one comes in any case.
Outcome check_granted(const Context& context, const FindExecutable& step) {
    if (step.tools.empty()) return done();
    static char place[kMaxPath];
    if (find_place(context, context.executable, place) < 0) return done();
    for (const std::string& tool : step.tools) {
        if (path::covers(tool, place)) return done();
    }
    return failed(-EACCES, Detail::executable_not_granted, place);
}

bool remember_executable(Context& context, const char* directory, size_t directory_length, const char* name) {
    const size_t name_length = strlen(name);
    if (directory_length + 1 + name_length >= sizeof context.executable) return false;
    memcpy(context.executable, directory, directory_length);
    size_t length = directory_length;
    const bool needs_separator = length > 0 && directory[length - 1] != '/';
    if (needs_separator) context.executable[length++] = '/';
    memcpy(context.executable + length, name, name_length + 1);
    return true;
}

Outcome search_path(Context& context, const char* name) {
    const char* path = find_variable(context, "PATH");
    Outcome outcome = failed(-ENOENT, Detail::executable_not_in_path, name);
    while (path != nullptr && *path != '\0') {
        const size_t length = strcspn(path, ":");
        // An empty element is the working directory.
        const bool fits = length == 0 ? remember_executable(context, ".", 1, name)
                                      : remember_executable(context, path, length, name);
        if (fits && !check_program(context.executable).failed()) return done();
        path += length;
        if (*path == ':') ++path;
    }
    context.executable[0] = '\0';
    return outcome;
}

}  // namespace

Outcome perform(Context& context, const CloseDescriptors& step) {
    // What the caller handed down for the workload was never CLOEXEC, what is ours always was; so the preserved range needs no
    // touch, and a gap in it filled by one of ours still closes at execve. The rest closes now: this process may wait long for `start`.
    const bool hooks_follow = context.descriptors.hook_output >= 0;
    int kept[] = {context.descriptors.channel, context.descriptors.start, context.descriptors.hook_output};
    close_all_but(3 + step.preserved, std::span{kept, hooks_follow ? 3U : 2U});
    context.root = context.procfs = context.null_device = context.empty_directory = -1;
    return done();
}

Outcome perform(Context& context, const ChangeDirectory& step) {
    if (step.create) {
        const int directory = resolve_or_make(context, step.path.c_str(), TargetKind::directory);
        if (directory < 0) return failed(directory, Detail::none, step.path.c_str());
        (void)close(directory);
        return done();
    }
    if (step.attempt == Attempt::second && !context.directory_is_refused) return done();
    int result = enter_directory(step.path.c_str());
    if (result == -ENOSYS || result == -EPERM) result = enter_directory_and_look(step.path.c_str());
    context.directory_is_refused = step.attempt == Attempt::first && result == -EACCES;
    if (context.directory_is_refused) return done();
    if (result == -ELOOP) return failed(result, Detail::cwd_outside_container, step.path.c_str());
    return failed(result, Detail::none, step.path.c_str());
}

Outcome perform(Context& context, const SetHome&) {
    // Room for everything costs nothing as long as it is not touched.
    static const char* table[kMaxArguments + 2];
    const auto& env = context.program.env;
    if (env.size() > kMaxArguments) return failed(-E2BIG);
    context.environment = table;
    const char* home = find_variable(context, "HOME");
    const bool has_home = home != nullptr && *home != '\0';
    size_t count = 0;
    for (const std::string& entry : env) {
        const bool is_empty_home = !has_home && entry.starts_with("HOME=");
        if (!is_empty_home) context.environment[count++] = entry.c_str();
    }
    if (!has_home) {
        memcpy(context.home, "HOME=", 5);
        find_home(geteuid(), context.home + 5, sizeof context.home - 5);
        context.environment[count++] = context.home;
    }
    context.environment[count] = nullptr;
    return done();
}

Outcome perform(Context& context, const FindExecutable& step) {
    static const char* table[kMaxArguments + 1];
    const auto& args = context.program.args;
    if (args.empty() || args.size() > kMaxArguments) return failed(args.empty() ? -EINVAL : -E2BIG);
    context.arguments = table;
    for (size_t index = 0; index < args.size(); ++index)
        context.arguments[index] = args[index].c_str();
    context.arguments[args.size()] = nullptr;

    const char* name = args.front().c_str();
    Outcome found = failed(-ENAMETOOLONG, Detail::executable_stat, name);
    if (strchr(name, '/') == nullptr) {
        found = search_path(context, name);
    } else if (remember_executable(context, "", 0, name)) {
        found = check_program(name);
    }
    return found.failed() ? found : check_granted(context, step);
}

Outcome perform(Context& context, const Execute&) {
    (void)execve(context.executable, const_cast<char* const*>(context.arguments),
                 const_cast<char* const*>(context.environment));
    const int error = errno;
    if (!context.started && !context.program.explains_failed_exec)
        return failed(-error, Detail::execve, context.executable);
    explain_on_stderr(context.executable, error);
    _exit(kExecFailed);
}

}  // namespace rung::child

// The texts that engines and conformance suites match letter by letter, each with who needs it: those of cgroups are in
// cgroup/wording.hpp. Every other error is worded where it arises.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

namespace rung::runtime::wording {

// ---- containers and their states ----
// containerd's shim maps it to "not found" for kill and to success for delete; Docker to "No such container".
inline constexpr std::string_view kDoesNotExist = "container does not exist";
// kill of a stopped container; containerd's shim takes it for "already finished", which ends a pod's
// termination.
inline constexpr std::string_view kNotRunning = "container not running";
// delete --force of a process that SIGKILL does not end, such as one that another cgroup keeps frozen; after as long as runc waits.
inline constexpr std::string_view kStillRunning = "container init still running";
// runc's tests, events of a stopped container.
inline std::string not_running(std::string_view id) {
    return "container with id " + std::string{id} + " is not running";
}
inline constexpr std::string_view kNotPaused = "container not paused";  // runc's tests, resume
// runc's and crun's tests, create and run with an id in use.
inline constexpr std::string_view kIdInUse = "container with given ID already exists";
inline constexpr std::string_view kInvalidId = "invalid container ID format";  // runc's tests
inline constexpr std::string_view kAlreadyStarted =
    "cannot start an already running container";  // runc's tests, start
inline constexpr std::string_view kStartStopped =
    "cannot start a container that has stopped";  // runc's tests, start
inline constexpr std::string_view kStartPaused =
    "cannot start a container in the paused state";                                     // runc's tests, start
inline constexpr std::string_view kExecStopped = "cannot exec in a stopped container";  // Docker, CRI: exec
inline constexpr std::string_view kExecPaused =
    "cannot exec in a paused container (use --ignore-paused to override)";
// runc's tests; Docker shows it. STATUS is what still runs: "running", "paused".
inline std::string delete_not_stopped(std::string_view id, std::string_view status) {
    return "cannot delete container " + std::string{id} + " that is not stopped: " + std::string{status};
}

// ---- where in a start an error happened ----
// Docker, containerd and podman show the chain and look in it for what follows these.
inline constexpr std::string_view kUnableToStart = "unable to start container process";
inline constexpr std::string_view kDuringInit = "error during container init";

// ---- the program; Docker and podman derive exit codes 126 and 127 from these ----
inline constexpr std::string_view kNotInPath = "executable file not found in $PATH";  // 127
inline constexpr std::string_view kPermissionDenied = "permission denied";            // 126
inline constexpr std::string_view kIsDirectory = "is a directory";                    // Docker: 126
inline constexpr std::string_view kEmptyArgs = "process args cannot be empty";        // runc's tests, exec
inline constexpr std::string_view kCwdNotAbsolute = "Cwd must be an absolute path";   // runc's tests
// `exec: "NAME": WHY`.
inline std::string exec_failed(std::string_view name, std::string_view why) {
    return "exec: \"" + std::string{name} + "\": " + std::string{why};
}

// ---- the bundle ----
inline constexpr std::string_view kConfigNotFound =
    "JSON specification file config.json not found";  // runc's tests

// ---- the command line ----
inline constexpr std::string_view kNoHelp = "No help topic";  // runc's tests, an unknown verb

// ---- seccomp agents; runc's tests ----
inline constexpr std::string_view kNoSeccompAgent =
    "failed to connect with seccomp agent specified in the seccomp profile";
inline constexpr std::string_view kNoListenerPath = "seccomp listenerPath is not set";
inline constexpr std::string_view kNoWaitKill =
    "error adding WaitKill flag to seccomp filter: SetWaitKill requires Linux 5.19";
inline constexpr std::string_view kNoNotify = "seccomp notify unsupported: it requires Linux 5.7";

// ---- how far a start has come, in the debug log; runc's tests, which know the stages by these words ----
inline constexpr std::string_view kStageCloned = "nsexec container setup";  // the process exists
inline constexpr std::string_view kStageInit = "child process in init()";   // and is all that it is to be
inline constexpr std::string_view kStageCreated =
    "init: closing the pipe to signal completion";  // the container is announced
inline constexpr std::string_view kStageExec = "setns_init: about to exec";

// ---- CPUs; runc's tests look for what its nsexec says ----
inline std::string initial_affinity(std::string_view mask) {
    return "nsexec: affinity: " + std::string{mask};
}

// ---- terminals; podman and runc's tests ----
inline constexpr std::string_view kTerminalNeedsSocket =
    "cannot allocate tty if rung will detach without setting console socket";
inline constexpr std::string_view kSocketNeedsTerminal =
    "cannot use console socket if rung will not detach or allocate tty";

// ---- mounts, hooks, cgroups: runc's and crun's tests; Docker adds a hint to "not a directory" ----
inline constexpr std::string_view kOrdinaryDirectory = "must be mounted on ordinary directory";
inline constexpr std::string_view kCgroupNotApplied = "unable to apply cgroup configuration";
// `error adding pid N to cgroups`: runc's tests, exec --cgroup.
inline std::string adding_to_cgroups(std::string_view pid) {
    return "error adding pid " + std::string{pid} + " to cgroups";
}
// runc's tests, create by an ordinary user.
inline constexpr std::string_view kNoCgroupNoPidNamespace =
    "a rootless container with neither a cgroup nor a pid namespace of its own. Such configuration is "
    "strongly discouraged: not all of its "
    "processes can be ended";
// `error mounting "SOURCE" to rootfs at "TARGET"`.
inline std::string mount_failed(std::string_view source, std::string_view target) {
    return "error mounting \"" + std::string{source} + "\" to rootfs at \"" + std::string{target} + "\"";
}
// Attributes (MOUNT_ATTR_*) that a mount has for good in this user namespace; runc's tests look for the errno that follows.
inline std::string locked_attributes(uint64_t attributes) {
    std::string names;
    for (const auto& [bit, name] : {std::pair{1U, "ro"}, {2U, "nosuid"}, {4U, "nodev"}, {8U, "noexec"}}) {
        if ((attributes & bit) != 0) names += (names.empty() ? "" : ", ") + std::string{name};
    }
    return "the source is " + names + ", which is locked in this user namespace and cannot be cleared";
}
inline constexpr std::string_view kLockedAccessTimes =
    "the source's access times are locked in this user namespace and cannot be changed";
// `error running createRuntime hook #1`, for the parent's hooks and the child's alike.
inline std::string hook_failed(std::string_view kind, unsigned index) {
    return "error running " + std::string{kind} + " hook #" + std::to_string(index);
}
// The warning about a poststop hook, of which nothing else is the matter: crun's tests.
inline std::string poststop_failed(int exit_code) {
    return "poststop hook failed with exit code " + std::to_string(exit_code);
}

}  // namespace rung::runtime::wording

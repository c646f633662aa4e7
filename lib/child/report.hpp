// Report: the one message format from the child to the parent over their SOCK_SEQPACKET pair.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace rung::child {

enum class ReportKind : uint32_t {
    sync,      // SyncWithParent reached; value = the SyncPoint
    ready,     // AwaitStart reached: create is done
    terminal,  // the pty master travels with this message (SCM_RIGHTS); no console socket was given
    failed,    // step `step` failed with `errno_value`; `detail` says more
    init_pid,  // from the stage before a second clone: value = the pid of the process that goes on
    tree,  // BindHostPath: value = the id map that this mount, which travels with the message, is to get. Wants an answer
    listener,  // LoadSeccomp: value = the listener's descriptor here; or it travels with this message. Wants an answer
    warned,  // something was skipped, as runc does; `detail` says what
};

// What a bare errno does not say. Each is worded in lib/runtime/failure.cpp.
enum class Detail : uint32_t {
    none,
    executable_not_in_path,   // exec: "x": executable file not found in $PATH
    executable_stat,          // exec: "x": stat x: ...
    executable_not_allowed,   // exec: "x": permission denied
    executable_is_directory,  // exec: "x": is a directory
    executable_not_granted,   // no tool of the grant; text = where it lies
    execve,                   // exec x: ...
    cwd_outside_container,    // CVE-2024-21626
    hook_exit,                // value = exit status of hook `index`
    hook_signal,              // value = signal that ended hook `index`
    hook_timeout,
    target_is_symlink,  // must be mounted on ordinary directory
    target_create,
    target_in_proc,    // "text" cannot be mounted because it is inside /proc
    unsafe_dev,        // the rootfs's /dev is not a directory of its own
    capability_raise,  // value = the capability that could not be raised in the ambient set
    groups_denied,     // a warning: the user namespace denies setgroups
    terminal_no_devpts,
    parent_gone,
    source,  // the mount's source, not its target, is what failed
    cgroup_join,
    locked_attributes,  // value = the MOUNT_ATTR_* that may not be cleared in this user namespace
};

struct Report {
    ReportKind kind = ReportKind::sync;
    uint32_t step = 0;  // index into Program::steps
    int32_t errno_value = 0;
    Detail detail = Detail::none;
    int32_t value = 0;
    uint32_t index = 0;   // which hook, from 0
    char text[256] = {};  // a path or a name, cut to fit, NUL-terminated
};

// Parent to child: the answer to a sync. Cgroup join files, if any, travel with it as SCM_RIGHTS.
struct Answer {
    uint32_t go = 1;       // 0: stop, the parent has failed
    int32_t host_pid = 0;  // the child's pid in the parent's pid namespace, for hook state
};

constexpr int kMaxCgroupJoins = 32;

}  // namespace rung::child

// Context: what the steps of one child share, and the outcome each of them has. Private to lib/child.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "child/program.hpp"
#include "child/report.hpp"
#include "child/run.hpp"

namespace rung::child {

// How a step ended. `text` is copied into the report, so it may point into the program or a buffer of the context.
struct Outcome {
    int error = 0;  // an errno, positive; 0 = done
    Detail detail = Detail::none;
    int32_t value = 0;
    uint32_t index = 0;
    const char* text = nullptr;

    bool failed() const { return error != 0; }
};

inline Outcome done() {
    return {};
}
// `result` as the wrappers of kernel/syscalls.hpp return it: a negative errno is a failure, anything else is none.
inline Outcome failed(int result, Detail detail = Detail::none, const char* text = nullptr) {
    return {.error = result < 0 ? -result : 0, .detail = detail, .text = text};
}

constexpr int kMaxPath = 4096;
constexpr int kMaxArguments =
    1 << 18;  // and as many variables: more than the kernel takes with the usual stack

struct Context {
    const Program& program;
    Descriptors descriptors = {};
    uint32_t step = 0;                       // the one being performed
    int root = -1;                           // O_PATH: the root that targets are resolved in
    int procfs = -1;                         // private detached procfs, made on first use
    int cgroup_joins[kMaxCgroupJoins] = {};  // came with the answer to SyncPoint::joined_namespaces
    int cgroup_join_count = 0;
    int32_t host_pid = 0;  // from the same answer
    int null_device = -1;  // a mount of the host's verified null device (char 1:3), taken before the pivot
    bool null_device_attached = false;  // it covers a masked file already: further ones get clones of it
    int empty_directory = -1;  // a read-only tmpfs, made for and attached to the first masked directory
    bool directory_is_refused =
        false;             // to root, who may have less right than the user (NFS, ids that are not mapped)
    int ruleset = -1;      // made by MakeRuleset
    bool started = false;  // AwaitStart is past: errors go to standard error as well
    char executable[kMaxPath] = {};      // found by FindExecutable
    char home[kMaxPath] = {};            // "HOME=..." made by SetHome
    const char** environment = nullptr;  // made by SetHome
    const char** arguments = nullptr;    // made by FindExecutable
};

// Sends a report of something skipped; the step goes on.
void warn(Context& context, const Outcome& outcome);

// Gives the pty master to the parent, over the channel.
void send_terminal(Context& context, int master);

// Gives a mount that is attached nowhere, and waits until the parent has mapped its ids, which only the host's root may do.
Outcome map_ids_by_parent(Context& context, int tree, int id_map);

// Gives the listener of a filter that is in force by now, and waits until the parent has it.
Outcome hand_over_listener(Context& context, int listener, Listener how);

// Each step's doing, in the file that its subject names.
Outcome perform(Context& context, const UnshareNamespaces& step);  // namespaces.cpp
Outcome perform(Context& context, const MakeTimeNamespace& step);
Outcome perform(Context& context, const JoinNamespace& step);
Outcome perform(Context& context, const KeepNetworkNamespace& step);
Outcome perform(Context& context, const BecomeDumpable& step);
Outcome perform(Context& context, const BecomeNamespaceRoot& step);
Outcome perform(Context& context, const BringUpLoopback& step);
Outcome perform(Context& context, const SyncWithParent& step);      // run.cpp
Outcome perform(Context& context, const JoinCgroups& step);         // namespaces.cpp
Outcome perform(Context& context, const SetRootPropagation& step);  // root.cpp
Outcome perform(Context& context, const BindRootfs& step);
Outcome perform(Context& context, const OpenRootfs& step);
Outcome perform(Context& context, const PivotRoot& step);
Outcome perform(Context& context, const MoveRoot& step);
Outcome perform(Context& context, const ChangeRoot& step);
Outcome perform(Context& context, const RemountRoot& step);
Outcome perform(Context& context, const AttachTree& step);  // mounts.cpp
Outcome perform(Context& context, const MountFilesystem& step);
Outcome perform(Context& context, const BindHostPath& step);
Outcome perform(Context& context, const RemountTarget& step);
Outcome perform(Context& context, const Unmount& step);
Outcome perform(Context& context, const BindSlice& step);
Outcome perform(Context& context, const KeepTree& step);
Outcome perform(Context& context, const PinPath& step);  // masks.cpp
Outcome perform(Context& context, const MaskPath& step);
Outcome perform(Context& context, const ReadOnlyPath& step);
Outcome perform(Context& context, const MakeDevice& step);  // devices.cpp
Outcome perform(Context& context, const BindDevice& step);
Outcome perform(Context& context, const BindNodes& step);
Outcome perform(Context& context, const MakeSymlink& step);
Outcome perform(Context& context, const PrepareDev& step);
Outcome perform(Context& context, const RunHooks& step);      // hooks.cpp
Outcome perform(Context& context, const OpenTerminal& step);  // terminal.cpp
Outcome perform(Context& context, const OwnStdio& step);
Outcome perform(Context& context, const ReopenNullStreams& step);
Outcome perform(Context& context, const NewSession& step);
Outcome perform(Context& context, const NewKeyring& step);  // credentials.cpp
Outcome perform(Context& context, const SetExecLabel& step);
Outcome perform(Context& context, const SetNoNewPrivs& step);
Outcome perform(Context& context, const LoadSeccomp& step);
Outcome perform(Context& context, const DropBounding& step);
Outcome perform(Context& context, const SetUser& step);
Outcome perform(Context& context, const SetCapabilities& step);
Outcome perform(Context& context, const MakeRuleset& step);  // landlock.cpp
Outcome perform(Context& context, const EnterRuleset& step);
Outcome perform(Context& context, const SetHostname& step);  // attributes.cpp
Outcome perform(Context& context, const SetDomainname& step);
Outcome perform(Context& context, const WriteSysctl& step);
Outcome perform(Context& context, const SetRlimit& step);
Outcome perform(Context& context, const SetCpuAffinity& step);
Outcome perform(Context& context, const SetScheduler& step);
Outcome perform(Context& context, const SetIoPriority& step);
Outcome perform(Context& context, const SetPersonality& step);
Outcome perform(Context& context, const SetMemoryPolicy& step);
Outcome perform(Context& context, const CloseDescriptors& step);  // execute.cpp
Outcome perform(Context& context, const ChangeDirectory& step);
Outcome perform(Context& context, const SetHome& step);
Outcome perform(Context& context, const FindExecutable& step);
Outcome perform(Context& context, const AwaitStart& step);  // run.cpp
Outcome perform(Context& context, const Execute& step);     // execute.cpp

}  // namespace rung::child

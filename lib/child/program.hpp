// Program: the steps that run between clone and exec, as a plain value that plan::lower writes and the child only reads.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <linux/filter.h>

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "child/process_steps.hpp"
#include "child/setup_steps.hpp"

namespace rung::child {

using Step =
    std::variant<UnshareNamespaces, MakeTimeNamespace, JoinNamespace, KeepNetworkNamespace, BecomeDumpable,
                 BecomeNamespaceRoot, BringUpLoopback, SyncWithParent, JoinCgroups, SetRootPropagation,
                 BindRootfs, OpenRootfs, AttachTree, MountFilesystem, BindHostPath, RemountTarget, Unmount,
                 BindSlice, KeepTree, MakeDevice, BindDevice, BindNodes, MakeSymlink, PrepareDev,
                 ReopenNullStreams, RunHooks, PivotRoot, MoveRoot, ChangeRoot, RemountRoot, OpenTerminal,
                 OwnStdio, NewSession, NewKeyring, SetHostname, SetDomainname, WriteSysctl, PinPath, MaskPath,
                 ReadOnlyPath, SetRlimit, SetCpuAffinity, SetScheduler, SetIoPriority, SetPersonality,
                 SetMemoryPolicy, SetExecLabel, SetNoNewPrivs, LoadSeccomp, CloseDescriptors, DropBounding,
                 SetUser, SetCapabilities, ChangeDirectory, SetHome, MakeRuleset, EnterRuleset,
                 FindExecutable, AwaitStart, Execute>;

struct Filter {
    std::vector<sock_filter> instructions = {};
    unsigned int flags = 0;  // SECCOMP_FILTER_FLAG_*, seccomp(2)
};

struct Program {
    std::vector<Step> steps = {};
    std::vector<Filter> filters = {};  // filled by the parent after lowering: compiling is not pure
    std::vector<std::string> args = {};
    std::vector<std::string> env = {};  // duplicates already resolved: the last one won, listed once
    std::string hook_state_before_pid =
        {};  // the OCI state JSON for RunHooks, cut where the pid goes; status is
    std::string hook_state_after_pid = {};  // written as the placeholder "@status@"
    // Whose error stream is the caller's says itself that it cannot be executed, in one line and no second one (runc#4171).
    bool explains_failed_exec = false;
};

}  // namespace rung::child

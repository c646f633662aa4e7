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

#include "config/spec.hpp"

namespace rung::child {

// An index into the descriptors that the parent opened before the clone (plan::HostSteps says which is which).
using Slot = int;

// A target is a container path. It is resolved once inside the rootfs with openat2(RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS) and
// created when missing: parents 0755, then a directory for a directory and a file for anything else, by the source's type.

struct UnshareNamespaces {
    int flags = 0;
};  // CLONE_NEW*; unshare(2)
struct JoinNamespace {
    Slot slot = 0;
    int flag = 0;
};  // setns(2)
struct KeepNetworkNamespace {
    Slot kept = 0;
};                              // remember the present network namespace in slot `kept`
struct BecomeNamespaceRoot {};  // setgroups/setresgid/setresuid(0) after a user namespace was entered
struct BringUpLoopback {};
// Tells the parent that everything before this is done, then blocks until the parent answers. The answer to
// `joined_namespaces` carries the cgroup join files, which JoinCgroups writes.
enum class SyncPoint { joined_namespaces, before_pivot };
struct SyncWithParent {
    SyncPoint point = SyncPoint::joined_namespaces;
};
struct JoinCgroups {};  // writes "0" to each descriptor that came with the answer

struct SetRootPropagation {
    unsigned long flags = 0;
};  // mount(2) on "/": MS_SLAVE | MS_REC ...
struct BindRootfs {
    std::string path = {};
    bool recursive = true;
};  // parent mount private, bind on itself; becomes the root of all targets
struct OpenRootfs {
    std::string path = {};
};  // without a mount namespace: only the root of all targets
// move_mount(2) of a tree that the parent opened, or that was kept. `mount` as in KeepTree.
struct AttachTree {
    Slot tree = 0;
    std::string target = {};
    std::string mount = {};
};
struct MountFilesystem {
    std::string type = {};
    std::string source = {};
    std::string target = {};
    std::vector<std::pair<std::string, std::string>> options = {};  // fsconfig(2); an empty value is a flag
    uint64_t attributes = 0;                                        // MOUNT_ATTR_*
    std::vector<unsigned long> propagation = {};
    bool copy_up = false;                  // fill from what the target held
    bool inherit_mode = false;             // tmpfs without mode=: take the target directory's
    bool must_be_plain_directory = false;  // proc, sysfs: refuse a target reached through a symlink
};
// A bind, made by the child itself, of a path of the host as it is seen before the pivot (cgroup directories, /sys).
struct BindHostPath {
    std::string source = {};
    std::string target = {};
    bool recursive = false;
    uint64_t attributes = 0;
};
struct RemountTarget {
    std::string target = {};
    uint64_t set = 0;
    uint64_t clear = 0;
    bool recursive = false;
    std::vector<unsigned long> propagation = {};
};  // mount_setattr(2) on a mount already there
// The rootfs subtree `path`, bound onto itself so that it can have attributes of its own.
struct BindSlice {
    std::string path = {};
    uint64_t set = 0;
    uint64_t clear = 0;
};
// A recursive clone of what is mounted at `path`, kept unattached in slot `kept` with attributes of its own: AttachTree puts it back after
// the mount around it became read-only. Below `mount` no symlink is followed: whoever may write to that mount could have made it.
struct KeepTree {
    Slot kept = 0;
    std::string path = {};
    uint64_t set = 0;
    std::string mount = {};
};

struct MakeDevice {
    config::Device device = {};
};  // mknodat at the directory's descriptor
struct BindDevice {
    std::string path = {};
};  // the host's node of the same path, where mknod is not permitted
struct MakeSymlink {
    std::string content = {};
    std::string path = {};
};
struct PrepareDev {
    bool ptmx = true;
};  // verify that /dev is a real directory of the rootfs; /dev/fd, std*, ptmx links
struct RunHooks {
    std::string kind = {};
    std::vector<config::Hook> hooks = {};
    std::string status = {};
};  // "createContainer", "startContainer"
struct PivotRoot {};
struct MoveRoot {};    // --no-pivot: MS_MOVE and chroot
struct ChangeRoot {};  // no mount namespace: chroot
struct RemountRoot {
    bool read_only = false;
    std::vector<unsigned long> propagation = {};
    uint64_t set = 0;
};

struct OpenTerminal {
    config::ConsoleSize size = {};
    uint32_t uid = 0;
    bool mount_console = true;
};  // master goes to the console socket
struct OwnStdio {
    uint32_t uid = 0;
    uint32_t gid = 0;
};                     // fchown 0-2, never a /dev/null (cases B1, B2)
struct NewSession {};  // setsid(2)
struct NewKeyring {
    std::string name = {};
};  // keyctl_join_session_keyring(3)
struct SetHostname {
    std::string name = {};
};
struct SetDomainname {
    std::string name = {};
};
struct WriteSysctl {
    std::string key = {};
    std::string value = {};
};  // key as a path: "net/ipv4/ip_forward"; private procfs
struct MaskPath {
    std::string path = {};
};
struct ReadOnlyPath {
    std::string path = {};
};

struct SetRlimit {
    config::Rlimit limit = {};
};
struct SetScheduler {
    config::Scheduler scheduler = {};
};
struct SetIoPriority {
    config::IoPriority priority = {};
};
struct SetPersonality {
    unsigned long persona = 0;
};
// What a security module does at the next execve: /proc/thread-self/attr/FILE, or `otherwise` on a kernel without that file.
struct SetExecLabel {
    std::string file = {};
    std::string otherwise = {};
    std::string value = {};
};
struct SetNoNewPrivs {};
struct LoadSeccomp {
    Slot filter = 0;
};  // index into Program::filters
struct CloseDescriptors {
    int preserved = 0;
};  // keep 0-2, 3..3+n, and rung's own until exec
struct DropBounding {
    uint64_t keep = 0;
};
struct SetUser {
    config::User user = {};
    bool setgroups = true;
};  // PR_SET_KEEPCAPS around it; umask too
struct SetCapabilities {
    config::Capabilities sets = {};
};
struct ChangeDirectory {
    std::string path = {};
    bool create = false;
};                         // getcwd(3) must be absolute afterwards (CVE-2024-21626)
struct SetHome {};         // HOME from the container's /etc/passwd when env has none
struct FindExecutable {};  // args[0] through PATH, as Go's exec.LookPath
struct AwaitStart {};      // blocks on the start descriptor (Program::start)
struct Execute {};         // execve(2); the last step

using Step =
    std::variant<UnshareNamespaces, JoinNamespace, KeepNetworkNamespace, BecomeNamespaceRoot, BringUpLoopback,
                 SyncWithParent, JoinCgroups, SetRootPropagation, BindRootfs, OpenRootfs, AttachTree,
                 MountFilesystem, BindHostPath, RemountTarget, BindSlice, KeepTree, MakeDevice, BindDevice,
                 MakeSymlink, PrepareDev, RunHooks, PivotRoot, MoveRoot, ChangeRoot, RemountRoot,
                 OpenTerminal, OwnStdio, NewSession, NewKeyring, SetHostname, SetDomainname, WriteSysctl,
                 MaskPath, ReadOnlyPath, SetRlimit, SetScheduler, SetIoPriority, SetPersonality, SetExecLabel,
                 SetNoNewPrivs, LoadSeccomp, CloseDescriptors, DropBounding, SetUser, SetCapabilities,
                 ChangeDirectory, SetHome, FindExecutable, AwaitStart, Execute>;

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
};

}  // namespace rung::child

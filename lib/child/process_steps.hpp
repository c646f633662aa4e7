// The steps that make a process of the container what it is to be, up to execve.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "child/setup_steps.hpp"
#include "config/spec.hpp"

namespace rung::child {

struct OpenTerminal {
    config::ConsoleSize size = {};
    uint32_t uid = 0;
    bool mount_console = true;
};  // master goes to the console socket
struct OwnStdio {
    uint32_t uid = 0;
    uint32_t gid = 0;
};                     // fchown 0-2, never a /dev/null (moby#6880, runc#3674)
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
// Makes `path`, reached without a symlink, a mount of itself: what is mounted on cannot be renamed, removed or replaced in this namespace.
struct PinPath {
    std::string path = {};
};
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
// The CPUs that the process may run on, sched_setaffinity(2); none named: every CPU that its cgroup allows.
struct SetCpuAffinity {
    std::vector<uint64_t> cpus = {};
};
struct SetMemoryPolicy {
    config::MemoryPolicy policy = {};
};  // set_mempolicy(2)
// How the parent gets the listener of a filter: as a number to fetch it by (pidfd_getfd(2)), which a filter cannot get in the way of; or,
// where the parent lacks CAP_SYS_PTRACE for that, in a message.
enum class Listener { none, by_number, by_message };
struct LoadSeccomp {
    Slot filter = 0;  // index into Program::filters
    Listener listener = Listener::none;
};
struct CloseDescriptors {
    int preserved = 0;
};  // keep 0-2, 3..3+n, and rung's own until exec
struct DropBounding {
    uint64_t keep = 0;
};
struct SetUser {
    config::User user = {};
    bool setgroups = true;
    bool groups_may_be_denied = false;  // by a user namespace that was joined; a warning, as runc run by root
};                                      // PR_SET_KEEPCAPS around it; umask too
struct SetCapabilities {
    config::Capabilities sets = {};
};
enum class Attempt { only, first, second };
struct ChangeDirectory {
    std::string path = {};
    bool create = false;
    Attempt attempt = Attempt::only;  // first: EACCES leaves it to the second, which is made only then
};                                    // getcwd(3) must be absolute afterwards (CVE-2024-21626)
struct SetHome {};                    // HOME from the container's /etc/passwd when env has none

// Landlock, landlock(7). The rules are written while the process may still open every granted path, and enforced once it may not.
struct FileRule {
    std::string path = {};
    uint64_t access = 0;  // kernel::landlock::k*; what has no meaning for a file is left out for one
    std::string field =
        {};  // of the grant, which then has to be there; empty: what does not exist needs no rule
    bool operator==(const FileRule&) const = default;
};
struct MakeRuleset {
    uint64_t handled = 0;  // what is denied where no rule allows it
    uint64_t scoped = 0;   // kernel::landlock::kScope*: what ends at the border of this process's descendants
    std::vector<FileRule> rules = {};
};
struct EnterRuleset {};

// args[0] through PATH, as Go's exec.LookPath. It has to be one of `tools` or lie beneath one, unless there are none at all.
struct FindExecutable {
    std::vector<std::string> tools = {};
    std::string refusal = {};  // the reason code when it is not
};
struct AwaitStart {};  // blocks on the start descriptor (Program::start)
struct Execute {};     // execve(2); the last step

}  // namespace rung::child

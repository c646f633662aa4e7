// Cgroup: one container's control groups, v1 (one directory per hierarchy) and v2 (one directory) behind one
// value.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/fd.hpp"
#include "base/result.hpp"
#include "config/resources.hpp"
#include "kernel/host_facts.hpp"

namespace rung::cgroup {

enum class Manager { cgroupfs, systemd, disabled };  // disabled: processes stay where the caller is

struct Directory {
    std::vector<std::string> controllers = {};  // {"cpu", "cpuacct"}; v2: empty
    std::string path = {};                      // absolute, on the host
    std::string mount_point = {};
    bool operator==(const Directory&) const = default;
};

// Whose systemd: the machine's, or the user's own one.
enum class UnitOwner { system, user };
// The scope that holds the container when systemd makes the cgroup.
struct Unit {
    std::string name = {};   // "rung-ID.scope"
    std::string slice = {};  // "system.slice"
    UnitOwner owner = UnitOwner::system;
    std::string program = {};  // the path of rung-systemd, which talks to systemd
    bool operator==(const Unit&) const = default;
};

// A plain value: it is written to state.json and read back. No directories = the container has no cgroup.
struct Cgroup {
    Manager manager = Manager::cgroupfs;
    kernel::CgroupLayout layout = kernel::CgroupLayout::none;
    std::vector<Directory> v1 = {};
    std::string unified = {};  // v2: the cgroup; hybrid: its directory on the cgroup2 mount, or empty
    std::string unified_mount_point = {};
    std::optional<Unit> unit = {};  // Manager::systemd only
    bool operator==(const Cgroup&) const = default;

    bool is_none() const { return v1.empty() && unified.empty(); }
    // The directory holding `controller` ("memory"); for v2 the one directory; empty when there is none.
    std::string directory_of(const std::string& controller) const;
};

// Pure. `cgroups_path` as config.json has it: absolute = below the mount point, relative or empty (then `id`)
// = on v1 below the caller's own cgroup, on v2 beside it, as runc. ".." cannot leave the mount.
Cgroup locate(const kernel::CgroupFacts& host, const std::string& cgroups_path, const std::string& id);

// The same where systemd makes the cgroup; cgroup/unit.hpp has the pure part. `own_program` is rung's path, beside which
// or in ../libexec/rung its helper is.
struct UnitRequest {
    std::string cgroups_path = {};  // "slice:prefix:name"
    std::string id = {};
    std::string own_program = {};
};
Result<Cgroup> locate_on_systemd(const kernel::CgroupFacts& host, const UnitRequest& request);

// Without what this user may not make (EACCES, EPERM, EROFS). On v2 that is an error when limits are asked for,
// on v1 the limit's own. `is_asked_for`: config.json names a path, and then the cgroup has to be made.
Result<Cgroup> keep_permitted(Cgroup wanted, bool is_asked_for, const config::Resources& resources);
// Not root, or only root of a user namespace: device rules are then neither permitted nor needed.
bool is_rootless();
// For `exec --cgroup`: the same cgroup with cgroups below it instead, named as [CONTROLLER[,CONTROLLER...]:]PATH. Pure. One path without
// controllers is for all of them, and the only form for v2. "bad sub cgroup path" when it leads out of the cgroup.
Result<Cgroup> sub_cgroup(const Cgroup& cgroup, const std::vector<std::string>& paths);

// Pure: the directories that the caller itself is in, as this host's mounts show them.
Cgroup callers_own(const kernel::CgroupFacts& host);

// A file and what goes into it.
struct Spelling {
    std::string file = {};  // "memory.limit_in_bytes"
    std::string value = {};
    bool operator==(const Spelling&) const = default;
};
struct Write {
    std::string controller = {};  // whose directory on v1; v2 has one directory, so it only words errors
    Spelling spelling = {};
    std::string field = {};  // "memory.limit", below linux.resources
    std::optional<Spelling> otherwise =
        {};  // where the first file does not exist (bfq and iocost name their weights apart)
    bool may_be_absent = false;  // a host without the file already does what is asked
    bool operator==(const Write&) const = default;
};
// The limits as file writes, in the order a new cgroup accepts them: pure, and the place where v1 becomes v2
// (cpu.shares -> cpu.weight, memory+swap -> memory.swap.max ...). An error names the field whose controller
// this host lacks.
Result<std::vector<Write>> plan_writes(const Cgroup& cgroup, const config::Resources& resources);

// That the cgroup does not exist, or stands empty, and is no hierarchy's root. To be asked before the
// container's state names it: what the state names, `delete --force` kills.
Status check_unused(const Cgroup& cgroup);

// Makes the directories (0755) and, on v2, enables the controllers down to it. A cgroup that already holds
// processes or is frozen is an error (runc#3132). Undoes itself on failure.
Status create(const Cgroup& cgroup);
// systemd's way to make the cgroup: a scope around a process that exists. `annotations` may set some of its properties.
Status start_unit(const Cgroup& cgroup, pid_t pid, const config::Resources& resources,
                  const std::map<std::string, std::string>& annotations);
Status check_unit_annotations(const std::map<std::string, std::string>& annotations);
// cgroup v2: `owner` may divide the cgroup further, as cgroups(7) has it under "Cgroup delegation".
Status give_to(const Cgroup& cgroup, uint32_t owner);
// For a new cgroup: limits, and the device rules, which deny all but the usual nodes when there are none.
Status apply(const Cgroup& cgroup, const config::Resources& resources);
// For a cgroup in use: only the limits that are named, never the device rules (runc#2994). A failure changes nothing.
Status update(const Cgroup& cgroup, const config::Resources& resources);
// The quota and period of now; nothing where there is no cpu controller.
config::CpuResources read_cpu_share(const Cgroup& cgroup);

// For the child to write "0" to (`tasks` of every v1 hierarchy). v2 and the hybrid's cgroup2 directory are
// entered with CLONE_INTO_CGROUP.
Result<std::vector<Fd>> open_join_files(const Cgroup& cgroup);
Result<Fd> open_unified(const Cgroup& cgroup);  // O_PATH directory for clone3; an empty Fd when there is none
// The one below it that `member` is in. A cgroup2 directory that passes controllers on takes no process (EBUSY),
// so where init has moved itself further down `exec` has to follow.
Result<Fd> open_unified_of(const Cgroup& cgroup, pid_t member);

// For a process that exists, in every hierarchy.
Status move_into(const Cgroup& cgroup, pid_t pid);
// For a process that could not be cloned into its cgroup: by somebody else's hand, systemd's, or not at all. Where the cgroup
// takes none, to the one below it that `member`, unless 0, is in.
Status bring_in(const Cgroup& cgroup, pid_t pid, pid_t member);

Result<std::vector<pid_t>> processes(const Cgroup& cgroup);  // of the whole subtree, sorted
Status kill_all(const Cgroup& cgroup);  // SIGKILL until the subtree is empty; thaws; no fixed sleeps
Status signal_all(const Cgroup& cgroup, int signal);  // also to what is forked meanwhile
Status remove(
    const Cgroup& cgroup);  // the subtree, deepest first; kills what is left; what is gone already is fine
Status freeze(const Cgroup& cgroup);  // returns when the state is reached; undone when it cannot be
Status thaw(const Cgroup& cgroup);
Result<bool> is_frozen(const Cgroup& cgroup);
// Moves a member that somebody put into another v1 freezer back to this cgroup's, which thaws it if that one was frozen.
Status take_back_from_other_freezer(const Cgroup& cgroup, pid_t pid);

}  // namespace rung::cgroup

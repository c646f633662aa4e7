// lower: a SandboxPlan becomes the parent's host steps and the child's program. Pure.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "cgroup/cgroup.hpp"
#include "child/program.hpp"
#include "kernel/host_facts.hpp"
#include "plan/sandbox_plan.hpp"

namespace rung::plan {

// The ids that an id-mapped mount shows: of a user namespace by path, or of one made for these mappings (mount_setattr(2)).
struct IdMap {
    std::string path = {};
    std::vector<config::IdMapping> uids = {};
    std::vector<config::IdMapping> gids = {};
    bool recursive = false;
    bool operator==(const IdMap&) const = default;
};

// A mount tree that the parent clones, gives its attributes, and only then hands over: it is never visible without them.
struct OpenTree {
    child::Slot slot = 0;
    std::string source = {};  // absolute host path
    std::string target = {};  // for the error text
    bool recursive = false;
    bool nofollow = false;        // of a source that is a symlink
    uint64_t set = 0, clear = 0;  // the top mount
    bool is_locked = false;       // for a user namespace, in which what the host has set cannot be taken back
    uint64_t recursive_set = 0, recursive_clear = 0;  // AT_RECURSIVE
    std::vector<unsigned long> propagation = {};      // in order; MS_REC means AT_RECURSIVE
    std::optional<IdMap> id_map = {};
    bool operator==(const OpenTree&) const = default;
};

struct OpenNamespace {
    child::Slot slot = 0;
    std::string path = {};
    config::NamespaceType type = config::NamespaceType::network;
    bool operator==(const OpenNamespace&) const = default;
};

// Who gets the listener of config.json's filter (runtime-spec config-linux.md, "The Container Process State").
struct SeccompAgent {
    std::string path = {};
    std::string metadata = {};
    bool required = false;  // a rule waits for its answers
    bool operator==(const SeccompAgent&) const = default;
};

// An unprivileged parent may itself write one line that maps its own id; newuidmap(1) and newgidmap(1) write what /etc/subuid and
// /etc/subgid give it beyond that.
enum class MapWriter { parent, tool };

struct Lowered {
    std::vector<OpenTree> trees = {};
    std::vector<OpenNamespace> namespaces = {};
    std::vector<IdMap> id_maps = {};  // of mounts that the child makes and only the parent may map
    // Device nodes that the parent makes on a file system of its own, for BindNodes; ids are the host's.
    std::vector<config::Device> nodes = {};
    child::Slot nodes_slot = 0;
    int slot_count = 0;
    uint64_t clone_flags = 0;     // CLONE_NEW* for clone3 in the parent
    bool mounts_on_host = false;  // no mount namespace, yet mounts: on a bind of the rootfs onto itself
    // setns(2) in the parent, before the clone: its children land there.
    std::optional<child::Slot> join_pid = {};
    // Namespaces that have to be joined before the others are made (a user namespace by path; any other by path when the user namespace is
    // new; the mounts and the pid namespace that `exec` enters): these steps run first, then a second clone with `second_clone_flags`
    // (CLONE_PARENT is added). It makes what the maps are for.
    std::optional<child::Program> first = {};
    uint64_t second_clone_flags = 0;
    child::Program program = {};
    bool maps_users = false;        // the parent writes uid_map and gid_map before it answers the first sync
    bool denies_setgroups = false;  // and "deny" to setgroups before gid_map: user_namespaces(7)
    MapWriter uid_map_writer = MapWriter::parent;
    MapWriter gid_map_writer = MapWriter::parent;
    // A new time namespace: the parent unshares it and writes this to /proc/self/timens_offsets, so that its next child is born inside.
    std::optional<std::string> time_offsets = {};
    // The user that may manage what is below the container's cgroup: delegation, cgroups(7).
    std::optional<uint32_t> cgroup_owner = {};
    std::optional<int> oom_score_adj = {};  // inherited from the parent, which has it meanwhile
    // What each entry of program.filters is compiled from: "config" or a profile name.
    std::vector<std::string> seccomp_sources = {};
    SeccompAgent seccomp_agent = {};
    // Set by the parent when the process is ready: inside a user namespace nobody has the right to raise a limit.
    std::vector<config::Rlimit> rlimits = {};
};

struct LowerOptions {
    std::string bundle = {};  // absolute; relative bind sources start here
    std::string rootfs = {};  // absolute
    std::string id = {};
    bool no_pivot = false;
    bool new_keyring = true;
    int preserve_fds = 0;
};

Result<Lowered> lower(const SandboxPlan& plan, const cgroup::Cgroup& cgroup, const kernel::HostFacts& host,
                      const LowerOptions& options);

// One more process in a running container. Every slot is a pidfd of its init; `namespaces` are the CLONE_NEW* flags by which it differs from
// the caller.
struct ExecOptions {
    std::string id = {};
    int namespaces = 0;
    std::string rootfs = {};  // absolute; where a container without a mount namespace changes its root to
    bool new_keyring = true;
    int preserve_fds = 0;
};
Result<Lowered> lower_exec(const SandboxPlan& plan, const config::Process& process,
                           const kernel::HostFacts& host, const ExecOptions& options);

// The mounts of `plan` come into a running container, or leave it. The first slot is a pidfd of its init; the program ends with AwaitStart.
enum class MountChange { add, remove };
struct MountChangeOptions {
    MountChange change = MountChange::add;
    int namespaces = 0;       // as in ExecOptions
    std::string bundle = {};  // as in LowerOptions
    std::string rootfs = {};
};
Result<Lowered> lower_mount_change(const SandboxPlan& plan, const kernel::HostFacts& host,
                                   const MountChangeOptions& options);

}  // namespace rung::plan

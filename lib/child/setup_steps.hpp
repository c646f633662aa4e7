// The steps that give a process its namespaces, its root and what is in it.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/mount.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "child/mount_steps.hpp"
#include "config/spec.hpp"

namespace rung::child {

struct UnshareNamespaces {
    int flags = 0;
};  // CLONE_NEW*; unshare(2)
// For the processes that this one makes; offsets can be written only before the first of them: time_namespaces(7).
struct MakeTimeNamespace {
    std::string offsets = {};
};
struct JoinNamespace {
    Slot slot = 0;
    int flag = 0;
};  // setns(2)
struct KeepNetworkNamespace {
    Slot kept = 0;
};  // remember the present network namespace in slot `kept`
// Lets an unprivileged parent write our id maps: /proc/PID of a process that is not dumpable belongs to the host's root.
// BecomeNamespaceRoot ends it.
struct BecomeDumpable {};
// setresgid/setresuid after a user namespace was entered, to its root, or where that is not mapped to another id in it. The groups of an
// unprivileged caller stay until SetUser: they may be what lets it read a mount's source.
struct BecomeNamespaceRoot {
    uint32_t uid = 0;
    uint32_t gid = 0;
    bool keep_groups = false;
};
struct BringUpLoopback {};
// Tells the parent that everything before this is done, then blocks until the parent answers. The answer to
// `joined_namespaces` carries the cgroup join files, which JoinCgroups writes. At `made_networks` the parent moves devices in.
enum class SyncPoint { joined_namespaces, made_networks, before_pivot };
struct SyncWithParent {
    SyncPoint point = SyncPoint::joined_namespaces;
};
struct JoinCgroups {};  // writes "0" to each descriptor that came with the answer

struct MakeDevice {
    config::Device device = {};
};  // mknodat at the directory's descriptor
struct BindDevice {
    std::string path = {};
};  // the host's node of the same path, where mknod is not permitted
// Nodes that the parent made, named "0", "1" ... in the order of `paths`, on the unattached mount in slot `nodes`.
struct BindNodes {
    Slot nodes = 0;
    std::vector<std::string> paths = {};
};
struct MakeSymlink {
    std::string content = {};
    std::string path = {};
    bool must_be_it = false;  // anything else of that name is an error, and does not stay
};
struct PrepareDev {
    bool ptmx = true;
};  // verify that /dev is a real directory of the rootfs; /dev/fd, std*, ptmx links
// Standard streams that are the host's null device become the container's own: a descriptor of the host's leads to its node, and CRIU saves
// nothing that no mount of the container leads to. As runc.
struct ReopenNullStreams {};
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

}  // namespace rung::child

// HostFacts: what this host can do, read once by probe(), then passed around as a value.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace rung::kernel {

// One cgroup v1 hierarchy, or the cgroup2 mount.
struct CgroupMount {
    std::vector<std::string> controllers = {};  // v1: {"cpu", "cpuacct"} or {"name=systemd"}; v2: empty
    std::string mount_point = {};               // "/sys/fs/cgroup/cpu,cpuacct"
    std::string root = {};                      // what of the hierarchy is mounted there, "/" as a rule
    std::string own_path = {};                  // this process's cgroup, from /proc/self/cgroup
    bool operator==(const CgroupMount&) const = default;
};

enum class CgroupLayout {
    none,
    v1,
    v2
};  // v1 includes hybrid: limits are v1, `unified` may be there beside it

struct CgroupFacts {
    CgroupLayout layout = CgroupLayout::none;
    std::vector<CgroupMount> hierarchies = {};  // v1 only, in mount order
    std::vector<CgroupMount> unified = {};      // zero or one cgroup2 mount
    bool operator==(const CgroupFacts&) const = default;
};

struct HostFacts {
    CgroupFacts cgroup = {};
    uint32_t effective_uid = 0;
    uint32_t effective_gid = 0;
    bool in_user_namespace = false;
    uint64_t effective_capabilities = 0;
    bool may_clone_mounts =
        false;  // open_tree(2) with OPEN_TREE_CLONE: CAP_SYS_ADMIN over the owner of this mount namespace
    int last_capability = 0;    // /proc/sys/kernel/cap_last_cap
    int landlock_abi = 0;       // 0 = absent
    bool memfd_noexec = false;  // sysctl vm.memfd_noexec exists (Linux 6.3)
    bool apparmor = false;
    bool selinux = false;
    bool seccomp = false;
    std::string resctrl = {};  // where resctrl is mounted; empty = nowhere
    bool operator==(const HostFacts&) const = default;
};

}  // namespace rung::kernel

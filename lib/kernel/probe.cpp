// Reading HostFacts: two tables of /proc and a few system calls, about 0.1 ms.
// SPDX-License-Identifier: Apache-2.0
#include "kernel/probe.hpp"

#include <fcntl.h>
#include <linux/capability.h>
#include <linux/landlock.h>
#include <linux/magic.h>
#include <linux/seccomp.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <cstdlib>

#include "kernel/files.hpp"
#include "kernel/syscalls.hpp"

namespace rung::kernel {

namespace {

// PROC_USER_INIT_INO of linux/proc_ns.h. The layout of uid_map proves nothing: an identity map can be made.
constexpr ino_t kInitialUserNamespace = 4026531837;

uint64_t effective_capabilities() {
    __user_cap_header_struct header{.version = _LINUX_CAPABILITY_VERSION_3, .pid = 0};
    __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3] = {};
    if (capget(header, data) < 0) return 0;
    return uint64_t{data[1].effective} << 32 | data[0].effective;
}

int landlock_abi() {
    const int version =
        checked(::syscall(SYS_landlock_create_ruleset, nullptr, 0, LANDLOCK_CREATE_RULESET_VERSION));
    return version > 0 ? version : 0;
}

// A process that is root in its user namespace may still be in a mount namespace of another one.
bool may_clone_mounts() {
    constexpr int kCapSysAdmin = 21;
    if ((effective_capabilities() >> kCapSysAdmin & 1) == 0) return false;
    if (!in_user_namespace()) return true;
    const Fd tree{open_tree(AT_FDCWD, "/", OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC)};
    return static_cast<bool>(tree);
}

bool has_seccomp_filters() {
    const uint32_t action = SECCOMP_RET_ERRNO;
    return seccomp(SECCOMP_GET_ACTION_AVAIL, 0, &action) == 0;
}

// The mount point is the fifth word of a line of mountinfo, the type the first after " - " (proc(5)).
std::string mount_point_of(const std::string& mountinfo, const std::string& type) {
    const size_t found = mountinfo.find(" - " + type + " ");
    if (found == std::string::npos) return {};
    size_t start = mountinfo.rfind('\n', found) + 1;  // 0 on the first line
    for (int word = 0; word < 4; ++word)
        start = mountinfo.find(' ', start) + 1;
    return mountinfo.substr(start, mountinfo.find(' ', start) - start);
}

bool says_yes(const std::string& path) {
    const Result<std::string> text = read_file(path);
    return text && text->starts_with('Y');
}

bool is_cgroup_file_system(const CgroupMount& mount) {
    struct statfs facts = {};
    if (::statfs(mount.mount_point.c_str(), &facts) != 0) return false;
    return facts.f_type == CGROUP_SUPER_MAGIC || facts.f_type == CGROUP2_SUPER_MAGIC;
}

// mountinfo also lists what a later mount covers: what is seen there is then no cgroup.
CgroupFacts without_covered(CgroupFacts facts) {
    std::erase_if(facts.hierarchies, [](const CgroupMount& mount) { return !is_cgroup_file_system(mount); });
    std::erase_if(facts.unified, [](const CgroupMount& mount) { return !is_cgroup_file_system(mount); });
    if (!facts.hierarchies.empty()) return facts;
    facts.layout = facts.unified.empty() ? CgroupLayout::none : CgroupLayout::v2;
    return facts;
}

}  // namespace

bool in_user_namespace() {
    struct stat facts = {};
    return ::stat("/proc/self/ns/user", &facts) == 0 && facts.st_ino != kInitialUserNamespace;
}

Result<HostFacts> probe() {
    const std::string mountinfo = TRY(read_file("/proc/self/mountinfo"));
    const std::string self_cgroup = TRY(read_file("/proc/self/cgroup"));
    const std::string last_capability = TRY(read_file("/proc/sys/kernel/cap_last_cap"));
    return HostFacts{.cgroup = without_covered(parse_cgroup_facts(mountinfo, self_cgroup)),
                     .effective_uid = ::geteuid(),
                     .effective_gid = ::getegid(),
                     .in_user_namespace = in_user_namespace(),
                     .effective_capabilities = effective_capabilities(),
                     .may_clone_mounts = may_clone_mounts(),
                     .last_capability = std::atoi(last_capability.c_str()),
                     .landlock_abi = landlock_abi(),
                     .memfd_noexec = exists("/proc/sys/vm/memfd_noexec"),
                     .apparmor = says_yes("/sys/module/apparmor/parameters/enabled"),
                     .selinux = exists("/sys/fs/selinux/enforce"),
                     .seccomp = has_seccomp_filters(),
                     .resctrl = mount_point_of(mountinfo, "resctrl")};
}

}  // namespace rung::kernel

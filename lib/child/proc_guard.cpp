// The few exceptions to a procfs that nothing covers.
// SPDX-License-Identifier: Apache-2.0
#include "child/proc_guard.hpp"

#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/vfs.h>

#include <cerrno>

#include "base/fd.hpp"
#include "child/targets.hpp"

namespace rung::child {
namespace {

constexpr ino_t kProcfsRoot = 1;
// runc allows /proc/net/dev too, a file whose directory entry does not last long enough to be looked at twice.
constexpr const char* kNumbers[] = {"/proc/cpuinfo",
                                    "/proc/diskstats",
                                    "/proc/meminfo",
                                    "/proc/stat",
                                    "/proc/swaps",
                                    "/proc/uptime",
                                    "/proc/loadavg",
                                    "/proc/slabinfo",
                                    "/proc/sys/kernel/ns_last_pid",
                                    "/proc/sys/crypto/fips_enabled"};

bool is_in_procfs(int descriptor) {
    struct statfs status {};
    return fstatfs(descriptor, &status) == 0 && status.f_type == PROC_SUPER_MAGIC;
}

}  // namespace

int guard_proc(const Context& context, int tree, int target) {
    if (!is_in_procfs(target)) return 0;
    struct stat wanted {};
    if (fstat(target, &wanted) < 0) return -errno;
    struct stat covering {};
    if (wanted.st_ino == kProcfsRoot && tree >= 0 && is_in_procfs(tree) && fstat(tree, &covering) == 0 &&
        covering.st_ino == kProcfsRoot)
        return 0;
    for (const char* path : kNumbers) {
        const Fd allowed{resolve(context, path)};
        struct stat status {};
        if (allowed && fstat(allowed.get(), &status) == 0 && status.st_dev == wanted.st_dev &&
            status.st_ino == wanted.st_ino)
            return 0;
    }
    return -EPERM;
}

}  // namespace rung::child

// Mounting a procfs that no path leads to.
// SPDX-License-Identifier: Apache-2.0
#include "child/procfs.hpp"

#include <unistd.h>

#include "kernel/syscalls.hpp"

namespace rung::child {

int private_procfs(Context& context) {
    if (context.procfs >= 0) return context.procfs;
    const int filesystem = kernel::fsopen("proc", FSOPEN_CLOEXEC);
    if (filesystem < 0) return filesystem;
    int result = kernel::fsconfig(filesystem, FSCONFIG_CMD_CREATE, nullptr, nullptr, 0);
    if (result >= 0) result = kernel::fsmount(filesystem, FSMOUNT_CLOEXEC, 0);
    (void)close(filesystem);
    if (result >= 0) context.procfs = result;
    return result;
}

}  // namespace rung::child

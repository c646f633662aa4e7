// The kernel's capabilities by number, which is their place in this list. It only ever grows at the end.
// SPDX-License-Identifier: Apache-2.0
#include "config/capability.hpp"

#include <algorithm>
#include <array>

namespace rung::config {
namespace {

constexpr std::array<std::string_view, 41> kNames = {
    "CAP_CHOWN",
    "CAP_DAC_OVERRIDE",
    "CAP_DAC_READ_SEARCH",
    "CAP_FOWNER",
    "CAP_FSETID",
    "CAP_KILL",
    "CAP_SETGID",
    "CAP_SETUID",
    "CAP_SETPCAP",
    "CAP_LINUX_IMMUTABLE",
    "CAP_NET_BIND_SERVICE",
    "CAP_NET_BROADCAST",
    "CAP_NET_ADMIN",
    "CAP_NET_RAW",
    "CAP_IPC_LOCK",
    "CAP_IPC_OWNER",
    "CAP_SYS_MODULE",
    "CAP_SYS_RAWIO",
    "CAP_SYS_CHROOT",
    "CAP_SYS_PTRACE",
    "CAP_SYS_PACCT",
    "CAP_SYS_ADMIN",
    "CAP_SYS_BOOT",
    "CAP_SYS_NICE",
    "CAP_SYS_RESOURCE",
    "CAP_SYS_TIME",
    "CAP_SYS_TTY_CONFIG",
    "CAP_MKNOD",
    "CAP_LEASE",
    "CAP_AUDIT_WRITE",
    "CAP_AUDIT_CONTROL",
    "CAP_SETFCAP",
    "CAP_MAC_OVERRIDE",
    "CAP_MAC_ADMIN",
    "CAP_SYSLOG",
    "CAP_WAKE_ALARM",
    "CAP_BLOCK_SUSPEND",
    "CAP_AUDIT_READ",
    "CAP_PERFMON",
    "CAP_BPF",
    "CAP_CHECKPOINT_RESTORE",
};

}  // namespace

std::optional<int> capability_number(std::string_view name) {
    const auto found = std::find(kNames.begin(), kNames.end(), name);
    if (found == kNames.end()) return {};
    return static_cast<int>(found - kNames.begin());
}

std::string capability_name(int number) {
    if (number < 0 || number > last_capability()) return "CAP_" + std::to_string(number);
    return std::string{kNames[static_cast<size_t>(number)]};
}

std::vector<std::string> capability_names(uint64_t set) {
    std::vector<std::string> names;
    for (int number = 0; number < 64; ++number) {
        if ((set >> number & 1) != 0) names.push_back(capability_name(number));
    }
    return names;
}

int last_capability() {
    return static_cast<int>(kNames.size()) - 1;
}

}  // namespace rung::config

// Seccomp: linux.seccomp of config.json, and the format of the files in seccomp-profiles/.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace rung::config {

enum class SeccompAction { kill_thread, kill_process, trap, error, trace, allow, log, notify };
enum class SeccompOperator { not_equal, less, less_equal, equal, greater_equal, greater, masked_equal };

struct SeccompArg {
    uint32_t index = 0;  // 0 to 5
    uint64_t value = 0;
    uint64_t value_two = 0;  // masked_equal: `value` is the mask, this is what the masked argument equals
    SeccompOperator op = SeccompOperator::equal;
    bool operator==(const SeccompArg&) const = default;
};

struct SeccompRule {
    std::vector<std::string> names = {};
    SeccompAction action = SeccompAction::allow;
    std::optional<uint32_t> errno_ret = {};  // absent = EPERM
    std::vector<SeccompArg> args = {};
    bool operator==(const SeccompRule&) const = default;
};

struct Seccomp {
    SeccompAction default_action = SeccompAction::allow;
    std::optional<uint32_t> default_errno_ret = {};
    std::vector<std::string> architectures = {};  // "SCMP_ARCH_X86_64", as written
    std::vector<std::string> flags = {};          // "SECCOMP_FILTER_FLAG_LOG", as written
    std::string listener_path = {};
    std::string listener_metadata = {};
    std::vector<SeccompRule> rules = {};
    bool refuses_unknown_calls = false;  // of the annotation run.oci.seccomp_fail_unknown_syscall
    bool operator==(const Seccomp&) const = default;
};

// Whether a rule leaves the decision to whoever listens at listener_path.
bool notifies(const Seccomp& seccomp);

}  // namespace rung::config

// The ids of a user namespace: which there are when config.json does not say, and writing them down.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "config/spec.hpp"
#include "kernel/host_facts.hpp"
#include "plan/lower.hpp"

namespace rung::runtime {

// A new user namespace without any mapping gets the caller's ids: all of them for one that may map all, otherwise root as the caller and,
// after it, what /etc/subuid and /etc/subgid give the caller.
Status fill_default_mappings(config::Spec& spec, const kernel::HostFacts& host);

// The user's name as the host's /etc/passwd has it, empty when it has none: no name service is asked.
std::string name_of_user(uint32_t uid);
// The same of the text of passwd(5). Pure.
std::string parse_user_name(std::string_view passwd, uint32_t uid);

// subuid(5): the first range of `user`, by name or by number. Pure.
struct IdRange {
    uint32_t first = 0;
    uint32_t count = 0;
    bool operator==(const IdRange&) const = default;
};
std::optional<IdRange> parse_subordinate_ids(std::string_view text, std::string_view name, uint32_t uid);

// /proc/PID/{setgroups,uid_map,gid_map}.
Status write_id_mappings(pid_t pid, const config::Linux& linux_config, const plan::Lowered& lowered);

}  // namespace rung::runtime

// Process: the process object of config.json, which `exec --process` also takes alone.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace rung::config {

// Five sets of capability numbers (capabilities(7)); bit N is capability N.
struct Capabilities {
    uint64_t bounding = 0;
    uint64_t effective = 0;
    uint64_t permitted = 0;
    uint64_t inheritable = 0;
    uint64_t ambient = 0;
    std::vector<std::string> unknown = {};  // names not known here: warned about and ignored, as runc does
    bool operator==(const Capabilities&) const = default;
};

struct Rlimit {
    int resource = 0;  // RLIMIT_*, getrlimit(2)
    uint64_t soft = 0;
    uint64_t hard = 0;
    bool operator==(const Rlimit&) const = default;
};

struct User {
    uint32_t uid = 0;
    uint32_t gid = 0;
    std::optional<uint32_t> umask = {};
    std::vector<uint32_t> additional_gids = {};
    bool operator==(const User&) const = default;
};

struct ConsoleSize {
    uint16_t height = 0;
    uint16_t width = 0;
    bool operator==(const ConsoleSize&) const = default;
};

struct Scheduler {  // sched_setattr(2)
    uint32_t policy = 0;
    int32_t nice = 0;
    uint32_t priority = 0;
    uint64_t flags = 0;
    uint64_t runtime = 0;
    uint64_t deadline = 0;
    uint64_t period = 0;
    bool operator==(const Scheduler&) const = default;
};

struct IoPriority {  // ioprio_set(2)
    int io_class = 0;
    int priority = 0;
    bool operator==(const IoPriority&) const = default;
};

// Sets of CPUs as masks (id_list.hpp); empty = not given. They are for processes that enter a running container, not for its first one.
struct CpuAffinity {
    std::vector<uint64_t> initial = {};  // of rung, until the process is in the container's cgroup
    std::vector<uint64_t> final = {};    // of the process, from then on
    bool operator==(const CpuAffinity&) const = default;
};

struct Process {
    bool terminal = false;
    std::optional<ConsoleSize> console_size = {};
    User user = {};
    std::vector<std::string> args = {};
    std::vector<std::string> env = {};
    std::string cwd = {};
    std::optional<Capabilities> capabilities = {};  // absent: every set is empty
    std::vector<Rlimit> rlimits = {};
    bool no_new_privileges = false;
    std::string apparmor_profile = {};
    std::string selinux_label = {};
    std::optional<int> oom_score_adj = {};
    std::optional<Scheduler> scheduler = {};
    std::optional<IoPriority> io_priority = {};
    CpuAffinity exec_cpu_affinity = {};
    bool operator==(const Process&) const = default;
};

}  // namespace rung::config

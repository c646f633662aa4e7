// Stats: what the kernel has counted for one container, read from the files of its cgroup.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "cgroup/cgroup.hpp"

namespace rung::cgroup {

// For how long tasks have waited for a resource, in per cent of the last 10, 60 and 300 s; v2 only.
struct Pressure {
    double avg10 = 0;
    double avg60 = 0;
    double avg300 = 0;
    uint64_t total = 0;  // microseconds
};
struct Pressures {
    Pressure some = {};
    Pressure full = {};
};

// Times in nanoseconds; the lists have one number for each processor, v1 only.
struct CpuStats {
    uint64_t total = 0;
    uint64_t user = 0;
    uint64_t kernel = 0;
    std::vector<uint64_t> per_cpu = {};
    std::vector<uint64_t> per_cpu_user = {};
    std::vector<uint64_t> per_cpu_kernel = {};
    uint64_t periods = 0;
    uint64_t throttled_periods = 0;
    uint64_t throttled_time = 0;
    std::optional<Pressures> pressure = {};
};

// v1 only.
struct CpusetStats {
    std::vector<uint16_t> cpus = {};
    std::vector<uint16_t> mems = {};
    std::map<std::string, int64_t> settings = {};  // by the file's name without "cpuset."
};

struct Usage {
    uint64_t limit = 0;  // the greatest number when there is none
    uint64_t usage = 0;
    uint64_t most = 0;
    uint64_t failures = 0;
};

// Bytes. `with_swap` counts memory and swap together, the v1 meaning.
struct MemoryStats {
    uint64_t cache = 0;
    Usage memory = {};
    Usage with_swap = {};
    Usage kernel = {};
    Usage kernel_tcp = {};
    std::map<std::string, uint64_t> raw = {};  // memory.stat
    std::optional<Pressures> pressure = {};
};

struct PidsStats {
    uint64_t current = 0;
    uint64_t limit = 0;  // 0 when there is none
};

struct IoEntry {
    uint64_t major = 0;
    uint64_t minor = 0;
    std::string operation = {};  // "Read", "Write", "Sync" ...
    uint64_t value = 0;
};
struct IoStats {
    std::map<std::string, std::vector<IoEntry>> by_name = {};  // "io_service_bytes", "io_serviced" ...
    std::optional<Pressures> pressure = {};
};

struct Stats {
    CpuStats cpu = {};
    CpusetStats cpuset = {};
    MemoryStats memory = {};
    PidsStats pids = {};
    IoStats io = {};
    std::map<std::string, Usage> hugepages = {};  // by page size: "2MB"
};

// A controller that the host lacks leaves its numbers at zero.
Result<Stats> read_stats(const Cgroup& cgroup);

}  // namespace rung::cgroup

// Resources: linux.resources of config.json (runtime-spec config-linux.md, "Control groups").
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace rung::config {

struct DeviceRule {
    bool allow = false;
    char type = 'a';                    // 'a' all, 'b' block, 'c' character
    std::optional<int64_t> major = {};  // absent or negative = any
    std::optional<int64_t> minor = {};
    std::string access = "rwm";  // a subset of r, w, m
    bool operator==(const DeviceRule&) const = default;
};

// Bytes throughout; -1 means unlimited, as in the specification.
struct MemoryResources {
    std::optional<int64_t> limit = {};
    std::optional<int64_t> reservation = {};
    std::optional<int64_t> swap = {};  // memory + swap together, the v1 meaning
    std::optional<int64_t> kernel = {};
    std::optional<int64_t> kernel_tcp = {};
    std::optional<uint64_t> swappiness = {};
    std::optional<bool> disable_oom_killer = {};
    std::optional<bool> use_hierarchy = {};
    std::optional<bool> check_before_update = {};
    bool forbids_swap = false;  // set by a plan: a host that does not count swap cannot enforce it
    bool operator==(const MemoryResources&) const = default;
};

// Times in microseconds.
struct CpuResources {
    std::optional<uint64_t> shares = {};
    std::optional<int64_t> quota = {};
    std::optional<uint64_t> burst = {};
    std::optional<uint64_t> period = {};
    std::optional<int64_t> realtime_runtime = {};
    std::optional<uint64_t> realtime_period = {};
    std::string cpus = {};
    std::string mems = {};
    std::optional<int64_t> idle = {};
    bool operator==(const CpuResources&) const = default;
};

struct WeightDevice {
    int64_t major = 0;
    int64_t minor = 0;
    std::optional<uint16_t> weight = {};
    std::optional<uint16_t> leaf_weight = {};
    bool operator==(const WeightDevice&) const = default;
};

struct ThrottleDevice {
    int64_t major = 0;
    int64_t minor = 0;
    uint64_t rate = 0;  // bytes or operations a second
    bool operator==(const ThrottleDevice&) const = default;
};

struct BlockIoResources {
    std::optional<uint16_t> weight = {};
    std::optional<uint16_t> leaf_weight = {};
    std::vector<WeightDevice> weight_devices = {};
    std::vector<ThrottleDevice> read_bps = {};
    std::vector<ThrottleDevice> write_bps = {};
    std::vector<ThrottleDevice> read_iops = {};
    std::vector<ThrottleDevice> write_iops = {};
    bool operator==(const BlockIoResources&) const = default;
};

struct HugepageLimit {
    std::string page_size = {};  // "2MB"
    uint64_t limit = 0;          // bytes
    bool operator==(const HugepageLimit&) const = default;
};

struct InterfacePriority {
    std::string name = {};
    uint32_t priority = 0;
    bool operator==(const InterfacePriority&) const = default;
};

struct RdmaLimit {
    std::optional<uint32_t> handles = {};
    std::optional<uint32_t> objects = {};
    bool operator==(const RdmaLimit&) const = default;
};

struct Resources {
    std::vector<DeviceRule> devices = {};
    bool devices_are_complete =
        false;  // set by a plan: the devices every container usually has are not added
    MemoryResources memory = {};
    CpuResources cpu = {};
    std::optional<int64_t> pids_limit = {};  // -1 = unlimited, 0 = a real limit (runc#4014)
    BlockIoResources block_io = {};
    std::vector<HugepageLimit> hugepage_limits = {};
    std::optional<uint32_t> network_class_id = {};
    std::vector<InterfacePriority> network_priorities = {};
    std::map<std::string, RdmaLimit> rdma = {};
    std::map<std::string, std::string> unified = {};  // cgroup v2 file name -> value
    bool operator==(const Resources&) const = default;
};

}  // namespace rung::config

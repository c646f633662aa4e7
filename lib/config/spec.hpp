// Spec: the value of an OCI config.json (runtime-spec 1.3), parsed and validated, without a system call.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "config/process.hpp"
#include "config/resources.hpp"
#include "config/seccomp.hpp"

namespace rung::config {

enum class NamespaceType { mount, pid, network, ipc, uts, user, cgroup, time };

struct Namespace {
    NamespaceType type = NamespaceType::mount;
    std::string path = {};  // empty = a new one
    bool operator==(const Namespace&) const = default;
};

struct IdMapping {
    uint32_t container_id = 0;
    uint32_t host_id = 0;
    uint32_t size = 0;
    bool operator==(const IdMapping&) const = default;
};

// Outside, what `id` is in the namespace; nothing when no mapping has it.
std::optional<uint32_t> host_id(const std::vector<IdMapping>& mappings, uint32_t id);

struct Mount {
    std::string destination = {};  // absolute: a relative one was read as relative to "/"
    std::string type = {};
    std::string source = {};
    std::vector<std::string> options = {};     // as written; config/mount_options.hpp gives their meaning
    std::vector<IdMapping> uid_mappings = {};  // of an id-mapped mount
    std::vector<IdMapping> gid_mappings = {};
    std::string symlink = {};  // what the source holds that copy-symlink makes once more; not in config.json
    bool operator==(const Mount&) const = default;
};

struct Hook {
    std::string path = {};
    std::vector<std::string> args = {};
    std::vector<std::string> env = {};
    std::optional<int> timeout_seconds = {};
    bool operator==(const Hook&) const = default;
};

struct Hooks {
    std::vector<Hook> prestart = {};
    std::vector<Hook> create_runtime = {};
    std::vector<Hook> create_container = {};
    std::vector<Hook> start_container = {};
    std::vector<Hook> poststart = {};
    std::vector<Hook> poststop = {};
    bool operator==(const Hooks&) const = default;
};

enum class DeviceType { block, character, fifo };

constexpr uint32_t kDefaultDeviceMode = 0666;

struct Device {
    std::string path = {};
    DeviceType type = DeviceType::character;
    uint32_t major = 0;
    uint32_t minor = 0;
    std::optional<uint32_t> mode = {};  // permission bits; absent = kDefaultDeviceMode
    uint32_t uid = 0;
    uint32_t gid = 0;
    bool operator==(const Device&) const = default;
};

struct TimeOffset {
    int64_t seconds = 0;
    uint32_t nanoseconds = 0;
    bool operator==(const TimeOffset&) const = default;
};

// set_mempolicy(2).
struct MemoryPolicy {
    int mode = 0;                      // MPOL_*, with MPOL_F_* or-ed in
    std::vector<uint64_t> nodes = {};  // a mask (id_list.hpp)
    bool operator==(const MemoryPolicy&) const = default;
};

// Intel Resource Director Technology, through the kernel's resctrl file system.
struct IntelRdt {
    std::string clos_id = {};
    std::string l3_cache_schema = {};
    std::string memory_bandwidth_schema = {};
    std::vector<std::string> schemata = {};
    bool enable_monitoring = false;
    bool operator==(const IntelRdt&) const = default;
};

struct Linux {
    std::vector<Namespace> namespaces = {};
    std::vector<IdMapping> uid_mappings = {};
    std::vector<IdMapping> gid_mappings = {};
    std::map<std::string, TimeOffset> time_offsets = {};  // "monotonic", "boottime"
    std::vector<Device> devices = {};
    std::string cgroups_path = {};
    Resources resources = {};
    std::string rootfs_propagation = {};
    std::optional<Seccomp> seccomp = {};
    std::map<std::string, std::string> sysctl = {};
    std::vector<std::string> masked_paths = {};
    std::vector<std::string> readonly_paths = {};
    std::string mount_label = {};
    std::optional<unsigned long> personality = {};  // personality(2)
    std::vector<std::string> personality_flags =
        {};  // none has a meaning yet: warned about and ignored, as runc does
    std::optional<MemoryPolicy> memory_policy = {};
    std::map<std::string, std::string> net_devices =
        {};  // the host's name -> the name inside, empty = the same
    std::optional<IntelRdt> intel_rdt = {};
    bool operator==(const Linux&) const = default;
};

struct Root {
    std::string path = {};
    bool read_only = false;
    bool operator==(const Root&) const = default;
};

struct Spec {
    std::string oci_version = {};
    Root root = {};
    Process process = {};
    std::string hostname = {};
    std::string domainname = {};
    std::vector<Mount> mounts = {};
    Hooks hooks = {};
    std::map<std::string, std::string> annotations = {};
    Linux linux_ = {};  // trailing underscore: `linux` is a macro in GNU modes
    bool operator==(const Spec&) const = default;

    bool has_namespace(NamespaceType type) const;
    const Namespace* find_namespace(NamespaceType type) const;  // nullptr when not listed
};

}  // namespace rung::config

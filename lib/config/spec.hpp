// Spec: the value of an OCI config.json (runtime-spec 1.3), parsed and validated, without a system call.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

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

struct Mount {
    std::string destination = {};  // absolute: a relative one was read as relative to "/"
    std::string type = {};
    std::string source = {};
    std::vector<std::string> options = {};  // as written; config/mount_options.hpp gives their meaning
    bool operator==(const Mount&) const = default;
};

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
    bool operator==(const Process&) const = default;
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

struct Device {
    std::string path = {};
    DeviceType type = DeviceType::character;
    uint32_t major = 0;
    uint32_t minor = 0;
    std::optional<uint32_t> mode = {};  // permission bits; absent = 0666
    uint32_t uid = 0;
    uint32_t gid = 0;
    bool operator==(const Device&) const = default;
};

struct TimeOffset {
    int64_t seconds = 0;
    uint32_t nanoseconds = 0;
    bool operator==(const TimeOffset&) const = default;
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

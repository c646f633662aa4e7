// Grant: what one task may do, as its author wrote it (docs/grants.md; schema grant-v1).
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace rung::grant {

struct Metadata {
    std::string name = {};
    std::string task_id = {};
    std::string subject = {};
    std::optional<int64_t> not_before = {};  // seconds since the epoch
    std::optional<int64_t> expires_at = {};
    std::map<std::string, std::string> labels = {};
    bool operator==(const Metadata&) const = default;
};

enum class RootfsAccess { none, read_only };

struct Tmpfs {
    std::string path = {};
    uint64_t size = 0;  // bytes
    bool operator==(const Tmpfs&) const = default;
};

// Clean absolute container paths.
struct Filesystem {
    RootfsAccess rootfs = RootfsAccess::none;
    std::vector<std::string> read_only = {};
    std::vector<std::string> read_write = {};
    std::vector<std::string> hidden = {};
    std::vector<Tmpfs> tmpfs = {};
    bool operator==(const Filesystem&) const = default;
};

struct Tool {
    std::string path = {};
    std::string sha256 = {};  // empty = any content
    bool operator==(const Tool&) const = default;
};

struct PortRange {
    uint16_t first = 443;
    uint16_t last = 443;
    bool operator==(const PortRange&) const = default;
};

struct HttpRule {
    std::vector<std::string> methods = {};
    std::string path = {};
    bool operator==(const HttpRule&) const = default;
};

struct EgressRule {
    std::string host = {};  // exactly one of host and cidr is set
    std::string cidr = {};
    std::vector<std::string> except = {};
    std::vector<PortRange> ports = {PortRange{}};
    std::vector<std::string> allow_private = {};
    std::vector<HttpRule> http = {};
    bool operator==(const EgressRule&) const = default;
};

struct Network {
    std::vector<EgressRule> egress = {};
    std::vector<uint16_t> ingress_ports = {};
    bool operator==(const Network&) const = default;
};

struct Secret {
    std::string name = {};
    std::vector<std::string> hosts = {};
    std::string header = "Authorization";
    bool operator==(const Secret&) const = default;
};

// Absent = no limit from this layer.
struct Limits {
    std::optional<uint64_t> memory = {};     // bytes
    std::optional<uint64_t> cpu_milli = {};  // thousandths of one CPU
    std::optional<uint64_t> pids = {};
    std::optional<uint64_t> open_files = {};
    std::optional<uint64_t> ephemeral_storage = {};  // bytes
    bool operator==(const Limits&) const = default;
};

struct Budgets {
    std::optional<uint64_t> active_deadline_seconds = {};
    std::optional<uint64_t> max_ops = {};
    std::vector<std::string> counted_ops = {};  // empty = all three
    std::optional<uint64_t> max_output_bytes = {};
    std::optional<uint64_t> max_egress_bytes = {};
    bool operator==(const Budgets&) const = default;
};

enum class Isolation { container, gvisor, microvm };  // weakest first
enum class AuditLevel { denials, decisions };         // quietest first

// An absent section and an empty one grant the same, nothing, but are different values: rung plan and audit
// tell them apart.
struct Grant {
    Metadata metadata = {};
    std::optional<Filesystem> filesystem = {};
    std::optional<std::vector<Tool>> tools = {};
    std::optional<Network> network = {};
    std::optional<uint64_t> capabilities = {};  // bit N is capability N
    std::optional<std::vector<std::string>> devices = {};
    std::vector<Secret> secrets = {};
    Limits limits = {};
    std::optional<Budgets> budgets = {};
    std::optional<uint64_t> termination_grace_seconds = {};
    Isolation isolation = Isolation::container;
    std::optional<AuditLevel> audit_level = {};
    std::optional<bool> audit_feedback = {};
    std::vector<std::string> seccomp_profiles = {};  // every one is loaded; empty = {"default"}
    bool operator==(const Grant&) const = default;
};

}  // namespace rung::grant

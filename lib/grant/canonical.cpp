// RFC 8785 asks for keys in order, no white space, short escapes, and numbers as doubles print. nlohmann's map keeps names of ASCII in
// that order and its dump has those escapes; numbers stay whole and below 2^53, so quantities of bytes are strings with a unit.
// SPDX-License-Identifier: Apache-2.0
#include "grant/canonical.hpp"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>

#include "base/sha256.hpp"
#include "config/capability.hpp"
#include "grant/meet.hpp"
#include "grant/timestamp.hpp"

namespace rung::grant {

namespace {

using nlohmann::json;

constexpr std::size_t kMaxPortsOfRule = 16;

void put_text(json& object, const char* name, const std::string& text) {
    if (!text.empty()) object[name] = text;
}

void put_number(json& object, const char* name, const std::optional<uint64_t>& number) {
    if (number) object[name] = *number;
}

void put_bytes(json& object, const char* name, const std::optional<uint64_t>& bytes) {
    if (bytes) object[name] = bytes_text(*bytes);
}

template <typename T>
void put_list(json& object, const char* name, const std::vector<T>& list) {
    if (!list.empty()) object[name] = list;
}

json metadata_json(const Metadata& metadata) {
    json object = json::object();
    put_text(object, "name", metadata.name);
    put_text(object, "taskId", metadata.task_id);
    put_text(object, "subject", metadata.subject);
    if (metadata.not_before) object["notBefore"] = timestamp_text(*metadata.not_before);
    if (metadata.expires_at) object["expiresAt"] = timestamp_text(*metadata.expires_at);
    if (!metadata.labels.empty()) object["labels"] = metadata.labels;
    return object;
}

json filesystem_json(const Filesystem& filesystem) {
    json object = json::object();
    if (filesystem.rootfs == RootfsAccess::read_only) object["rootfs"] = "readOnly";
    put_list(object, "readOnly", filesystem.read_only);
    put_list(object, "readWrite", filesystem.read_write);
    put_list(object, "hidden", filesystem.hidden);
    for (const Tmpfs& tmpfs : filesystem.tmpfs)
        object["tmpfs"].push_back({{"path", tmpfs.path}, {"size", bytes_text(tmpfs.size)}});
    return object;
}

json tools_json(const std::vector<Tool>& tools) {
    json list = json::array();
    for (const Tool& tool : tools) {
        if (tool.sha256.empty()) {
            list.push_back(tool.path);
        } else {
            list.push_back({{"path", tool.path}, {"sha256", tool.sha256}});
        }
    }
    return list;
}

json port_json(const PortRange& range) {
    if (range.first == range.last) return range.first;
    return {{"port", range.first}, {"endPort", range.last}};
}

json rule_json(const EgressRule& rule) {
    json object = json::object();
    put_text(object, "host", rule.host);
    put_text(object, "cidr", rule.cidr);
    put_list(object, "except", rule.except);
    for (const PortRange& range : rule.ports)
        object["ports"].push_back(port_json(range));
    put_list(object, "allowPrivate", rule.allow_private);
    for (const HttpRule& http : rule.http)
        object["http"].push_back({{"methods", http.methods}, {"path", http.path}});
    return object;
}

// A rule of a grant's text has at most 16 ports; one that was put together from several may have more.
void push_rule(json& list, const EgressRule& rule) {
    EgressRule part = rule;
    for (std::size_t start = 0; start < rule.ports.size(); start += kMaxPortsOfRule) {
        const std::size_t end = std::min(rule.ports.size(), start + kMaxPortsOfRule);
        part.ports = {rule.ports.begin() + static_cast<std::ptrdiff_t>(start),
                      rule.ports.begin() + static_cast<std::ptrdiff_t>(end)};
        list.push_back(rule_json(part));
    }
}

json network_json(const Network& network) {
    json object = json::object();
    for (const EgressRule& rule : network.egress)
        push_rule(object["egress"], rule);
    for (const uint16_t port : network.ingress_ports)
        object["ingress"].push_back({{"port", port}});
    return object;
}

json secrets_json(const std::vector<Secret>& secrets) {
    json list = json::array();
    for (const Secret& secret : secrets)
        list.push_back({{"name", secret.name}, {"hosts", secret.hosts}, {"header", secret.header}});
    return list;
}

json limits_json(const Limits& limits) {
    json object = json::object();
    put_bytes(object, "memory", limits.memory);
    if (limits.cpu_milli) object["cpu"] = cpu_text(*limits.cpu_milli);
    put_number(object, "pids", limits.pids);
    put_number(object, "openFiles", limits.open_files);
    put_bytes(object, "ephemeralStorage", limits.ephemeral_storage);
    return object;
}

json budgets_json(const Budgets& budgets) {
    json object = json::object();
    put_number(object, "activeDeadlineSeconds", budgets.active_deadline_seconds);
    put_number(object, "maxOps", budgets.max_ops);
    put_list(object, "countedOps", budgets.counted_ops);
    put_bytes(object, "maxOutputBytes", budgets.max_output_bytes);
    put_bytes(object, "maxEgressBytes", budgets.max_egress_bytes);
    return object;
}

void put_audit(json& document, const Grant& grant) {
    if (grant.audit_level)
        document["audit"]["level"] = *grant.audit_level == AuditLevel::decisions ? "decisions" : "denials";
    if (grant.audit_feedback) document["audit"]["feedback"] = *grant.audit_feedback;
}

void put_profiles(json& document, const std::vector<std::string>& profiles) {
    if (profiles == std::vector<std::string>{"default"}) return;  // as if nothing was said
    document["seccomp"]["profile"] = profiles.size() == 1 ? json(profiles.front()) : json(profiles);
}

std::vector<std::string> sorted_names(uint64_t capabilities) {
    std::vector<std::string> names = config::capability_names(capabilities);
    std::sort(names.begin(), names.end());
    return names;
}

void put_conditions(json& document, const Grant& normal) {
    const json metadata = metadata_json(normal.metadata);
    if (!metadata.empty()) document["metadata"] = metadata;
    const json limits = limits_json(normal.limits);
    if (!limits.empty()) document["limits"] = limits;
    if (normal.budgets) document["budgets"] = budgets_json(*normal.budgets);
    put_number(document, "terminationGracePeriodSeconds", normal.termination_grace_seconds);
    if (normal.isolation != Isolation::container)
        document["isolation"]["minimum"] = normal.isolation == Isolation::gvisor ? "gvisor" : "microvm";
    put_audit(document, normal);
    put_profiles(document, normal.seccomp_profiles);
}

std::string written(const json& value) {
    // The texts are valid UTF-8; a Grant that was not parsed might hold others, and a digest must not throw.
    return value.dump(-1, ' ', false, json::error_handler_t::replace);
}

}  // namespace

std::string bytes_text(uint64_t bytes) {
    constexpr std::array<std::pair<const char*, uint64_t>, 5> kUnits = {
        {{"Ti", 1ull << 40}, {"Gi", 1ull << 30}, {"Mi", 1ull << 20}, {"Ki", 1ull << 10}, {"k", 1000}}};
    // More digits than a grant's text may have; such a number came from one with a unit.
    constexpr uint64_t kMostWithoutUnit = 999'999'999'999'999'999;
    for (const auto& [name, size] : kUnits) {
        const bool needed = size != 1000 || bytes > kMostWithoutUnit;
        if (needed && bytes >= size && bytes % size == 0) return std::to_string(bytes / size) + name;
    }
    return std::to_string(bytes);
}

std::string cpu_text(uint64_t milli) {
    return std::to_string(milli) + "m";
}

std::string rule_text(const EgressRule& rule) {
    return written(rule_json(rule));
}

std::string canonical_json(const Grant& grant) {
    const Grant normal = normalized(grant);
    json document = {{"grantVersion", "1"}};
    if (normal.filesystem) document["filesystem"] = filesystem_json(*normal.filesystem);
    if (normal.tools) document["tools"] = tools_json(*normal.tools);
    if (normal.network) document["network"] = network_json(*normal.network);
    if (normal.capabilities) document["capabilities"] = sorted_names(*normal.capabilities);
    if (normal.devices) document["devices"] = *normal.devices;
    if (!normal.secrets.empty()) document["secrets"] = secrets_json(normal.secrets);
    put_conditions(document, normal);
    return written(document);
}

std::string digest(const Grant& grant) {
    return "sha256:" + sha256_hex(canonical_json(grant));
}

}  // namespace rung::grant

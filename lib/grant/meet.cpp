// The meet, section by section.
//
// Two kinds of absence meet differently. An absent permission (filesystem, tools, network, capabilities,
// devices) is denied, so it stays absent whatever the other side says. An absent condition (limits, budgets,
// times, grace, audit) is no statement, so the other side's stands.
// SPDX-License-Identifier: Apache-2.0
#include "grant/meet.hpp"

#include <map>
#include <utility>

#include "grant/meet_parts.hpp"

namespace rung::grant {

namespace {

template <typename T>
std::optional<T> lower_of(const std::optional<T>& left, const std::optional<T>& right) {
    if (!left || !right) return left ? left : right;
    return std::min(*left, *right);
}

template <typename T>
std::optional<T> higher_of(const std::optional<T>& left, const std::optional<T>& right) {
    return std::max(left, right);  // nothing is less than any value
}

// Of two sections that grant something: absent when either is.
template <typename T, typename Meet>
std::optional<T> meet_present(const std::optional<T>& left, const std::optional<T>& right, Meet meet_both) {
    if (!left || !right) return std::nullopt;
    return meet_both(*left, *right);
}

// Names are for the audit only. Of two different ones the first by alphabet is kept, so that no order
// matters.
std::string first_name(const std::string& left, const std::string& right) {
    if (left.empty() || right.empty()) return left.empty() ? right : left;
    return std::min(left, right);
}

Metadata meet_metadata(const Metadata& left, const Metadata& right) {
    Metadata met{.name = first_name(left.name, right.name),
                 .task_id = first_name(left.task_id, right.task_id),
                 .subject = first_name(left.subject, right.subject),
                 .not_before = higher_of(left.not_before, right.not_before),
                 .expires_at = lower_of(left.expires_at, right.expires_at),
                 .labels = left.labels};
    for (const auto& [name, value] : right.labels) {
        const auto [entry, added] = met.labels.emplace(name, value);
        if (!added) entry->second = std::min(entry->second, value);
    }
    return met;
}

Network normalized_network(const Network& network) {
    return {.egress = normalized_egress(network.egress), .ingress_ports = sorted_set(network.ingress_ports)};
}

Network meet_networks(const Network& left, const Network& right) {
    return {.egress = meet_egress(left.egress, right.egress),
            .ingress_ports = intersection(left.ingress_ports, right.ingress_ports)};
}

using SecretHosts =
    std::map<std::pair<std::string, std::string>, std::vector<std::string>>;  // by name and header

SecretHosts by_name(const std::vector<Secret>& secrets) {
    SecretHosts hosts;
    for (const Secret& secret : secrets) {
        std::vector<std::string>& entry = hosts[{secret.name, secret.header}];
        entry = united(entry, sorted_set(secret.hosts));
    }
    return hosts;
}

std::vector<Secret> to_secrets(const SecretHosts& all) {
    std::vector<Secret> secrets;
    for (const auto& [key, hosts] : all) {
        if (!hosts.empty()) secrets.push_back({.name = key.first, .hosts = hosts, .header = key.second});
    }
    return secrets;
}

std::vector<Secret> meet_secrets(const std::vector<Secret>& left, const std::vector<Secret>& right) {
    SecretHosts both;
    SecretHosts others = by_name(right);
    for (const auto& [key, hosts] : by_name(left))
        both[key] = intersection(hosts, others[key]);
    return to_secrets(both);
}

Limits meet_limits(const Limits& left, const Limits& right) {
    return {.memory = lower_of(left.memory, right.memory),
            .cpu_milli = lower_of(left.cpu_milli, right.cpu_milli),
            .pids = lower_of(left.pids, right.pids),
            .open_files = lower_of(left.open_files, right.open_files),
            .ephemeral_storage = lower_of(left.ephemeral_storage, right.ephemeral_storage)};
}

// What is counted matters only where something limits the count.
Budgets normalized_budgets(const Budgets& budgets) {
    Budgets normal = budgets;
    if (!budgets.max_ops) {
        normal.counted_ops.clear();
    } else if (budgets.counted_ops.empty()) {
        normal.counted_ops = {"connect", "exec", "session"};
    }
    normal.counted_ops = sorted_set(std::move(normal.counted_ops));
    return normal;
}

// The lower count of everything that either counts is used up before the one or the other would be.
Budgets meet_budgets(const Budgets& left, const Budgets& right) {
    return {.active_deadline_seconds = lower_of(left.active_deadline_seconds, right.active_deadline_seconds),
            .max_ops = lower_of(left.max_ops, right.max_ops),
            .counted_ops = united(left.counted_ops, right.counted_ops),
            .max_output_bytes = lower_of(left.max_output_bytes, right.max_output_bytes),
            .max_egress_bytes = lower_of(left.max_egress_bytes, right.max_egress_bytes)};
}

std::vector<std::string> normalized_profiles(const std::vector<std::string>& profiles) {
    if (profiles.empty()) return {"default"};
    return sorted_set(profiles);
}

}  // namespace

Grant normalized(const Grant& grant) {
    Grant normal = grant;
    if (grant.filesystem) normal.filesystem = normalized_filesystem(*grant.filesystem);
    if (grant.tools) normal.tools = normalized_tools(*grant.tools);
    if (grant.network) normal.network = normalized_network(*grant.network);
    if (grant.devices) normal.devices = sorted_set(*grant.devices);
    normal.secrets = to_secrets(by_name(grant.secrets));
    if (grant.budgets) normal.budgets = normalized_budgets(*grant.budgets);
    normal.seccomp_profiles = normalized_profiles(grant.seccomp_profiles);
    return normal;
}

Grant meet(const Grant& one, const Grant& other) {
    const Grant left = normalized(one);
    const Grant right = normalized(other);
    Grant met{.metadata = meet_metadata(left.metadata, right.metadata),
              .filesystem = meet_present(left.filesystem, right.filesystem, meet_filesystems),
              .tools = meet_present(left.tools, right.tools, meet_tools),
              .network = meet_present(left.network, right.network, meet_networks),
              .capabilities = meet_present(left.capabilities, right.capabilities,
                                           [](uint64_t first, uint64_t second) { return first & second; }),
              .devices = meet_present(left.devices, right.devices, intersection<std::string>),
              .secrets = meet_secrets(left.secrets, right.secrets),
              .limits = meet_limits(left.limits, right.limits),
              .budgets = left.budgets ? left.budgets : right.budgets,
              .termination_grace_seconds =
                  lower_of(left.termination_grace_seconds, right.termination_grace_seconds),
              .isolation = std::max(left.isolation, right.isolation),
              .audit_level = higher_of(left.audit_level, right.audit_level),
              // Feedback tells the task what was refused, so a layer that withholds it prevails: false is the
              // lower.
              .audit_feedback = lower_of(left.audit_feedback, right.audit_feedback),
              .seccomp_profiles = united(left.seccomp_profiles, right.seccomp_profiles)};
    if (left.budgets && right.budgets) met.budgets = meet_budgets(*left.budgets, *right.budgets);
    return met;
}

}  // namespace rung::grant

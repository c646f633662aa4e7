// What one layer loses to another, field by field: entries that the meet does not have, values that it lowers.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <string>
#include <vector>

#include "base/path.hpp"
#include "config/capability.hpp"
#include "grant/canonical.hpp"
#include "grant/layers.hpp"
#include "grant/meet.hpp"
#include "grant/timestamp.hpp"

namespace rung::grant {

namespace {

using Entries = std::vector<std::string>;

std::string listed(const Entries& entries) {
    std::string text;
    for (const std::string& entry : entries)
        text += (text.empty() ? "" : ", ") + entry;
    return entries.empty() ? "none" : text;
}

class Comparison {
  public:
    // Something is lost when an entry is.
    void compare_entries(const char* field, const Entries& asked, const Entries& effective) {
        const bool lost = std::any_of(asked.begin(), asked.end(), [&](const std::string& entry) {
            return std::find(effective.begin(), effective.end(), entry) == effective.end();
        });
        if (lost) add(field, listed(asked), listed(effective));
    }

    template <typename T, typename Text>
    void compare_value(const char* field, const std::optional<T>& asked, const std::optional<T>& effective,
                       Text text) {
        if (asked && effective && *asked != *effective) add(field, text(*asked), text(*effective));
    }

    void add(const char* field, std::string asked, std::string effective) {
        found_.push_back({.field = field, .asked = std::move(asked), .effective = std::move(effective)});
    }

    std::vector<Narrowed> take() { return std::move(found_); }

  private:
    std::vector<Narrowed> found_ = {};
};

std::string number_text(uint64_t number) {
    return std::to_string(number);
}

Entries tmpfs_entries(const Filesystem& filesystem) {
    Entries entries;
    for (const Tmpfs& tmpfs : filesystem.tmpfs)
        entries.push_back(tmpfs.path + " of " + bytes_text(tmpfs.size));
    return entries;
}

// Hiding what the grant did not open takes nothing from it.
bool may_look_near(const Filesystem& filesystem, const std::string& path) {
    if (filesystem.rootfs == RootfsAccess::read_only) return true;
    const auto is_near = [&](const std::string& other) {
        return path::covers(other, path) || path::covers(path, other);
    };
    return std::any_of(filesystem.read_only.begin(), filesystem.read_only.end(), is_near) ||
           std::any_of(filesystem.read_write.begin(), filesystem.read_write.end(), is_near) ||
           std::any_of(filesystem.tmpfs.begin(), filesystem.tmpfs.end(),
                       [&](const Tmpfs& tmpfs) { return is_near(tmpfs.path); });
}

void compare_filesystems(Comparison& found, const Filesystem& asked, const Filesystem& effective) {
    if (asked.rootfs != effective.rootfs) found.add("filesystem.rootfs", "readOnly", "none");
    found.compare_entries("filesystem.readOnly", asked.read_only, effective.read_only);
    found.compare_entries("filesystem.readWrite", asked.read_write, effective.read_write);
    found.compare_entries("filesystem.tmpfs", tmpfs_entries(asked), tmpfs_entries(effective));
    const bool hides_more =
        std::any_of(effective.hidden.begin(), effective.hidden.end(), [&](const std::string& path) {
            return std::find(asked.hidden.begin(), asked.hidden.end(), path) == asked.hidden.end() &&
                   may_look_near(asked, path);
        });
    if (hides_more) found.add("filesystem.hidden", listed(asked.hidden), listed(effective.hidden));
}

Entries tool_entries(const std::optional<std::vector<Tool>>& tools) {
    Entries entries;
    for (const Tool& tool : tools.value_or(std::vector<Tool>{}))
        entries.push_back(tool.sha256.empty() ? tool.path : tool.path + " sha256:" + tool.sha256);
    return entries;
}

Entries egress_entries(const Network& network) {
    Entries entries;
    for (const EgressRule& rule : network.egress)
        entries.push_back(rule_text(rule));
    return entries;
}

Entries ingress_entries(const Network& network) {
    Entries entries;
    for (const uint16_t port : network.ingress_ports)
        entries.push_back(std::to_string(port));
    return entries;
}

Entries secret_entries(const Grant& grant) {
    Entries entries;
    for (const Secret& secret : grant.secrets)
        entries.push_back(secret.name + " in " + secret.header + " for " + listed(secret.hosts));
    return entries;
}

void compare_limits(Comparison& found, const Limits& asked, const Limits& effective) {
    found.compare_value("limits.memory", asked.memory, effective.memory, bytes_text);
    found.compare_value("limits.cpu", asked.cpu_milli, effective.cpu_milli, cpu_text);
    found.compare_value("limits.pids", asked.pids, effective.pids, number_text);
    found.compare_value("limits.openFiles", asked.open_files, effective.open_files, number_text);
    found.compare_value("limits.ephemeralStorage", asked.ephemeral_storage, effective.ephemeral_storage,
                        bytes_text);
}

void compare_budgets(Comparison& found, const Budgets& asked, const Budgets& effective) {
    found.compare_value("budgets.activeDeadlineSeconds", asked.active_deadline_seconds,
                        effective.active_deadline_seconds, number_text);
    found.compare_value("budgets.maxOps", asked.max_ops, effective.max_ops, number_text);
    if (asked.max_ops && asked.counted_ops != effective.counted_ops)
        found.add("budgets.countedOps", listed(asked.counted_ops), listed(effective.counted_ops));
    found.compare_value("budgets.maxOutputBytes", asked.max_output_bytes, effective.max_output_bytes,
                        bytes_text);
    found.compare_value("budgets.maxEgressBytes", asked.max_egress_bytes, effective.max_egress_bytes,
                        bytes_text);
}

void compare_permissions(Comparison& found, const Grant& asked, const Grant& effective) {
    compare_filesystems(found, asked.filesystem.value_or(Filesystem{}),
                        effective.filesystem.value_or(Filesystem{}));
    found.compare_entries("tools", tool_entries(asked.tools), tool_entries(effective.tools));
    const Network network = asked.network.value_or(Network{});
    const Network reached = effective.network.value_or(Network{});
    found.compare_entries("network.egress", egress_entries(network), egress_entries(reached));
    found.compare_entries("network.ingress", ingress_entries(network), ingress_entries(reached));
    found.compare_entries("capabilities", config::capability_names(asked.capabilities.value_or(0)),
                          config::capability_names(effective.capabilities.value_or(0)));
    found.compare_entries("devices", asked.devices.value_or(Entries{}),
                          effective.devices.value_or(Entries{}));
    found.compare_entries("secrets", secret_entries(asked), secret_entries(effective));
}

}  // namespace

std::vector<Narrowed> losses(const Grant& grant, const Grant& other) {
    const Grant asked = normalized(grant);
    const Grant effective = meet(grant, other);
    Comparison found;
    found.compare_value("metadata.notBefore", asked.metadata.not_before, effective.metadata.not_before,
                        timestamp_text);
    found.compare_value("metadata.expiresAt", asked.metadata.expires_at, effective.metadata.expires_at,
                        timestamp_text);
    compare_permissions(found, asked, effective);
    compare_limits(found, asked.limits, effective.limits);
    if (asked.budgets && effective.budgets) compare_budgets(found, *asked.budgets, *effective.budgets);
    found.compare_value("terminationGracePeriodSeconds", asked.termination_grace_seconds,
                        effective.termination_grace_seconds, number_text);
    found.compare_value("audit.feedback", asked.audit_feedback, effective.audit_feedback,
                        [](bool wanted) { return std::string{wanted ? "true" : "false"}; });
    // A profile that is loaded besides; saying none asks for no other than the default one.
    if (!grant.seccomp_profiles.empty()) {
        const bool more =
            std::any_of(effective.seccomp_profiles.begin(), effective.seccomp_profiles.end(),
                        [&](const std::string& profile) {
                            return profile != "default" &&
                                   std::find(asked.seccomp_profiles.begin(), asked.seccomp_profiles.end(),
                                             profile) == asked.seccomp_profiles.end();
                        });
        if (more)
            found.add("seccomp.profile", listed(asked.seccomp_profiles), listed(effective.seccomp_profiles));
    }
    return found.take();
}

}  // namespace rung::grant

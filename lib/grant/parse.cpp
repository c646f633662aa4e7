// The grant as a whole: its version, its sections, and the rules that span them.
// SPDX-License-Identifier: Apache-2.0
#include "grant/parse.hpp"

#include <array>

#include "grant/sections.hpp"

namespace rung::grant {

namespace {

constexpr std::size_t kMaxPaths = 256;
constexpr uint64_t kMaxGraceSeconds = 300;
constexpr std::size_t kMaxProfiles = 16;

Status read_isolation(const Field& field, Grant& grant) {
    const Section section = TRY(Section::of(field, {"minimum"}));
    if (const auto minimum = section.find("minimum")) {
        constexpr std::array kLevels = {Isolation::container, Isolation::gvisor, Isolation::microvm};
        grant.isolation = kLevels.at(TRY(read_choice(*minimum, {"container", "gvisor", "microvm"})));
    }
    return {};
}

Status read_audit(const Field& field, Grant& grant) {
    const Section section = TRY(Section::of(field, {"level", "feedback"}));
    if (const auto level = section.find("level")) {
        constexpr std::array kLevels = {AuditLevel::denials, AuditLevel::decisions};
        grant.audit_level = kLevels.at(TRY(read_choice(*level, {"denials", "decisions"})));
    }
    if (const auto feedback = section.find("feedback")) grant.audit_feedback = TRY(read_boolean(*feedback));
    return {};
}

Status read_seccomp(const Field& field, Grant& grant) {
    const Section section = TRY(Section::of(field, {"profile"}));
    const auto profile = section.find("profile");
    if (!profile) return {};
    if (profile->node->kind != Kind::list) {
        grant.seccomp_profiles = {TRY(read_dns_label(*profile))};
        return {};
    }
    for (const Field& entry : TRY(read_list(*profile, {1, kMaxProfiles})))
        grant.seccomp_profiles.push_back(TRY(read_dns_label(entry)));
    TRY(refuse_repeats(*profile, grant.seccomp_profiles));
    return {};
}

// What the task reaches.
Status read_permissions(const Section& section, Grant& grant) {
    if (const auto field = section.find("filesystem")) grant.filesystem = TRY(read_filesystem(*field));
    if (const auto field = section.find("tools")) grant.tools = TRY(read_tools(*field));
    if (const auto field = section.find("network")) grant.network = TRY(read_network(*field));
    if (const auto field = section.find("capabilities")) grant.capabilities = TRY(read_capabilities(*field));
    if (const auto field = section.find("devices")) grant.devices = TRY(read_devices(*field));
    if (const auto field = section.find("secrets")) grant.secrets = TRY(read_secrets(*field));
    return {};
}

// Under which conditions it runs.
Status read_conditions(const Section& section, Grant& grant) {
    if (const auto field = section.find("metadata")) grant.metadata = TRY(read_metadata(*field));
    if (const auto field = section.find("limits")) grant.limits = TRY(read_limits(*field));
    if (const auto field = section.find("budgets")) grant.budgets = TRY(read_budgets(*field));
    if (const auto field = section.find("terminationGracePeriodSeconds")) {
        grant.termination_grace_seconds = TRY(read_integer(*field, {0, kMaxGraceSeconds}));
    }
    if (const auto field = section.find("isolation")) TRY(read_isolation(*field, grant));
    if (const auto field = section.find("audit")) TRY(read_audit(*field, grant));
    if (const auto field = section.find("seccomp")) TRY(read_seccomp(*field, grant));
    return {};
}

std::size_t count_paths(const Grant& grant) {
    const Filesystem filesystem = grant.filesystem.value_or(Filesystem{});
    return filesystem.read_only.size() + filesystem.read_write.size() + filesystem.hidden.size() +
           filesystem.tmpfs.size() + (grant.tools ? grant.tools->size() : 0);
}

}  // namespace

Status check_version(const Field& field, std::string_view name) {
    if (field.node->kind != Kind::map) return refuse(field, "grant_parse_error", "must be a map of fields");
    const Node* version = nullptr;
    for (const Node& member : field.node->children) {
        if (member.name == name) version = &member;
    }
    if (version == nullptr)
        return refuse(field, "grant_parse_error",
                      "must have a field " + quoted(name) + " with the value \"1\"");
    if (version->kind == Kind::string && version->text == "1") return {};
    const Field found = member_field(field, *version);
    if (version->kind == Kind::number) {
        return refuse(found, "grant_version_unsupported", "must be the string \"1\": write it in quotes");
    }
    return refuse(found, "grant_version_unsupported",
                  quoted(version->text) + " is not a version this rung knows: it knows \"1\"");
}

Result<Grant> read_grant(const Field& field) {
    TRY(check_version(field, "grantVersion"));
    const Section section =
        TRY(Section::of(field, {"grantVersion", "metadata", "filesystem", "tools", "network", "capabilities",
                                "devices", "secrets", "limits", "budgets", "terminationGracePeriodSeconds",
                                "isolation", "audit", "seccomp"}));
    Grant grant;
    TRY(read_permissions(section, grant));
    TRY(read_conditions(section, grant));
    if (count_paths(grant) > kMaxPaths) {
        return refuse(field, "grant_too_large",
                      "names " + std::to_string(count_paths(grant)) + " paths, at most " +
                          std::to_string(kMaxPaths) + " are accepted");
    }
    return grant;
}

Result<Grant> parse_grant(std::string_view text) {
    const Node root = TRY(read_document(text, {}));
    return read_grant({.node = &root, .name = "grant", .is_whole = true});
}

}  // namespace rung::grant

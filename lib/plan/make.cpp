// make: the meet of config.json and a grant, aspect by aspect. Each aspect is in the file named after it.
// SPDX-License-Identifier: Apache-2.0
#include "plan/make.hpp"

#include <algorithm>

#include "plan/narrow.hpp"

namespace rung::plan {
namespace {

Status check_times(const grant::Metadata& metadata, int64_t now) {
    if (metadata.not_before && now < *metadata.not_before) {
        return Error{.message = "grant_not_yet_valid: metadata.notBefore: the grant begins in " +
                                std::to_string(*metadata.not_before - now) + " s",
                     .reason = "grant_not_yet_valid"};
    }
    if (metadata.expires_at && now >= *metadata.expires_at) {
        return Error{.message = "grant_expired: metadata.expiresAt: the grant ended " +
                                std::to_string(now - *metadata.expires_at) + " s ago",
                     .reason = "grant_expired"};
    }
    return {};
}

// A program in memory is on no mount, so noexec does not stop it: the sysctl does, or else a filter.
void close_memfd(SandboxPlan& plan, const kernel::HostFacts& host) {
    const config::Namespace* pids = plan.spec.find_namespace(config::NamespaceType::pid);
    plan.memfd_noexec = host.memfd_noexec && pids != nullptr && pids->path.empty();
    if (!plan.memfd_noexec) plan.seccomp_profiles.emplace_back("no-memfd");
}

}  // namespace

std::string list_text(const std::vector<std::string>& items) {
    if (items.empty()) return "none";
    std::string text;
    for (const std::string& item : items)
        text += (text.empty() ? "" : ", ") + item;
    return text;
}

Result<SandboxPlan> make(const config::Spec& spec, const std::optional<grant::Grant>& grant,
                         const kernel::HostFacts& host, int64_t now) {
    SandboxPlan plan{.spec = spec};
    if (!grant) return plan;

    TRY(check_times(grant->metadata, now));
    TRY(check_enforceable(spec, *grant, host));
    plan.granted = true;
    plan.narrowings = narrow_privileges(plan.spec.process, *grant);
    narrow_network(plan);
    narrow_namespaces(plan);
    TRY(narrow_filesystem(plan, grant->filesystem.value_or(grant::Filesystem{})));
    narrow_devices(plan);
    narrow_limits(plan, grant->limits);
    plan.seccomp_profiles = grant->seccomp_profiles;
    // `strict` allows nothing that `default` refuses; any other profile is loaded beside it.
    const auto& profiles = grant->seccomp_profiles;
    const bool closed = std::any_of(profiles.begin(), profiles.end(), [](const std::string& name) {
        return name == "default" || name == "strict";
    });
    if (!closed) plan.seccomp_profiles.insert(plan.seccomp_profiles.begin(), "default");
    close_memfd(plan, host);
    return plan;
}

}  // namespace rung::plan

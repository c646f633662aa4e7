// make: the meet of config.json and a grant, aspect by aspect. Each aspect is in the file named after it.
// SPDX-License-Identifier: Apache-2.0
#include "plan/make.hpp"

#include <algorithm>
#include <array>

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

void record_real_paths(SandboxPlan& plan, const ImageFacts& image) {
    for (const auto& [path, place] : image.real_paths) {
        plan.narrowings.push_back({.field = "paths[" + path + "]",
                                   .asked = path,
                                   .effective = place,
                                   .layer = "builtin",
                                   .reason = "a symlink of the image leads there"});
    }
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
                         const kernel::HostFacts& host, int64_t now, const ImageFacts& image) {
    if (!grant) return SandboxPlan{.spec = spec};
    SandboxPlan plan{.spec = with_real_paths(spec, image)};

    TRY(check_times(grant->metadata, now));
    TRY(check_enforceable(spec, *grant, host));
    record_real_paths(plan, image);
    const grant::Grant placed = with_real_paths(*grant, image);
    plan.granted = true;
    const std::vector<Narrowing> privileges = narrow_privileges(plan.spec.process, *grant);
    plan.narrowings.insert(plan.narrowings.end(), privileges.begin(), privileges.end());
    narrow_network(plan);
    narrow_namespaces(plan);
    TRY(narrow_filesystem(plan, placed));
    allow_files(plan, placed, host, image);
    narrow_devices(plan);
    narrow_limits(plan, grant->limits);
    plan.seccomp_profiles = grant->seccomp_profiles;
    // Each of these allows nothing that `default` refuses; any other profile is loaded beside it.
    constexpr std::array<std::string_view, 5> kClosed = {"default", "strict", "python", "node", "build"};
    const auto& profiles = grant->seccomp_profiles;
    const bool closed = std::any_of(profiles.begin(), profiles.end(), [&](const std::string& name) {
        return std::find(kClosed.begin(), kClosed.end(), name) != kClosed.end();
    });
    if (!closed) plan.seccomp_profiles.insert(plan.seccomp_profiles.begin(), "default");
    close_memfd(plan, host);
    return plan;
}

}  // namespace rung::plan

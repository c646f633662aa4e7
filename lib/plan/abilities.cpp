// One small grant for each field, put to the test that `create` puts every grant to.
// SPDX-License-Identifier: Apache-2.0
#include "plan/abilities.hpp"

#include <utility>

#include "plan/narrow.hpp"

namespace rung::plan {
namespace {

using grant::Grant;

Grant with_tools(std::vector<grant::Tool> tools) {
    Grant grant;
    grant.filesystem = grant::Filesystem{.rootfs = grant::RootfsAccess::read_only};
    grant.tools = std::move(tools);
    return grant;
}

// Reads the image, runs its programs, and asks for one thing more.
template <typename Change>
Grant asking_for(Change change) {
    Grant grant = with_tools({{.path = "/"}});
    change(grant);
    return grant;
}

std::vector<std::pair<std::string, Grant>> samples() {
    Grant closed = with_tools({{.path = "/"}});
    closed.filesystem->rootfs = grant::RootfsAccess::none;
    return {
        {"filesystem.rootfs: none", closed},
        {"filesystem.rootfs: readOnly", with_tools({{.path = "/"}})},
        {"filesystem.tmpfs", asking_for([](Grant& grant) {
             grant.filesystem->tmpfs = {{"/tmp", 1 << 20}};
         })},
        {"tools: [/]", with_tools({{.path = "/"}})},
        {"tools", with_tools({{.path = "/bin/sh"}})},
        {"tools.sha256", with_tools({{.path = "/bin/sh", .sha256 = std::string(64, '0')}})},
        {"network.egress", asking_for([](Grant& grant) {
             grant.network = grant::Network{.egress = {{.host = "api.example.com"}}};
         })},
        {"network.ingress",
         asking_for([](Grant& grant) { grant.network = grant::Network{.ingress_ports = {8080}}; })},
        {"devices", asking_for([](Grant& grant) { grant.devices = {"vendor.com/gpu=0"}; })},
        {"secrets", asking_for([](Grant& grant) { grant.secrets = {{.name = "token"}}; })},
        {"limits.memory", asking_for([](Grant& grant) { grant.limits.memory = 1 << 20; })},
        {"limits.cpu", asking_for([](Grant& grant) { grant.limits.cpu_milli = 100; })},
        {"limits.pids", asking_for([](Grant& grant) { grant.limits.pids = 10; })},
        {"limits.openFiles", asking_for([](Grant& grant) { grant.limits.open_files = 10; })},
        {"limits.ephemeralStorage",
         asking_for([](Grant& grant) { grant.limits.ephemeral_storage = 1 << 20; })},
        {"budgets.activeDeadlineSeconds",
         asking_for([](Grant& grant) { grant.budgets = grant::Budgets{.active_deadline_seconds = 1}; })},
        {"budgets.maxOps", asking_for([](Grant& grant) { grant.budgets = grant::Budgets{.max_ops = 1}; })},
        {"budgets.maxOutputBytes",
         asking_for([](Grant& grant) { grant.budgets = grant::Budgets{.max_output_bytes = 1}; })},
        {"budgets.maxEgressBytes",
         asking_for([](Grant& grant) { grant.budgets = grant::Budgets{.max_egress_bytes = 1}; })},
        {"isolation.minimum: gvisor",
         asking_for([](Grant& grant) { grant.isolation = grant::Isolation::gvisor; })},
        {"isolation.minimum: microvm",
         asking_for([](Grant& grant) { grant.isolation = grant::Isolation::microvm; })},
        {"audit.level", asking_for([](Grant& grant) { grant.audit_level = grant::AuditLevel::denials; })},
        {"audit.feedback", asking_for([](Grant& grant) { grant.audit_feedback = true; })},
    };
}

// "grant_unenforceable: FIELD: WHAT" -> WHAT
std::string what_is_missing(const Error& error) {
    size_t begin = 0;
    for (int colons = 0; colons < 2; ++colons) {
        const size_t found = error.message.find(": ", begin);
        if (found == std::string::npos) return error.message;
        begin = found + 2;
    }
    return error.message.substr(begin);
}

}  // namespace

std::vector<Ability> abilities_of(const kernel::HostFacts& host) {
    std::vector<Ability> abilities;
    for (const auto& [field, grant] : samples()) {
        const auto possible = check_host(grant, host);
        abilities.push_back({.field = field, .missing = possible ? "" : what_is_missing(possible.error())});
    }
    return abilities;
}

Status check_host(const grant::Grant& grant, const kernel::HostFacts& host) {
    return check_enforceable(config::Spec{}, grant, host);
}

}  // namespace rung::plan

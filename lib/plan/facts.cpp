// From the plan's values to words. Every section has its own function; a fact that would say nothing is left out.
// SPDX-License-Identifier: Apache-2.0
#include "plan/facts.hpp"

#include <sys/resource.h>

#include <algorithm>
#include <array>

#include "config/capability.hpp"
#include "kernel/landlock.hpp"
#include "plan/narrow.hpp"

namespace rung::plan {
namespace {

using config::Capabilities;
using config::NamespaceType;
using config::Spec;

std::string rlimit_name(int resource) {
    constexpr std::array kNames = {"RLIMIT_CPU",      "RLIMIT_FSIZE", "RLIMIT_DATA",   "RLIMIT_STACK",
                                   "RLIMIT_CORE",     "RLIMIT_RSS",   "RLIMIT_NPROC",  "RLIMIT_NOFILE",
                                   "RLIMIT_MEMLOCK",  "RLIMIT_AS",    "RLIMIT_LOCKS",  "RLIMIT_SIGPENDING",
                                   "RLIMIT_MSGQUEUE", "RLIMIT_NICE",  "RLIMIT_RTPRIO", "RLIMIT_RTTIME"};
    const auto index = static_cast<size_t>(resource);
    return index < kNames.size() ? kNames[index] : "RLIMIT_" + std::to_string(resource);
}

std::string limit_text(uint64_t limit) {
    return limit == RLIM_INFINITY ? "unlimited" : std::to_string(limit);
}

// Quoted where a shell would need it.
std::string command_text(const std::vector<std::string>& args) {
    std::string text;
    for (const std::string& arg : args) {
        const bool plain =
            !arg.empty() && arg.find_first_of(" \t\n\"'\\$&|;<>*?()[]{}#~`!") == std::string::npos;
        std::string shown = arg;
        for (size_t at = shown.find('\n'); at != std::string::npos; at = shown.find('\n', at))
            shown.replace(at, 1, "\\n");
        text += (text.empty() ? "" : " ") + (plain ? shown : "'" + shown + "'");
    }
    return text;
}

std::string numbers_text(const std::vector<uint32_t>& numbers) {
    std::vector<std::string> words;
    for (const uint32_t number : numbers)
        words.push_back(std::to_string(number));
    return list_text(words);
}

FactSection process_facts(const SandboxPlan& plan) {
    const config::Process& process = plan.spec.process;
    FactSection section{.title = "process"};
    const auto add = [&](const char* name, std::string value) {
        section.facts.push_back({name, std::move(value)});
    };
    add("command", command_text(process.args));
    add("directory", process.cwd);
    add("user", std::to_string(process.user.uid) + ":" + std::to_string(process.user.gid));
    add("groups", numbers_text(process.user.additional_gids));
    add("terminal", process.terminal ? "yes" : "no");
    add("environment", std::to_string(process.env.size()) + " variables");
    add("no new privileges", process.no_new_privileges ? "yes" : "no");
    for (const config::Rlimit& limit : process.rlimits) {
        section.facts.push_back({rlimit_name(limit.resource),
                                 limit_text(limit.soft) + " soft, " + limit_text(limit.hard) + " hard"});
    }
    if (process.oom_score_adj) add("oom score", std::to_string(*process.oom_score_adj));
    if (!process.apparmor_profile.empty()) add("apparmor", process.apparmor_profile);
    if (!process.selinux_label.empty()) add("selinux", process.selinux_label);
    return section;
}

FactSection capability_facts(const SandboxPlan& plan) {
    const Capabilities sets = plan.spec.process.capabilities.value_or(Capabilities{});
    FactSection section{.title = "capabilities"};
    const auto add = [&](const char* name, uint64_t set) {
        section.facts.push_back({name, list_text(config::capability_names(set))});
    };
    add("bounding", sets.bounding);
    add("effective", sets.effective);
    add("permitted", sets.permitted);
    add("inheritable", sets.inheritable);
    add("ambient", sets.ambient);
    return section;
}

FactSection filesystem_facts(const SandboxPlan& plan) {
    const Spec& spec = plan.spec;
    FactSection section{.title = "file system"};
    section.facts.push_back({"/", spec.root.read_only ? "image, read-only" : "image, writable"});
    for (const Slice& slice : plan.slices) {
        section.facts.push_back({slice.path, slice.mount.empty() ? "piece of the image, writable"
                                                                 : "piece of " + slice.mount + ", writable"});
    }
    for (const config::Mount& mount : spec.mounts) {
        std::string value = mount.type.empty() ? "bind" : mount.type;
        if (!mount.source.empty() && mount.source != mount.type) value += " of " + mount.source;
        section.facts.push_back({mount.destination, value + " (" + list_text(mount.options) + ")"});
    }
    for (const std::string& path : plan.pinned)
        section.facts.push_back({path, "cannot be moved"});
    for (const std::string& path : spec.linux_.readonly_paths)
        section.facts.push_back({path, "read-only"});
    for (const std::string& path : spec.linux_.masked_paths)
        section.facts.push_back({path, "masked"});
    return section;
}

FactSection device_facts(const SandboxPlan& plan) {
    FactSection section{.title = "devices"};
    for (const config::Device& device : plan.spec.linux_.devices) {
        section.facts.push_back(
            {device.path, std::to_string(device.major) + ":" + std::to_string(device.minor)});
    }
    for (const config::DeviceRule& rule : plan.spec.linux_.resources.devices) {
        const auto number = [](const std::optional<int64_t>& value) {
            return value && *value >= 0 ? std::to_string(*value) : std::string("*");
        };
        section.facts.push_back({rule.allow ? "allow" : "deny", std::string(1, rule.type) + " " +
                                                                    number(rule.major) + ":" +
                                                                    number(rule.minor) + " " + rule.access});
    }
    return section;
}

FactSection file_facts(const SandboxPlan& plan) {
    FactSection section{.title = "files (Landlock)"};
    for (const child::FileRule& rule : plan.files.rules)
        section.facts.push_back({rule.path, access_text(rule.access)});
    if (plan.granted && plan.files.handled == 0)
        section.facts.push_back({"none", "this kernel has no Landlock; the mounts alone decide"});
    return section;
}

FactSection namespace_facts(const SandboxPlan& plan) {
    FactSection section{.title = "namespaces"};
    for (const config::Namespace& each : plan.spec.linux_.namespaces) {
        std::string value = each.path.empty() ? "new" : "joins " + each.path;
        if (each.type == NamespaceType::network && plan.routeless_network) {
            value = plan.keep_engine_network ? "new, only lo; hooks see the engine's" : "new, only lo";
        }
        section.facts.push_back({std::string(namespace_name(each.type)), value});
    }
    if (!plan.spec.hostname.empty()) section.facts.push_back({"hostname", plan.spec.hostname});
    if (!plan.spec.domainname.empty()) section.facts.push_back({"domainname", plan.spec.domainname});
    for (const auto& [key, value] : plan.spec.linux_.sysctl)
        section.facts.push_back({key, value});
    if (plan.memfd_noexec) section.facts.push_back({"vm.memfd_noexec", "2"});
    return section;
}

FactSection resource_facts(const SandboxPlan& plan) {
    const config::Resources& resources = plan.spec.linux_.resources;
    FactSection section{.title = "resources"};
    const auto add = [&](const char* name, const auto& value) {
        if (value) section.facts.push_back({name, *value < 0 ? "unlimited" : std::to_string(*value)});
    };
    const auto add_unsigned = [&](const char* name, const std::optional<uint64_t>& value) {
        if (value) section.facts.push_back({name, std::to_string(*value)});
    };
    add("memory", resources.memory.limit);
    add("memory and swap", resources.memory.swap);
    add("memory reservation", resources.memory.reservation);
    add_unsigned("cpu shares", resources.cpu.shares);
    add("cpu quota", resources.cpu.quota);
    add_unsigned("cpu period", resources.cpu.period);
    if (!resources.cpu.cpus.empty()) section.facts.push_back({"cpus", resources.cpu.cpus});
    if (!resources.cpu.mems.empty()) section.facts.push_back({"memory nodes", resources.cpu.mems});
    add("pids", resources.pids_limit);
    for (const auto& [file, value] : resources.unified)
        section.facts.push_back({file, value});
    if (!plan.spec.linux_.cgroups_path.empty())
        section.facts.push_back({"cgroup", plan.spec.linux_.cgroups_path});
    return section;
}

FactSection filter_facts(const SandboxPlan& plan) {
    FactSection section{.title = "system call filters"};
    for (const std::string& name : plan.seccomp_profiles)
        section.facts.push_back({name, "rung's profile"});
    if (plan.spec.linux_.seccomp) {
        section.facts.push_back(
            {"config.json", std::to_string(plan.spec.linux_.seccomp->rules.size()) + " rules"});
    }
    if (section.facts.empty()) section.facts.push_back({"none", "every system call is allowed"});
    return section;
}

FactSection hook_facts(const SandboxPlan& plan) {
    FactSection section{.title = "hooks"};
    const auto add = [&](const char* kind, const std::vector<config::Hook>& hooks) {
        for (const config::Hook& hook : hooks)
            section.facts.push_back({kind, hook.path});
    };
    add("prestart", plan.spec.hooks.prestart);
    add("createRuntime", plan.spec.hooks.create_runtime);
    add("createContainer", plan.spec.hooks.create_container);
    add("startContainer", plan.spec.hooks.start_container);
    add("poststart", plan.spec.hooks.poststart);
    add("poststop", plan.spec.hooks.poststop);
    return section;
}

}  // namespace

std::string_view namespace_name(NamespaceType type) {
    switch (type) {
        case NamespaceType::mount:
            return "mount";
        case NamespaceType::pid:
            return "pid";
        case NamespaceType::network:
            return "network";
        case NamespaceType::ipc:
            return "ipc";
        case NamespaceType::uts:
            return "uts";
        case NamespaceType::user:
            return "user";
        case NamespaceType::cgroup:
            return "cgroup";
        case NamespaceType::time:
            return "time";
    }
    return "";
}

std::string access_text(uint64_t access) {
    using namespace kernel;
    constexpr std::pair<uint64_t, const char*> kWords[] = {
        {landlock::kReadFile, "read"},   {landlock::kReadDirectory, "list"},
        {landlock::kWriteFile, "write"}, {landlock::kMakeFile, "make and remove"},
        {landlock::kExecute, "execute"}, {landlock::kIoctlOnDevice, "control devices"}};
    std::vector<std::string> words;
    for (const auto& [bit, word] : kWords) {
        if ((access & bit) != 0) words.emplace_back(word);
    }
    return list_text(words);
}

std::vector<FactSection> facts_of(const SandboxPlan& plan) {
    const std::string grant = plan.granted ? "yes: config.json met with every grant present"
                                           : "none: a plain OCI container, as config.json says";
    return {{.title = "sandbox", .facts = {{"grant", grant}}},
            process_facts(plan),
            capability_facts(plan),
            filesystem_facts(plan),
            file_facts(plan),
            device_facts(plan),
            namespace_facts(plan),
            resource_facts(plan),
            filter_facts(plan),
            hook_facts(plan)};
}

}  // namespace rung::plan

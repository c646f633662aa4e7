// The process object: of config.json, and alone for `exec --process`.
// SPDX-License-Identifier: Apache-2.0
#include <linux/ioprio.h>
#include <linux/sched.h>
#include <sched.h>
#include <sys/resource.h>

#include <algorithm>

#include "config/capability.hpp"
#include "config/id_list.hpp"
#include "config/named_value.hpp"
#include "config/quoted.hpp"
#include "config/readers.hpp"

namespace rung::config {
namespace {

constexpr NamedValue kRlimits[] = {
    {"RLIMIT_AS", RLIMIT_AS},
    {"RLIMIT_CORE", RLIMIT_CORE},
    {"RLIMIT_CPU", RLIMIT_CPU},
    {"RLIMIT_DATA", RLIMIT_DATA},
    {"RLIMIT_FSIZE", RLIMIT_FSIZE},
    {"RLIMIT_LOCKS", RLIMIT_LOCKS},
    {"RLIMIT_MEMLOCK", RLIMIT_MEMLOCK},
    {"RLIMIT_MSGQUEUE", RLIMIT_MSGQUEUE},
    {"RLIMIT_NICE", RLIMIT_NICE},
    {"RLIMIT_NOFILE", RLIMIT_NOFILE},
    {"RLIMIT_NPROC", RLIMIT_NPROC},
    {"RLIMIT_RSS", RLIMIT_RSS},
    {"RLIMIT_RTPRIO", RLIMIT_RTPRIO},
    {"RLIMIT_RTTIME", RLIMIT_RTTIME},
    {"RLIMIT_SIGPENDING", RLIMIT_SIGPENDING},
    {"RLIMIT_STACK", RLIMIT_STACK},
};

// SCHED_ISO (4) is reserved in the kernel, and so without a name in the headers.
constexpr NamedValue kPolicies[] = {
    {"SCHED_OTHER", SCHED_OTHER},       {"SCHED_FIFO", SCHED_FIFO}, {"SCHED_RR", SCHED_RR},
    {"SCHED_BATCH", SCHED_BATCH},       {"SCHED_ISO", 4},           {"SCHED_IDLE", SCHED_IDLE},
    {"SCHED_DEADLINE", SCHED_DEADLINE},
};

constexpr NamedValue kSchedulerFlags[] = {
    {"SCHED_FLAG_RESET_ON_FORK", SCHED_FLAG_RESET_ON_FORK},
    {"SCHED_FLAG_RECLAIM", SCHED_FLAG_RECLAIM},
    {"SCHED_FLAG_DL_OVERRUN", SCHED_FLAG_DL_OVERRUN},
    {"SCHED_FLAG_KEEP_POLICY", SCHED_FLAG_KEEP_POLICY},
    {"SCHED_FLAG_KEEP_PARAMS", SCHED_FLAG_KEEP_PARAMS},
    {"SCHED_FLAG_UTIL_CLAMP_MIN", SCHED_FLAG_UTIL_CLAMP_MIN},
    {"SCHED_FLAG_UTIL_CLAMP_MAX", SCHED_FLAG_UTIL_CLAMP_MAX},
};

constexpr NamedValue kIoClasses[] = {
    {"IOPRIO_CLASS_RT", IOPRIO_CLASS_RT},
    {"IOPRIO_CLASS_BE", IOPRIO_CLASS_BE},
    {"IOPRIO_CLASS_IDLE", IOPRIO_CLASS_IDLE},
};

int read_named(const Object& object, std::string_view field, std::span<const NamedValue> table,
               const std::string& what) {
    const std::string name = object.text(field);
    const auto value = find_value(table, name);
    if (!value) object.refuse(field, "unknown " + what + " " + quoted(name));
    return value.value_or(0);
}

User read_user(const Object& object) {
    return {.uid = object.uint32("uid").value_or(0),
            .gid = object.uint32("gid").value_or(0),
            .umask = object.uint32("umask"),
            .additional_gids = object.uint32s("additionalGids")};
}

// The set with the names that are known; the others join `unknown`, once each.
uint64_t capability_set(const std::vector<std::string>& names, std::vector<std::string>& unknown) {
    uint64_t set = 0;
    for (const std::string& name : names) {
        if (const auto number = capability_number(name)) {
            set |= uint64_t{1} << *number;
        } else if (std::find(unknown.begin(), unknown.end(), name) == unknown.end()) {
            unknown.push_back(name);
        }
    }
    return set;
}

Capabilities read_capabilities(const Object& object) {
    Capabilities sets;
    sets.bounding = capability_set(object.texts("bounding"), sets.unknown);
    sets.effective = capability_set(object.texts("effective"), sets.unknown);
    sets.permitted = capability_set(object.texts("permitted"), sets.unknown);
    sets.inheritable = capability_set(object.texts("inheritable"), sets.unknown);
    sets.ambient = capability_set(object.texts("ambient"), sets.unknown);
    return sets;
}

Scheduler read_scheduler(const Object& object) {
    Scheduler scheduler;
    if (object.text("policy").empty()) object.refuse("policy", "scheduler policy is required");
    scheduler.policy = static_cast<uint32_t>(read_named(object, "policy", kPolicies, "scheduling policy"));
    scheduler.nice = object.int32("nice").value_or(0);
    const int32_t priority = object.int32("priority").value_or(0);
    if (priority < 0) object.refuse("priority", "must not be negative");
    scheduler.priority = static_cast<uint32_t>(std::max(priority, 0));
    for (const std::string& name : object.texts("flags")) {
        const auto flag = find_value(kSchedulerFlags, name);
        if (!flag) object.refuse("flags", "unknown scheduler flag " + quoted(name));
        scheduler.flags |= static_cast<uint64_t>(flag.value_or(0));
    }
    scheduler.runtime = object.uint64("runtime").value_or(0);
    scheduler.deadline = object.uint64("deadline").value_or(0);
    scheduler.period = object.uint64("period").value_or(0);
    // Zero is another mistake than nothing, and only here the two can be told apart.
    for (const char* name : {"runtime", "deadline"}) {
        if (scheduler.policy == SCHED_DEADLINE && !object.has(name))
            object.refuse(name, "sched_setattr: `SCHED_DEADLINE` requires `" + std::string{name} + "`");
    }
    return scheduler;
}

std::vector<Rlimit> read_rlimits(const Object& process) {
    std::vector<Rlimit> rlimits;
    for (const Object& object : process.objects("rlimits")) {
        rlimits.push_back({.resource = read_named(object, "type", kRlimits, "rlimit type"),
                           .soft = object.uint64("soft").value_or(0),
                           .hard = object.uint64("hard").value_or(0)});
    }
    return rlimits;
}

std::vector<uint64_t> read_cpus(const Object& object, std::string_view field) {
    auto cpus = parse_id_list(object.text(field));
    if (!cpus) object.refuse(field, cpus.error().message);
    return cpus ? *std::move(cpus) : std::vector<uint64_t>{};
}

}  // namespace

Process read_process(const Object& object) {
    Process process;
    process.terminal = object.boolean("terminal");
    if (object.has_object("consoleSize")) {
        const Object size = object.object("consoleSize");
        process.console_size = {.height = size.uint16("height").value_or(0),
                                .width = size.uint16("width").value_or(0)};
    }
    const Object user = object.object("user");
    process.user = read_user(user);
    process.args = object.texts("args");
    process.env = object.texts("env");
    process.cwd = object.text("cwd");
    const Object capabilities = object.object("capabilities");
    // An empty object grants nothing; only without one `exec --process` takes the container's.
    if (object.has_object("capabilities")) process.capabilities = read_capabilities(capabilities);
    process.rlimits = read_rlimits(object);
    process.no_new_privileges = object.boolean("noNewPrivileges");
    process.apparmor_profile = object.text("apparmorProfile");
    process.selinux_label = object.text("selinuxLabel");
    process.oom_score_adj = object.int32("oomScoreAdj");
    const Object scheduler = object.object("scheduler");
    if (object.has("scheduler")) process.scheduler = read_scheduler(scheduler);
    if (object.has("ioPriority")) {
        const Object priority = object.object("ioPriority");
        process.io_priority = {.io_class = read_named(priority, "class", kIoClasses, "I/O priority class"),
                               .priority = priority.int32("priority").value_or(0)};
    }
    const Object affinity = object.object("execCPUAffinity");
    process.exec_cpu_affinity = {.initial = read_cpus(affinity, "initial"),
                                 .final = read_cpus(affinity, "final")};
    return process;
}

}  // namespace rung::config

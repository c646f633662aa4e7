// Rules over the values of a Spec, most of them about fields that only make sense together.
// SPDX-License-Identifier: Apache-2.0
#include "config/validate.hpp"

#include <linux/sched.h>
#include <sched.h>

#include <algorithm>
#include <set>
#include <tuple>

#include "base/path.hpp"
#include "config/mount_options.hpp"
#include "config/parse.hpp"
#include "config/quoted.hpp"
#include "config/sysctl.hpp"

namespace rung::config {
namespace {

// Collects "FIELD: WHAT" errors of one part under its prefix.
Error wrong(std::string_view prefix, std::string_view field, std::string_view what) {
    Error error{.message = std::string{prefix}};
    error.message += field;
    error.message += ": ";
    error.message += what;
    return error;
}

std::string indexed(std::string_view name, size_t index) {
    return std::string{name} + "[" + std::to_string(index) + "]";
}

// What sched_setattr(2) would answer with EINVAL, without saying which number it was. The limits of the period are the host's, so they stay
// the kernel's affair. crun's users know the words.
Status validate_deadline(const Scheduler& scheduler, std::string_view prefix) {
    constexpr uint64_t kShortest = 1024;  // nanoseconds; the kernel counts in units of this
    constexpr uint64_t kLongest = (uint64_t{1} << 63) - 1;
    const auto refused = [&](const char* field, const std::string& what) {
        return wrong(prefix, std::string{"scheduler."} + field,
                     std::string{"sched_setattr: `SCHED_DEADLINE` "} + field + what);
    };
    const auto number = [](uint64_t value) { return "(" + std::to_string(value) + ")"; };
    const auto [runtime, deadline, period] =
        std::tuple{scheduler.runtime, scheduler.deadline, scheduler.period};
    if (runtime == 0) return refused("runtime", " must be greater than 0");
    if (deadline == 0) return refused("deadline", " must be greater than 0");
    if (runtime > deadline) {
        return refused("runtime", " " + number(runtime) + " must be <= deadline " + number(deadline));
    }
    if (period != 0 && deadline > period) {
        return refused("deadline", " " + number(deadline) + " must be <= period " + number(period));
    }
    const auto in_range = [&](const char* field, uint64_t value) -> Status {
        if (value >= kShortest && value <= kLongest) return {};
        return refused(field, " " + number(value) + " must be between " + std::to_string(kShortest) +
                                  " and " + std::to_string(kLongest));
    };
    TRY(in_range("runtime", runtime));
    TRY(in_range("deadline", deadline));
    return period == 0 ? Status{} : in_range("period", period);
}

Status validate_scheduler(const Scheduler& scheduler, std::string_view prefix) {
    // The other classes have no nice value; the kernel looks at it in these two only.
    const bool has_nice = scheduler.policy == SCHED_OTHER || scheduler.policy == SCHED_BATCH;
    if (has_nice && (scheduler.nice < -20 || scheduler.nice > 19)) {
        return wrong(prefix, "scheduler.nice", "must be between -20 and 19");
    }
    const bool has_priorities = scheduler.policy == SCHED_FIFO || scheduler.policy == SCHED_RR;
    if (scheduler.priority != 0 && !has_priorities) {
        return wrong(prefix, "scheduler.priority", "can only be given for SCHED_FIFO and SCHED_RR");
    }
    const bool has_times = scheduler.runtime != 0 || scheduler.deadline != 0 || scheduler.period != 0;
    if (has_times && scheduler.policy != SCHED_DEADLINE) {
        return wrong(prefix, "scheduler",
                     "runtime, deadline and period can only be given for SCHED_DEADLINE");
    }
    if (scheduler.policy == SCHED_DEADLINE) return validate_deadline(scheduler, prefix);
    return {};
}

Status validate_environment(const Process& process, std::string_view prefix) {
    for (size_t index = 0; index < process.env.size(); ++index) {
        const std::string& entry = process.env[index];
        const size_t equals = entry.find('=');
        if (equals == std::string::npos) {
            return wrong(prefix, indexed("env", index),
                         "invalid environment variable: " + quoted(entry) + " has no '='");
        }
        if (equals == 0)
            return wrong(prefix, indexed("env", index), "environment variable name can't be empty");
    }
    return {};
}

// 4294967295 is "leave as it is" to setresuid(2): whoever asked for it would stay root.
Status validate_user(const User& user, std::string_view prefix) {
    constexpr uint32_t kMostId = 2147483647;
    constexpr std::string_view kWhat = "uids and gids must be in range 0-2147483647";
    if (user.uid > kMostId) return wrong(prefix, "user.uid", kWhat);
    if (user.gid > kMostId) return wrong(prefix, "user.gid", kWhat);
    for (const uint32_t gid : user.additional_gids) {
        if (gid > kMostId) return wrong(prefix, "user.additionalGids", kWhat);
    }
    return {};
}

Status validate_rlimits(const Process& process, std::string_view prefix) {
    std::set<int> seen;
    for (size_t index = 0; index < process.rlimits.size(); ++index) {
        const Rlimit& rlimit = process.rlimits[index];
        if (!seen.insert(rlimit.resource).second) {
            return wrong(prefix, indexed("rlimits", index), "this type was given before");
        }
        if (rlimit.soft > rlimit.hard) {
            return wrong(prefix, indexed("rlimits", index), "the soft limit is above the hard limit");
        }
    }
    return {};
}

bool is_known_propagation(std::string_view propagation) {
    const std::string_view kind = propagation.starts_with('r') ? propagation.substr(1) : propagation;
    return propagation.empty() || kind == "private" || kind == "shared" || kind == "slave" ||
           kind == "unbindable";
}

Status validate_namespaces(const Spec& spec) {
    std::set<NamespaceType> seen;
    for (size_t index = 0; index < spec.linux_.namespaces.size(); ++index) {
        const Namespace& one = spec.linux_.namespaces[index];
        const std::string field = indexed("linux.namespaces", index);
        if (!seen.insert(one.type).second) return wrong("", field, "this type was given before");
        if (!one.path.empty() && !path::is_absolute(one.path)) {
            return wrong("", field + ".path", "must be an absolute path");
        }
    }
    return {};
}

Status validate_mappings(const Spec& spec) {
    const Linux& linux_part = spec.linux_;
    const Namespace* user = spec.find_namespace(NamespaceType::user);
    const bool none = linux_part.uid_mappings.empty() && linux_part.gid_mappings.empty();
    if (user == nullptr) {
        if (none) return {};
        return wrong("", "linux.uidMappings", "mappings are given, but there is no user namespace to map");
    }
    // A namespace given by path has its mappings already; one without any gets those of the caller.
    if (!user->path.empty() || none) return {};
    if (linux_part.uid_mappings.empty()) {
        return wrong("", "linux.uidMappings", "user namespaces enabled, but no uid mappings found");
    }
    if (linux_part.gid_mappings.empty()) {
        return wrong("", "linux.gidMappings", "user namespaces enabled, but no gid mappings found");
    }
    return {};
}

// What dev_valid_name() of the kernel takes, and room for the NUL.
bool is_interface_name(std::string_view name) {
    constexpr size_t kMostCharacters = 15;
    return !name.empty() && name.size() <= kMostCharacters && name != "." && name != ".." &&
           name.find_first_of("/: \t\n\v\f\r") == std::string_view::npos;
}

Status validate_net_devices(const Spec& spec) {
    if (spec.linux_.net_devices.empty()) return {};
    if (!spec.has_namespace(NamespaceType::network)) {
        return wrong("", "linux.netDevices", "unable to move network devices without a NET namespace");
    }
    for (const auto& [name, inside] : spec.linux_.net_devices) {
        for (const std::string& each : {name, inside.empty() ? name : inside}) {
            if (!is_interface_name(each)) {
                return wrong("", "linux.netDevices", "invalid network device name " + quoted(each));
            }
        }
    }
    return {};
}

// The name becomes that of a directory.
Status validate_intel_rdt(const Spec& spec) {
    if (!spec.linux_.intel_rdt) return {};
    const IntelRdt& rdt = *spec.linux_.intel_rdt;
    const std::string& clos = rdt.clos_id;
    if (clos == "." || clos == ".." || (clos.size() > 1 && clos.find('/') != std::string::npos)) {
        return wrong("", "linux.intelRdt.closID", "invalid intelRdt.ClosID " + quoted(clos));
    }
    std::vector<std::string> lines = rdt.schemata;
    lines.push_back(rdt.l3_cache_schema);
    lines.push_back(rdt.memory_bandwidth_schema);
    for (const std::string& line : lines) {
        if (line.find('\n') != std::string::npos) {
            return wrong("", "linux.intelRdt", "a schema is one line: " + quoted(line));
        }
    }
    return {};
}

Status validate_time_offsets(const Spec& spec) {
    if (spec.linux_.time_offsets.empty()) return {};
    const Namespace* time = spec.find_namespace(NamespaceType::time);
    if (time == nullptr) return wrong("", "linux.timeOffsets", "there is no time namespace to set them in");
    if (!time->path.empty())
        return wrong("", "linux.timeOffsets", "cannot be set in a namespace given by path");
    for (const auto& [clock, offset] : spec.linux_.time_offsets) {
        if (clock != "monotonic" && clock != "boottime") {
            return wrong("", "linux.timeOffsets", "unknown clock " + quoted(clock));
        }
        if (offset.nanoseconds >= 1000000000) {
            return wrong("", "linux.timeOffsets." + clock, "nanosecs must be below 1000000000");
        }
    }
    return {};
}

enum class MountedBy { bind, filesystem };

// Mappings of its own, or those of the container's user namespace.
Status validate_idmap(const Spec& spec, const Mount& mount, const MountOptions& options,
                      const std::string& field, MountedBy how) {
    const bool none = mount.uid_mappings.empty() && mount.gid_mappings.empty();
    if (none && !options.idmap && !options.recursive_idmap) return {};
    if (how == MountedBy::filesystem) {
        return wrong("", field, "id-mapped mounts are only supported for bind-mounts");
    }
    if (none && spec.has_namespace(NamespaceType::user)) return {};
    if (!mount.uid_mappings.empty() && !mount.gid_mappings.empty()) return {};
    return wrong("", field, "id-mapped mounts must have both uid and gid mappings specified");
}

Status validate_mounts(const Spec& spec) {
    for (size_t index = 0; index < spec.mounts.size(); ++index) {
        const Mount& mount = spec.mounts[index];
        const std::string field = indexed("mounts", index);
        const MountOptions options = TRY(parse_mount_options(mount.options).context(field + ".options"));
        const bool binds = is_bind(mount, options);
        TRY(validate_idmap(spec, mount, options, field, binds ? MountedBy::bind : MountedBy::filesystem));
        if (!binds) continue;
        // "mode=755" the kernel ignores, and so do others. A lone word may be "noexec", mistyped.
        for (const auto& [name, value] : options.data) {
            if (!value.empty()) continue;
            return wrong("", field + ".options",
                         "a bind mount takes no file system option, such as " + quoted(name));
        }
        if (mount.source.empty()) return wrong("", field + ".source", "a bind mount needs a source");
    }
    return {};
}

}  // namespace

Status validate_process(const Process& process, std::string_view prefix) {
    if (process.args.empty()) return wrong(prefix, "args", "must not be empty");
    if (process.cwd.empty()) return wrong(prefix, "cwd", "must not be empty");
    if (!path::is_absolute(process.cwd)) return wrong(prefix, "cwd", "must be an absolute path");
    TRY(validate_user(process.user, prefix));
    TRY(validate_environment(process, prefix));
    TRY(validate_rlimits(process, prefix));
    const int score = process.oom_score_adj.value_or(0);
    if (score < -1000 || score > 1000) return wrong(prefix, "oomScoreAdj", "must be between -1000 and 1000");
    if (process.scheduler) TRY(validate_scheduler(*process.scheduler, prefix));
    if (process.io_priority && (process.io_priority->priority < 0 || process.io_priority->priority > 7)) {
        return wrong(prefix, "ioPriority.priority", "must be between 0 and 7");
    }
    return {};
}

Status validate_linux(const Spec& spec) {
    const Linux& linux_part = spec.linux_;
    TRY(validate_namespaces(spec));
    TRY(validate_mappings(spec));
    TRY(validate_time_offsets(spec));
    TRY(validate_net_devices(spec));
    TRY(validate_intel_rdt(spec));
    if (!is_known_propagation(linux_part.rootfs_propagation)) {
        return wrong("", "linux.rootfsPropagation",
                     quoted(linux_part.rootfs_propagation) + " is not supported");
    }
    const bool masks = !linux_part.masked_paths.empty() || !linux_part.readonly_paths.empty();
    if (masks && !spec.has_namespace(NamespaceType::mount)) {
        const std::string_view field =
            linux_part.masked_paths.empty() ? "linux.readonlyPaths" : "linux.maskedPaths";
        return wrong("", field, "unable to restrict sys entries without a private MNT namespace");
    }
    TRY(validate_sysctl(spec));
    return validate_resources(linux_part.resources, "linux.resources.");
}

Status validate(const Spec& spec) {
    const auto validate_all = [&]() -> Status {
        if (spec.root.path.empty()) return wrong("", "root.path", "must not be empty");
        TRY(validate_process(spec.process, "process."));
        if (!spec.hostname.empty() && !spec.has_namespace(NamespaceType::uts)) {
            return wrong("", "hostname", "unable to set hostname without a private UTS namespace");
        }
        if (!spec.domainname.empty() && !spec.has_namespace(NamespaceType::uts)) {
            return wrong("", "domainname", "unable to set domainname without a private UTS namespace");
        }
        TRY(validate_mounts(spec));
        return validate_linux(spec);
    };
    return validate_all().context("config.json");
}

}  // namespace rung::config

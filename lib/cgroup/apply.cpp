// Writing limits and device rules into a cgroup.
// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>

#include <cerrno>
#include <charconv>

#include "base/log.hpp"
#include "cgroup/cgroup.hpp"
#include "cgroup/controllers.hpp"
#include "cgroup/current.hpp"
#include "cgroup/devices.hpp"
#include "cgroup/directories.hpp"
#include "cgroup/systemd.hpp"
#include "kernel/files.hpp"

namespace rung::cgroup {

namespace {

std::string path_of(const Cgroup& cgroup, const Write& write, const Spelling& spelling) {
    return cgroup.directory_of(write.controller) + "/" + spelling.file;
}

Status write_value(const Cgroup& cgroup, const Write& write) {
    const Status written = kernel::write_file(path_of(cgroup, write, write.spelling), write.spelling.value);
    if (written || written.error().errno_value != ENOENT || !write.otherwise) return written;
    return kernel::write_file(path_of(cgroup, write, *write.otherwise), write.otherwise->value);
}

Error explain(const Cgroup& cgroup, const Write& write, Error error) {
    const std::string field = "linux.resources." + write.field;
    if (error.errno_value == ENOENT && cgroup.layout == kernel::CgroupLayout::v2) {
        // Matched by runc's tests.
        if (write.field.starts_with("unified") && !has_controller(cgroup.unified, write.controller)) {
            return Error{.message = "unified resource \"" + write.spelling.file +
                                    "\" can't be set: controller \"" + write.controller + "\" not available",
                         .errno_value = ENOENT};
        }
        return Error{.message = field + ": " + write.spelling.file + " is missing in " + cgroup.unified +
                                ": " +
                                why_missing(cgroup.unified_mount_point, cgroup.unified, write.controller),
                     .errno_value = error.errno_value};
    }
    if (error.errno_value == EBUSY && write.spelling.file == "memory.limit_in_bytes") {
        const auto usage = kernel::read_file(cgroup.directory_of("memory") + "/memory.usage_in_bytes");
        if (usage) error = std::move(error).context("current usage: " + without_newline(*usage));
    }
    return std::move(error).context("failed to write \"" + write.spelling.value + "\"").context(field);
}

// Which of two limits has to move first depends on their values of now (limit and limit with swap; period and
// quota; quota and burst): what is refused is tried again when the others are written.
Status write_all(const Cgroup& cgroup, const std::vector<Write>& writes) {
    std::vector<const Write*> refused;
    for (const Write& write : writes) {
        const Status written = write_value(cgroup, write);
        if (written) continue;
        const int reason = written.error().errno_value;
        if (reason == ENOENT && write.may_be_absent) continue;
        if (reason != EINVAL && reason != EBUSY) return explain(cgroup, write, written.error());
        refused.push_back(&write);
    }
    for (const Write* write : refused) {
        const Status written = write_value(cgroup, *write);
        if (!written) return explain(cgroup, *write, written.error());
    }
    return {};
}

Result<int64_t> read_number(const std::string& file) {
    const std::string text = TRY(kernel::read_file(file));
    int64_t number = 0;
    (void)std::from_chars(text.data(), text.data() + text.size(), number);
    return number;
}

Status reject_below_usage(const std::string& what, int64_t limit, int64_t usage) {
    if (limit >= usage) return {};
    return Error{.message = "rejecting " + what + " limit " + std::to_string(limit) +
                            " because it is below the usage, " + std::to_string(usage)};
}

// memory.checkBeforeUpdate: the kernel itself would kill to get below a new limit.
Status check_memory_usage(const Cgroup& cgroup, const config::MemoryResources& memory) {
    if (!memory.check_before_update.value_or(false)) return {};
    const std::string directory = cgroup.directory_of("memory");
    const bool is_v2 = cgroup.layout == kernel::CgroupLayout::v2;
    if (memory.limit.value_or(0) > 0) {
        const char* file = is_v2 ? "/memory.current" : "/memory.usage_in_bytes";
        TRY(reject_below_usage("memory", *memory.limit, TRY(read_number(directory + file))));
    }
    if (memory.swap.value_or(0) > 0) {
        const int64_t usage = is_v2 ? TRY(read_number(directory + "/memory.current")) +
                                          TRY(read_number(directory + "/memory.swap.current"))
                                    : TRY(read_number(directory + "/memory.memsw.usage_in_bytes"));
        TRY(reject_below_usage("memory+swap", *memory.swap, usage));
    }
    return {};
}

Status apply_v1_devices(const std::string& directory, const std::vector<config::DeviceRule>& rules) {
    const DevicePolicy policy = TRY(reduce_to_policy(rules));
    const std::string current = TRY(kernel::read_file(directory + "/devices.list"));
    const Fd allow = TRY(kernel::open_at(AT_FDCWD, directory + "/devices.allow", O_WRONLY));
    const Fd deny = TRY(kernel::open_at(AT_FDCWD, directory + "/devices.deny", O_WRONLY));
    for (const DeviceWrite& write : plan_device_writes(policy, current)) {
        const Fd& file = write.file == "devices.allow" ? allow : deny;
        TRY(kernel::write_once(file, directory + "/" + write.file, write.value));
    }
    return {};
}

// The rule that every config.json begins with.
bool is_deny_all(const config::Resources& resources) {
    return resources.devices.size() == 1 && !resources.devices_are_complete &&
           resources.devices[0].type == 'a' && !resources.devices[0].allow;
}

Status apply_devices(const Cgroup& cgroup, const config::Resources& resources) {
    const std::vector<config::DeviceRule>& given = resources.devices;
    // Neither mechanism is permitted there, and device nodes cannot be made or opened anew anyway.
    if (is_rootless() || cgroup.manager == Manager::disabled) return {};
    const std::vector<config::DeviceRule> rules =
        resources.devices_are_complete ? given : with_usual_devices(given);
    const std::string directory = cgroup.directory_of("devices");
    if (directory.empty()) {
        if (given.empty() || allows_everything(rules)) return {};
        if (!is_deny_all(resources))
            return Error{.message = "there is no cgroup to enforce device rules with"};
        log::warn("linux.resources.devices is not enforced: the container has no cgroup for it");
        return {};
    }
    if (cgroup.layout != kernel::CgroupLayout::v2) return apply_v1_devices(directory, rules);
    if (allows_everything(rules)) return {};
    return attach_device_program(directory, compile_device_program(rules));
}

}  // namespace

Status apply(const Cgroup& cgroup, const config::Resources& resources) {
    TRY(apply_devices(cgroup, resources).context("linux.resources.devices"));
    return write_all(cgroup, TRY(plan_writes(cgroup, resources)));
}

Status update(const Cgroup& cgroup, const config::Resources& resources) {
    const config::Resources wanted = with_current_partners(cgroup, resources);
    const std::vector<Write> writes = TRY(plan_writes(cgroup, wanted));
    TRY(check_memory_usage(cgroup, wanted.memory));
    const std::vector<Content> before = read_contents(cgroup, writes);
    Status updated = write_all(cgroup, writes);
    // After it, so that what the kernel refuses is not the unit's either. systemd then writes files of its own accord, more coarsely
    // than they can be, and also such as are not named here.
    if (updated && cgroup.unit) {
        const std::vector<Content> exact = read_contents_of_unit(cgroup);
        updated = set_unit_limits(cgroup, writes);
        if (updated) put_back(exact);
    }
    if (!updated) put_back(before);
    return updated;
}

}  // namespace rung::cgroup

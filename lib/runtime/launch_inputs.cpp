// What the parent does for the child before the clone: mount trees, namespaces, filters.
// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/sysmacros.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <cerrno>

#include "base/log.hpp"
#include "child/descriptors.hpp"
#include "config/parse.hpp"
#include "kernel/files.hpp"
#include "kernel/syscalls.hpp"
#include "runtime/id_mapped.hpp"
#include "runtime/launch.hpp"
#include "runtime/wording.hpp"
#include "seccomp/compile.hpp"
#include "seccomp/profiles.hpp"

namespace rung::runtime {
namespace {

// Filters are the same for every container of an engine: compiled once a boot, shared by every --root.
constexpr const char* kFilterCache = "/run/rung/.seccomp";

constexpr uint64_t kAccessTimes = ST_NOATIME | ST_NODIRATIME | ST_RELATIME;

Status set_attributes(const Fd& tree, const mount_attr& attributes, unsigned int flags) {
    const int result = kernel::mount_setattr(tree.get(), "", AT_EMPTY_PATH | flags, attributes);
    if (result >= 0) return {};
    struct statfs status {};
    const bool refused = result == -EPERM && attributes.attr_clr != 0 && fstatfs(tree.get(), &status) == 0;
    // statfs(2) has the same bits.
    const uint64_t locked =
        refused ? static_cast<uint64_t>(status.f_flags) & attributes.attr_clr & child::kLockable : 0;
    return errno_error(locked != 0 ? wording::locked_attributes(locked) : "set mount attributes", -result);
}

Result<uint64_t> attributes_of(const Fd& tree) {
    struct statfs status {};
    if (fstatfs(tree.get(), &status) < 0) return errno_error("statfs", errno);
    return static_cast<uint64_t>(status.f_flags);
}

// We may take back anything; the kernel would not let the container's own user namespace.
Status check_locks(uint64_t before, uint64_t after) {
    const uint64_t lost = before & ~after & child::kLockable;
    if (lost != 0) return errno_error(wording::locked_attributes(lost), EPERM);
    if ((before & kAccessTimes) != (after & kAccessTimes))
        return errno_error(std::string{wording::kLockedAccessTimes}, EPERM);
    return {};
}

Status set_tree_attributes(const Fd& tree, const plan::OpenTree& wanted) {
    for (const unsigned long propagation : wanted.propagation) {
        mount_attr attributes{};
        attributes.propagation = propagation & ~static_cast<unsigned long>(MS_REC);
        TRY(set_attributes(tree, attributes, (propagation & MS_REC) != 0 ? AT_RECURSIVE : 0));
    }
    if ((wanted.set | wanted.clear) != 0) {
        const uint64_t before = TRY(attributes_of(tree));
        mount_attr attributes{};
        attributes.attr_set = wanted.set;
        attributes.attr_clr = wanted.clear;
        TRY(set_attributes(tree, attributes, 0));
        if (wanted.is_locked) TRY(check_locks(before, TRY(attributes_of(tree))));
    }
    // After the top mount's own, as for runc: "rw" takes nothing away from "rro".
    if ((wanted.recursive_set | wanted.recursive_clear) != 0) {
        mount_attr attributes{};
        attributes.attr_set = wanted.recursive_set;
        attributes.attr_clr = wanted.recursive_clear;
        TRY(set_attributes(tree, attributes, AT_RECURSIVE));
    }
    return {};
}

Result<Fd> open_tree(const plan::OpenTree& wanted) {
    const unsigned int flags =
        (wanted.recursive ? AT_RECURSIVE : 0U) | (wanted.nofollow ? AT_SYMLINK_NOFOLLOW : 0U);
    Fd tree{kernel::open_tree(AT_FDCWD, wanted.source.c_str(), OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC | flags)};
    if (!tree) return errno_error(wanted.source, -tree.get());
    if (wanted.id_map) TRY(map_ids(tree, wanted.source, *wanted.id_map));
    TRY(set_tree_attributes(tree, wanted));
    return tree;
}

Result<seccomp::Compiled> compile_source(const std::string& source,
                                         const std::optional<config::Seccomp>& config_seccomp) {
    if (source == "config")
        return seccomp::compile_cached(*config_seccomp, kFilterCache).context("linux.seccomp");
    const std::string_view text = seccomp::profile_text(source);
    if (text.empty()) {
        return Error{.message = "grant_unenforceable: seccomp.profile: there is no profile named " + source,
                     .reason = "grant_unenforceable"};
    }
    const auto profile = TRY(config::parse_seccomp(text).context("seccomp profile " + source));
    return seccomp::compile_cached(profile, kFilterCache).context("seccomp profile " + source);
}

Status check_listener(const config::Seccomp& seccomp) {
    for (const config::SeccompRule& rule : seccomp.rules) {
        // Without root the child hands its listener over with sendmsg(2), which would wait for the listener.
        if (geteuid() != 0 && rule.action == config::SeccompAction::notify &&
            std::find(rule.names.begin(), rule.names.end(), "sendmsg") != rule.names.end())
            return Error{.message = "SCMP_ACT_NOTIFY cannot be used for the sendmsg syscall"};
    }
    if (!config::notifies(seccomp) || !seccomp.listener_path.empty()) return {};
    return Error{.message = "linux.seccomp: " + std::string{wording::kNoListenerPath}};
}

// A file system of ours that no path leads to, with a node for each device. The child takes it apart: who enters a user namespace may make
// no node there, and on a file system that it made itself none would open.
Result<Fd> make_nodes(const std::vector<config::Device>& devices) {
    const Fd context{kernel::fsopen("tmpfs", FSOPEN_CLOEXEC)};
    if (!context) return errno_error("tmpfs", -context.get());
    // For mountinfo alone.
    (void)kernel::fsconfig(context.get(), FSCONFIG_SET_STRING, "source", "tmpfs", 0);
    if (const int made = kernel::fsconfig(context.get(), FSCONFIG_CMD_CREATE, nullptr, nullptr, 0); made < 0)
        return errno_error("tmpfs", -made);
    Fd nodes{kernel::fsmount(context.get(), FSMOUNT_CLOEXEC, MOUNT_ATTR_NOSUID | MOUNT_ATTR_NOEXEC)};
    if (!nodes) return errno_error("tmpfs", -nodes.get());
    for (size_t index = 0; index < devices.size(); ++index) {
        const config::Device& device = devices[index];
        const std::string name = std::to_string(index);
        const mode_t type = device.type == config::DeviceType::block ? S_IFBLK : S_IFCHR;
        const mode_t mode = device.mode.value_or(config::kDefaultDeviceMode) & 07777;
        // The owner before the mode: chown(2) takes set-user-ID bits away. The mode once more, for mknod(2) obeys the umask.
        if (mknodat(nodes.get(), name.c_str(), type | 0600, makedev(device.major, device.minor)) < 0 ||
            fchownat(nodes.get(), name.c_str(), device.uid, device.gid, AT_SYMLINK_NOFOLLOW) < 0 ||
            fchmodat(nodes.get(), name.c_str(), mode, 0) < 0)
            return errno_error("error creating device nodes: \"" + device.path + "\"", errno);
    }
    return nodes;
}

}  // namespace

void give_streams_to_mapped_user(const config::Linux& linux_config, const config::Process& process) {
    const auto uid = config::host_id(linux_config.uid_mappings, process.user.uid);
    if (process.terminal || !uid) return;
    const gid_t gid =
        config::host_id(linux_config.gid_mappings, process.user.gid).value_or(static_cast<gid_t>(-1));
    for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
        struct stat status {};
        // A device stays with the host: its /dev/null above all (runc#3674). So does what was given to be read only: its owner could
        // open it again for writing.
        if (fstat(stream, &status) < 0 || S_ISCHR(status.st_mode) || status.st_uid == *uid) continue;
        if (child::is_input(stream, status.st_mode)) continue;
        (void)!fchown(stream, *uid, gid);
    }
}

Result<Slots> open_slots(const plan::Lowered& lowered) {
    Slots slots(static_cast<size_t>(lowered.slot_count));
    for (const auto& wanted : lowered.namespaces) {
        // O_NONBLOCK: a FIFO in its place must not hold us up, with signals held back.
        slots[static_cast<size_t>(wanted.slot)] =
            TRY(kernel::open_at(AT_FDCWD, wanted.path, O_RDONLY | O_NONBLOCK).context("open namespace"));
    }
    for (const auto& wanted : lowered.trees) {
        slots[static_cast<size_t>(wanted.slot)] = TRY(open_tree(wanted).context(
            "error mounting \"" + wanted.source + "\" to rootfs at \"" + wanted.target + "\""));
    }
    if (!lowered.nodes.empty())
        slots[static_cast<size_t>(lowered.nodes_slot)] = TRY(make_nodes(lowered.nodes));
    return slots;
}

Status set_rlimits(pid_t pid, const std::vector<config::Rlimit>& rlimits) {
    for (const config::Rlimit& one : rlimits) {
        const rlimit limit{.rlim_cur = one.soft, .rlim_max = one.hard};
        if (prlimit(pid, static_cast<__rlimit_resource>(one.resource), &limit, nullptr) == 0) continue;
        return errno_error("error setting rlimit type " + std::to_string(one.resource), errno);
    }
    return {};
}

Status compile_filters(plan::Lowered& lowered, const std::optional<config::Seccomp>& config_seccomp) {
    // Engines name a --root of their own, so /run/rung may not exist yet. Without it nothing is remembered, and all still works.
    if (!lowered.seccomp_sources.empty()) (void)kernel::make_directories("/run/rung", 0711);
    for (const std::string& source : lowered.seccomp_sources) {
        auto compiled = TRY(compile_source(source, config_seccomp));
        if (source == "config") TRY(check_listener(*config_seccomp));
        const bool is_strict = source == "config" && config_seccomp->refuses_unknown_calls;
        if (is_strict && !compiled.warnings.empty()) {
            return Error{.message = "linux.seccomp: unknown system call " + compiled.warnings.front() +
                                    ", and the annotation run.oci.seccomp_fail_unknown_syscall is set"};
        }
        // What the kernel is given, with SECCOMP_FILTER_FLAG_NEW_LISTENER for a filter that notifies.
        log::debug(
            "seccomp filter flags: " +
            std::to_string(compiled.flags | (compiled.notify ? SECCOMP_FILTER_FLAG_NEW_LISTENER : 0U)));
        for (const auto& warning : compiled.warnings)
            log::debug(warning);
        lowered.program.filters.push_back(
            {.instructions = std::move(compiled.instructions), .flags = compiled.flags});
    }
    return {};
}

}  // namespace rung::runtime

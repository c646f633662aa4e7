// From a bundle and the grants to a plan.
// SPDX-License-Identifier: Apache-2.0
#include "runtime/prepare.hpp"

#include <limits.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>

#include <cerrno>

#include "base/log.hpp"
#include "base/path.hpp"
#include "config/mount_options.hpp"
#include "config/parse.hpp"
#include "kernel/files.hpp"
#include "kernel/probe.hpp"
#include "plan/make.hpp"
#include "runtime/bind_sources.hpp"
#include "runtime/device_rules.hpp"
#include "runtime/grants.hpp"
#include "runtime/id_maps.hpp"
#include "runtime/image.hpp"
#include "runtime/notify.hpp"
#include "runtime/pod.hpp"
#include "runtime/wording.hpp"

namespace rung::runtime {
namespace {

Result<std::string> real_path(const std::string& path) {
    char resolved[PATH_MAX];
    if (realpath(path.c_str(), resolved) == nullptr) return errno_error(path, errno);
    return std::string{resolved};
}

Result<std::string> real_directory(const std::string& path) {
    std::string resolved = TRY(real_path(path));
    struct stat status {};
    if (stat(resolved.c_str(), &status) < 0) return errno_error(path, errno);
    if (!S_ISDIR(status.st_mode)) return errno_error(path, ENOTDIR);
    return resolved;
}

Result<std::string> read_config(const std::string& bundle, const std::string& file) {
    auto text = kernel::read_document(path::join(bundle, file));
    if (text) return text;
    if (text.error().errno_value == ENOENT && file == "config.json") {
        return Error{.message = std::string{wording::kConfigNotFound}, .errno_value = ENOENT};
    }
    return std::move(text).error();
}

Result<cgroup::Cgroup> place_cgroup(const Globals& globals, const Prepared& prepared, const std::string& id) {
    const config::Linux& wanted = prepared.plan.spec.linux_;
    if (globals.without_cgroups || globals.ignore_cgroups) {
        return cgroup::Cgroup{.manager = cgroup::Manager::disabled, .layout = prepared.host.cgroup.layout};
    }
    if (globals.systemd_cgroup) {
        TRY(cgroup::check_unit_annotations(prepared.plan.spec.annotations));
        return cgroup::locate_on_systemd(
            prepared.host.cgroup,
            {.cgroups_path = wanted.cgroups_path, .id = id, .own_program = globals.own_program});
    }
    cgroup::Cgroup place = cgroup::locate(prepared.host.cgroup, wanted.cgroups_path, id);
    if (globals.needs_cgroups) return place;
    return cgroup::keep_permitted(std::move(place), !wanted.cgroups_path.empty(), wanted.resources)
        .context(wording::kCgroupNotApplied);
}

// Some callers name a place in the container by its path on the host, below the rootfs; runc takes that for the place inside.
void take_destinations_from_rootfs(config::Spec& spec, const std::string& rootfs) {
    if (rootfs == "/") return;
    for (config::Mount& mount : spec.mounts) {
        const std::string clean = path::clean(mount.destination);
        if (!path::covers(rootfs, clean)) continue;
        mount.destination = clean == rootfs ? "/" : clean.substr(rootfs.size());
    }
}

// What is left of the resources is then the grant's.
Status check_without_cgroups(const Prepared& prepared) {
    if (!prepared.grant || prepared.plan.spec.linux_.resources == config::Resources{}) return {};
    return Error{.message = "grant_unenforceable: limits: without cgroups nothing enforces them",
                 .reason = "grant_unenforceable"};
}

std::string handler_of(const Globals& globals, const Pod& pod) {
    if (!globals.handler.empty()) return globals.handler;
    return pod.handler.empty() ? globals.called_as : pod.handler;
}

// A sandbox of another runtime, or none at all, has pinned nothing.
Status check_sandbox(const Globals& globals, const std::string& id, const Pod& pod,
                     const grant::Effective& effective) {
    if (pod.sandbox_id.empty() || pod.sandbox_id == id) return {};
    TRY(check_id(pod.sandbox_id));
    const auto directory = StateDirectory::open(globals.root, pod.sandbox_id);
    if (!directory && directory.error().message == wording::kDoesNotExist) return {};
    if (!directory) return directory.error();
    const auto sandbox = TRY(directory->read_state());
    return sandbox ? check_within_sandbox(*sandbox, pod.container, effective) : Status{};
}

Result<grant::Effective> meet_layers_of(const Globals& globals, const CreateOptions& options,
                                        const config::Spec& spec, Prepared& prepared) {
    const Pod pod = TRY(pod_of(spec.annotations));
    prepared.grant_sources = TRY(collect_grants({.id = options.id,
                                                 .runtime_files = globals.grant_files,
                                                 .files = options.grant_files,
                                                 .bundle = prepared.bundle,
                                                 .annotations = spec.annotations,
                                                 .environment = spec.process.env,
                                                 .handler = handler_of(globals, pod)}));
    grant::Effective effective = TRY(meet_sources(prepared.grant_sources));
    TRY(check_sandbox(globals, options.id, pod, effective));
    return effective;
}

// What the specification asks for and this runtime goes on without, as runc does.
void warn_of_ignored(const config::Spec& spec) {
    if (spec.process.capabilities) {
        for (const std::string& name : spec.process.capabilities->unknown)
            log::warn("ignoring unknown capability " + name);
    }
    for (const config::Mount& mount : spec.mounts) {
        const auto options = config::parse_mount_options(mount.options);
        if (!options || !config::is_bind(mount, *options) || options->data.empty()) continue;
        log::warn("mounts[" + mount.destination + "]: a bind mount takes no file system option: ignoring " +
                  options->data.front().first);
    }
    for (const std::string& flag : spec.linux_.personality_flags)
        log::warn("ignoring unsupported personality flag " + flag);
}

// Without either of them nothing tells the container's processes from others, so not all of them can be ended.
void warn_of_lost_processes(const Prepared& prepared) {
    const cgroup::Cgroup& place = prepared.cgroup;
    if (!cgroup::is_rootless() || place.unit || !place.v1.empty() || !place.unified.empty()) return;
    if (prepared.plan.spec.has_namespace(config::NamespaceType::pid)) return;
    log::warn(wording::kNoCgroupNoPidNamespace);
}

// Without SELinux nothing is confined by labels. A grant is not left without what was asked for.
bool drop_idle_label(config::Spec& spec, const Prepared& prepared) {
    if (prepared.host.selinux || prepared.grant || spec.linux_.mount_label.empty()) return false;
    spec.linux_.mount_label.clear();
    return true;
}

}  // namespace

Result<Prepared> prepare(const Globals& globals, const CreateOptions& options) {
    Prepared prepared;
    prepared.bundle = TRY(real_directory(options.bundle.empty() ? "." : options.bundle).context("bundle"));
    prepared.config_text = TRY(read_config(prepared.bundle, options.config_file));
    config::Spec spec = TRY(config::parse_spec(prepared.config_text));
    warn_of_ignored(spec);
    prepared.rootfs =
        TRY(real_directory(path::join(prepared.bundle, spec.root.path)).context("invalid rootfs"));
    take_destinations_from_rootfs(spec, prepared.rootfs);
    TRY(read_symlinks(spec, prepared.bundle));

    const grant::Effective effective = TRY(meet_layers_of(globals, options, spec, prepared));
    prepared.grant = effective.grant;
    if (prepared.grant) {
        TRY(settle_bind_sources(spec, prepared.bundle, prepared.rootfs));
        prepared.image = TRY(look_into_image(*prepared.grant, spec, prepared.rootfs));
    }

    // Under a grant no socket of the host's is reached.
    const bool own_mounts = spec.has_namespace(config::NamespaceType::mount);
    if (!prepared.grant && own_mounts) prepared.notify_socket = callers_notify_socket();
    if (prepared.notify_socket) {
        show_notify_directory(spec, prepared.rootfs, notify_directory_of(globals.root, options.id),
                              *prepared.notify_socket);
    }

    const std::vector<config::DeviceRule> device_rules = spec.linux_.resources.devices;
    if (globals.ignore_cgroups) spec.linux_.resources = {};
    prepared.host = TRY(kernel::probe());
    if (drop_idle_label(spec, prepared))
        log::warn("linux.mountLabel is ignored: SELinux is not enabled on this host");
    TRY(fill_default_mappings(spec, prepared.host));
    prepared.plan =
        TRY(plan::make_under_layers(spec, effective, prepared.host, time(nullptr), prepared.image));
    for (const plan::Narrowing& narrowing : prepared.plan.narrowings)
        log::debug("narrowed " + narrowing.field + " by " + narrowing.layer + ": " + narrowing.reason);
    if (globals.without_network) plan::cut_network(prepared.plan);
    if (globals.without_cgroups || globals.ignore_cgroups) TRY(check_without_cgroups(prepared));
    prepared.cgroup = TRY(place_cgroup(globals, prepared, options.id));
    config::Process& process = prepared.plan.spec.process;
    process = without_making_devices(device_rules, prepared.cgroup, prepared.plan.spec, process);
    TRY(check_device_rules(device_rules, prepared.cgroup, prepared.plan.spec, process));
    warn_of_lost_processes(prepared);
    return prepared;
}

Result<Prepared> prepare_again(const StateDirectory& directory, const State& state) {
    if (!state.grants_are_known)
        return Error{.message = "state.json does not say under which grants " + state.id + " runs"};
    Prepared prepared{.bundle = state.bundle,
                      .rootfs = state.rootfs,
                      .config_text = TRY(directory.read_config()),
                      .grant_sources = state.grants,
                      .image = state.image,
                      .cgroup = state.cgroup};
    config::Spec spec = TRY(config::parse_spec(prepared.config_text));
    take_destinations_from_rootfs(spec, prepared.rootfs);
    const grant::Effective effective = TRY(meet_sources(prepared.grant_sources));
    prepared.grant = effective.grant;
    prepared.host = TRY(kernel::probe());
    (void)drop_idle_label(spec, prepared);  // `create` has said so
    TRY(fill_default_mappings(spec, prepared.host));
    prepared.plan =
        TRY(plan::make_under_layers(spec, effective, prepared.host, time(nullptr), prepared.image));
    return prepared;
}

}  // namespace rung::runtime

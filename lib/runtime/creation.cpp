// Making a container, in the order in which a killed rung leaves something that `delete --force` can take apart: first the name
// and everything known about the container, then the cgroup, then the process, whose pid is written before it may go on.
// SPDX-License-Identifier: Apache-2.0
#include "runtime/creation.hpp"

#include <fcntl.h>
#include <limits.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <cstdio>
#include <tuple>

#include "base/log.hpp"
#include "base/path.hpp"
#include "grant/canonical.hpp"
#include "kernel/files.hpp"
#include "runtime/hooks.hpp"
#include "runtime/host_mounts.hpp"
#include "runtime/id_mapped.hpp"
#include "runtime/id_maps.hpp"
#include "runtime/net_devices.hpp"
#include "runtime/resctrl.hpp"
#include "runtime/seccomp_agent.hpp"
#include "runtime/terminal.hpp"
#include "runtime/unix_socket.hpp"
#include "runtime/wording.hpp"

namespace rung::runtime {
namespace {

std::string rfc3339_now() {
    timespec now{};
    clock_gettime(CLOCK_REALTIME, &now);
    tm parts{};
    gmtime_r(&now.tv_sec, &parts);
    char text[64];
    const size_t length = strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%S", &parts);
    (void)snprintf(text + length, sizeof text - length, ".%09ldZ", now.tv_nsec);
    return text;
}

// One that is joined belongs to another container, whose processes do not end with this one's first.
bool makes_pid_namespace(const config::Spec& spec) {
    const config::Namespace* pids = spec.find_namespace(config::NamespaceType::pid);
    return pids != nullptr && pids->path.empty();
}

std::vector<std::string> standard_streams() {
    std::vector<std::string> streams;
    for (const char* link : {"/proc/self/fd/0", "/proc/self/fd/1", "/proc/self/fd/2"}) {
        char target[PATH_MAX];
        const ssize_t length = readlink(link, target, sizeof target);
        streams.emplace_back(target, length > 0 ? static_cast<size_t>(length) : 0);
    }
    return streams;
}

std::optional<ResctrlGroup> resctrl_group_of(const Prepared& prepared, const std::string& id) {
    const auto& wanted = prepared.plan.spec.linux_.intel_rdt;
    return wanted ? std::optional{resctrl_group(prepared.host.resctrl, id, *wanted)} : std::nullopt;
}

State describe(const Prepared& prepared, const CreateOptions& options) {
    const config::Spec& spec = prepared.plan.spec;
    return State{.id = options.id,
                 .oci_version = spec.oci_version,
                 .bundle = prepared.bundle,
                 .rootfs = prepared.rootfs,
                 .created = rfc3339_now(),
                 .owner_uid = getuid(),
                 .annotations = spec.annotations,
                 .grants = prepared.grant_sources,
                 .image = prepared.image,
                 .grant_digest = prepared.grant ? grant::digest(*prepared.grant) : "",
                 .cgroup = prepared.cgroup,
                 .resctrl = resctrl_group_of(prepared, options.id),
                 .new_keyring = !options.no_new_keyring,
                 .private_pid_namespace = makes_pid_namespace(spec),
                 .has_poststart_hooks = !spec.hooks.poststart.empty(),
                 .has_poststop_hooks = !spec.hooks.poststop.empty(),
                 .streams = standard_streams()};
}

// Which namespace a path names only the kernel knows: by device and inode.
Result<bool> is_own_namespace(const std::string& path, const char* kind) {
    struct stat wanted {};
    struct stat own {};
    const std::string own_path = std::string{"/proc/self/ns/"} + kind;
    if (stat(path.c_str(), &wanted) < 0) return errno_error(path, errno);
    if (stat(own_path.c_str(), &own) < 0) return errno_error(own_path, errno);
    return wanted.st_dev == own.st_dev && wanted.st_ino == own.st_ino;
}

// net.* sysctls of a namespace that is the caller's own would change the host (moby#27484).
Status check_network_sysctls(const config::Spec& spec) {
    const auto* network = spec.find_namespace(config::NamespaceType::network);
    if (network == nullptr || network->path.empty()) return {};
    for (const auto& [key, value] : spec.linux_.sysctl) {
        if (!key.starts_with("net.") && !key.starts_with("net/")) continue;
        if (!TRY(is_own_namespace(network->path, "net").context("invalid netns path"))) return {};
        return Error{.message = "linux.sysctl: sysctl \"" + key + "\" not allowed in host network namespace"};
    }
    return {};
}

// Under a grant a namespace by path may be another container's, as in a pod, and never the host's.
Status check_shared_namespaces(const config::Spec& spec) {
    using config::NamespaceType;
    constexpr std::pair<NamespaceType, const char*> kKinds[] = {
        {NamespaceType::pid, "pid"},       {NamespaceType::ipc, "ipc"},   {NamespaceType::uts, "uts"},
        {NamespaceType::cgroup, "cgroup"}, {NamespaceType::user, "user"}, {NamespaceType::time, "time"}};
    for (const auto& [type, name] : kKinds) {
        const auto* joined = spec.find_namespace(type);
        if (joined == nullptr || joined->path.empty() || !TRY(is_own_namespace(joined->path, name))) continue;
        return Error{.message = std::string{"grant_unenforceable: linux.namespaces["} + name +
                                "]: " + joined->path + " is the host's own",
                     .reason = "grant_unenforceable"};
    }
    return {};
}

void undo_host_mounts(const StateDirectory& directory) {
    const auto state = directory.read_state();
    if (!state || !*state) return;
    if (const auto removed = remove_host_mounts(**state); !removed) log::warn(removed.error().message);
}

}  // namespace

Status check_console(const std::string& console_socket, bool terminal, Foreground foreground) {
    if (terminal && foreground == Foreground::no && console_socket.empty()) {
        return Error{.message = std::string{wording::kTerminalNeedsSocket}};
    }
    if ((!terminal || foreground == Foreground::yes) && !console_socket.empty()) {
        return Error{.message = std::string{wording::kSocketNeedsTerminal}};
    }
    return {};
}

Status write_pid_file(const std::string& path, pid_t pid) {
    const size_t slash = path.rfind('/');
    const std::string parent = slash == std::string::npos ? "." : slash == 0 ? "/" : path.substr(0, slash);
    const std::string name = slash == std::string::npos ? path : path.substr(slash + 1);
    const Fd opened = TRY(kernel::open_at(AT_FDCWD, parent, O_RDONLY | O_DIRECTORY).context("--pid-file"));
    const std::string text = std::to_string(pid);
    return kernel::write_file_atomically(opened.get(), {.name = name, .text = text, .mode = 0644})
        .context("--pid-file");
}

Status Creation::build(const std::string& root) {
    auto built = claim(root);
    if (!built) return built;  // the name, if it exists, is somebody else's
    built = make_cgroup();
    if (built) built = launch_process();
    if (built) built = converse();
    if (built) built = announce();
    if (!built) undo();
    return built;
}

Status Creation::claim(const std::string& root) {
    TRY(check_network_sysctls(spec()));
    if (prepared_.grant) TRY(check_shared_namespaces(spec()));
    lowered_ = TRY(plan::lower(prepared_.plan, prepared_.cgroup, prepared_.host,
                               {.bundle = prepared_.bundle,
                                .rootfs = prepared_.rootfs,
                                .id = options_.id,
                                .no_pivot = options_.no_pivot,
                                .new_keyring = !options_.no_new_keyring,
                                .preserve_fds = options_.preserve_fds}));
    lowered_.program.explains_failed_exec =
        when_ready_ == WhenReady::go_on && !options_.detach && !prepared_.grant;
    TRY(compile_filters(lowered_, spec().linux_.seccomp));
    std::optional<uint64_t> rootfs_mount;
    if (lowered_.mounts_on_host) rootfs_mount = TRY(mount_showing(prepared_.rootfs));
    auto claimed = TRY(StateDirectory::claim(root, options_.id));
    directory_.emplace(std::move(claimed));

    auto written = directory_->lock();
    // Another rung may have removed the new name before it was locked; it is then nobody's.
    if (written && directory_->is_removed()) return Error{.message = std::string{wording::kDoesNotExist}};
    if (written) written = cgroup::check_unused(prepared_.cgroup).context(wording::kCgroupNotApplied);
    if (written) written = directory_->write_config(prepared_.config_text);
    State state = describe(prepared_, options_);
    state.rootfs_mount = rootfs_mount;
    if (written) written = directory_->write_state(state);
    if (written && prepared_.notify_socket) written = prepare_notify_socket();
    if (!written) undo();
    return written;
}

Status Creation::prepare_notify_socket() {
    TRY(directory_->make_notify_directory());
    if (when_ready_ == WhenReady::wait_for_start) return {};  // `start` will listen
    notify_ = TRY(NotifySocket::bind(*directory_->notify_directory(), *prepared_.notify_socket));
    return {};
}

Status Creation::make_cgroup() {
    if (prepared_.cgroup.unit) return {};  // systemd makes it, around the process
    TRY(cgroup::create(prepared_.cgroup).context(wording::kCgroupNotApplied));
    return settle_cgroup();
}

Status Creation::start_unit(pid_t pid) {
    const auto& annotations = spec().annotations;
    TRY(cgroup::start_unit(prepared_.cgroup, pid, spec().linux_.resources, annotations)
            .context(wording::kCgroupNotApplied));
    return settle_cgroup();
}

Status Creation::settle_cgroup() {
    owns_cgroup_ = true;
    if (lowered_.cgroup_owner)
        TRY(cgroup::give_to(prepared_.cgroup, *lowered_.cgroup_owner).context(wording::kCgroupNotApplied));
    if (const auto group = resctrl_group_of(prepared_, options_.id)) {
        TRY(make_resctrl_group(*group, *spec().linux_.intel_rdt));
        resctrl_ = group;
        // Only now: a name that somebody else had first is never deleted.
        TRY(directory_->note_resctrl());
    }
    return cgroup::apply(prepared_.cgroup, spec().linux_.resources).context(wording::kCgroupNotApplied);
}

Status Creation::launch_process() {
    const std::string prefix =
        std::string{wording::kUnableToStart} + ": " + std::string{wording::kDuringInit};
    const Slots slots = TRY(open_slots(lowered_).context(prefix));
    Fd cgroup_directory;
    if (!prepared_.cgroup.unit) cgroup_directory = TRY(cgroup::open_unified(prepared_.cgroup));
    Fd console_socket;
    if (!options_.console_socket.empty())
        console_socket = TRY(connect_console_socket(options_.console_socket));
    // `run` has it too: while it stands unannounced the container is "creating", and nobody may enter it.
    start_fifo_ = TRY(directory_->make_start_fifo());
    if (when_ready_ == WhenReady::go_on) start_fifo_.reset();

    const config::Hooks& hooks = spec().hooks;
    if (!hooks.create_container.empty() || !hooks.start_container.empty())
        hook_output_ = TRY(make_hook_output());

    std::tie(lowered_.program.hook_state_before_pid, lowered_.program.hook_state_after_pid) =
        split_at_pid(oci_state({}));
    give_streams_to_mapped_user(spec().linux_, spec().process);
    auto launched = TRY(launch(lowered_, slots,
                               {.start = start_fifo_.get(),
                                .console_socket = console_socket.get(),
                                .hook_output = hook_output_.get(),
                                .cgroup = cgroup_directory.get()}));
    process_.emplace(std::move(launched));
    return {};
}

Status Creation::converse() {
    while (true) {
        auto received = process_->await_report(lowered_);
        if (!received) return with_hook_output(std::move(received).error());
        const child::Report report = *received;
        if (report.kind == child::ReportKind::ready) {
            if (hook_output_) TRY(clear_hook_output(hook_output_));
            return set_rlimits(process_->pid(), lowered_.rlimits);
        }
        if (report.kind == child::ReportKind::listener) {
            TRY(on_listener(report));
            continue;
        }
        if (report.kind == child::ReportKind::tree) {
            TRY(on_tree(report));
            continue;
        }
        switch (static_cast<child::SyncPoint>(report.value)) {
            case child::SyncPoint::joined_namespaces:
                TRY(on_joined_namespaces());
                break;
            case child::SyncPoint::made_networks:
                TRY(on_made_networks());
                break;
            case child::SyncPoint::before_pivot:
                TRY(on_before_pivot());
                break;
        }
    }
}

Error Creation::with_hook_output(Error error) const {
    if (!hook_output_) return error;
    const std::string text = hook_output_text(hook_output_);
    if (!text.empty()) error.message += ", output: " + text;
    return error;
}

Status Creation::on_joined_namespaces() {
    TRY(directory_->write_init(TRY(identify(process_->pid())), prepared_.cgroup));
    if (prepared_.cgroup.unit) TRY(start_unit(process_->pid()));
    if (resctrl_) TRY(join_resctrl_group(*resctrl_, process_->pid()));
    if (lowered_.maps_users) TRY(write_id_mappings(process_->pid(), spec().linux_, lowered_));
    return process_->answer(TRY(cgroup::open_join_files(prepared_.cgroup)));
}

Status Creation::on_made_networks() {
    TRY(move_net_devices(spec().linux_.net_devices, process_->pid()));
    return process_->answer({});
}

// The process may go on at once: what it wants to do and may not do alone waits for the agent.
Status Creation::on_listener(const child::Report& report) {
    const Fd listener = TRY(process_->take_listener(report));
    TRY(process_->answer({}));
    return send_to_seccomp_agent(lowered_.seccomp_agent, oci_state("creating"), process_->pid(), listener);
}

// A mount that the container has made itself: its user namespace may have no right over whose ids the files have.
Status Creation::on_tree(const child::Report& report) {
    const Fd tree = process_->take_tree();
    const auto* step = std::get_if<child::BindHostPath>(&lowered_.program.steps.at(report.step));
    if (step == nullptr || !tree) return Error{.message = "the container's process sent a malformed report"};
    TRY(map_ids(tree, step->source, lowered_.id_maps.at(static_cast<size_t>(report.value)))
            .context(wording::mount_failed(step->source, step->target))
            .context(wording::kDuringInit)
            .context(wording::kUnableToStart));
    return process_->answer({});
}

Status Creation::on_before_pivot() {
    hooks_have_run_ = true;
    TRY(run_hooks("prestart", spec().hooks.prestart, oci_state("creating"), process_->pidfd()));
    TRY(run_hooks("createRuntime", spec().hooks.create_runtime, oci_state("creating"), process_->pidfd()));
    return process_->answer({});
}

Status Creation::tell_caller() {
    if (!options_.pid_file.empty()) TRY(write_pid_file(options_.pid_file, process_->pid()));
    if (!options_.pidfd_socket.empty()) TRY(send_pidfd(options_.pidfd_socket, process_->pidfd()));
    TRY(directory_->write_crun_status());
    return {};
}

Status Creation::announce() {
    log::debug(wording::kStageCreated);
    TRY(tell_caller());
    if (when_ready_ == WhenReady::wait_for_start) {
        TRY(directory_->announce_created());
    } else {
        directory_->forget_start_fifo();
        TRY(process_->answer({}));
    }
    directory_->unlock();
    return {};
}

Status Creation::await_exec() {
    if (auto executed = process_->await_exec(lowered_.program); !executed)
        return with_hook_output(std::move(executed).error());
    return run_hooks("poststart", spec().hooks.poststart, oci_state("running"), Fd{});
}

OciState Creation::oci_state(const std::string& status) const {
    return {.oci_version = spec().oci_version,
            .id = options_.id,
            .status = status,
            .pid = process_ ? process_->pid() : 0,
            .bundle = prepared_.bundle,
            .annotations = spec().annotations};
}

void Creation::undo() {
    if (process_) process_->kill();
    if (owns_cgroup_) {
        if (const auto killed = cgroup::kill_all(prepared_.cgroup); !killed)
            log::warn(killed.error().message);
        if (const auto removed = cgroup::remove(prepared_.cgroup); !removed)
            log::warn(removed.error().message);
    }
    if (resctrl_) {
        if (const auto removed = remove_resctrl_directories(resctrl_->own); !removed)
            log::warn(removed.error().message);
    }
    if (!directory_) return;
    if (lowered_.mounts_on_host) undo_host_mounts(*directory_);
    if (const auto removed = directory_->remove(); !removed) log::warn(removed.error().message);
    // What createRuntime hooks set up, such as a network, poststop hooks take down.
    if (hooks_have_run_) run_poststop_hooks(spec().hooks.poststop, oci_state("stopped"));
}

}  // namespace rung::runtime

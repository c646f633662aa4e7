// checkpoint: CRIU writes a container's processes into files. Until it has them all the container is only stopped where it is, and a
// failure lets it go on.
// SPDX-License-Identifier: Apache-2.0
#include "runtime/checkpoint.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <nlohmann/json.hpp>

#include "base/log.hpp"
#include "base/path.hpp"
#include "child/targets.hpp"
#include "kernel/files.hpp"
#include "runtime/container.hpp"
#include "runtime/criu_settings.hpp"
#include "runtime/remove.hpp"
#include "runtime/wording.hpp"

namespace rung::runtime {
namespace {

constexpr const char* kLog = "dump.log";

// Followed as CRIU does: from the image path, not by name.
Status check_parent_path(const std::string& parent_path, const CriuDirectories& directories) {
    if (parent_path.empty()) return {};
    const Fd parent{openat(directories.images.get(), parent_path.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC)};
    if (!parent) return errno_error("invalid --parent-path: " + parent_path, errno);
    return {};
}

Status check_status_fd(int status_fd) {
    if (status_fd == -1) return {};
    const std::string flag = "--status-fd: " + std::to_string(status_fd);
    const int flags = fcntl(status_fd, F_GETFL);
    if (flags < 0) return errno_error(flag, errno);
    if ((flags & O_ACCMODE) == O_RDONLY) return Error{.message = flag + " is not open for writing"};
    return {};
}

Status check_phase(Phase phase) {
    if (phase == Phase::running || phase == Phase::paused) return {};
    return Error{.message = "Container cannot be checkpointed in " + phase_name(phase) + " state"};
}

// Where the processes see it, which an image's symlinks may have turned: a mount point's name in mountinfo.
std::string place_in(const Fd& root, const std::string& path) {
    const Fd found{child::resolve_in(root.get(), path.c_str())};
    char target[4096];
    const std::string link = "/proc/self/fd/" + std::to_string(found.get());
    const ssize_t length = found ? readlink(link.c_str(), target, sizeof target) : -1;
    return length > 0 ? std::string(target, static_cast<size_t>(length)) : path;
}

bool is_directory_in(const Fd& root, const std::string& path) {
    const Fd found{child::resolve_in(root.get(), path.c_str())};
    struct stat status {};
    return !found || (fstat(found.get(), &status) == 0 && S_ISDIR(status.st_mode));
}

struct Subject {
    Container container;
    Prepared prepared = {};
    plan::Lowered lowered = {};
    ProcessIdentity init = {};
};

Status describe_mounts(criu::Options& request, const Subject& subject) {
    const std::string path = "/proc/" + std::to_string(subject.init.pid) + "/root";
    const Fd root = TRY(kernel::open_at(AT_FDCWD, path, O_PATH | O_DIRECTORY));
    for (const HostMount& mount : TRY(host_mounts(subject.lowered)))
        request.external_mounts.push_back({.key = place_in(root, mount.target), .value = mount.target});
    // Masked directories show a tmpfs of the container's own.
    for (const std::string& masked : subject.prepared.plan.spec.linux_.masked_paths) {
        if (!is_directory_in(root, masked))
            request.external_mounts.push_back({.key = place_in(root, masked), .value = kMaskedFile});
    }
    return {};
}

Status describe_namespaces(criu::Options& request, const Subject& subject) {
    for (const OuterNamespace& outer : outer_namespaces(subject.prepared.plan.spec)) {
        const std::string path = "/proc/" + std::to_string(subject.init.pid) + "/ns/" + outer.kind;
        struct stat status {};
        if (stat(path.c_str(), &status) < 0) return errno_error(path, errno);
        request.external.push_back(std::string{outer.kind} + '[' + std::to_string(status.st_ino) +
                                   "]:" + outer.name);
    }
    return {};
}

Result<criu::Options> describe(const Subject& subject, const CheckpointOptions& options) {
    criu::Options request = TRY(criu_options(options.criu, subject.prepared.plan.spec));
    if (path::is_absolute(options.parent_path))
        return Error{.message = "--parent-path must be relative to the image path"};
    request.pid = subject.init.pid;
    request.root = subject.prepared.rootfs;
    request.freezer = subject.container.state.cgroup.directory_of("freezer");
    request.leave_running = options.leave_running;
    request.tcp_skip_in_flight = options.tcp_skip_in_flight;
    request.link_remap = options.link_remap;
    request.parent_images = options.parent_path;
    request.track_memory = !options.parent_path.empty() || options.pre_dump;
    if (!options.page_server.empty()) request.page_server = TRY(criu::parse_page_server(options.page_server));
    TRY(describe_namespaces(request, subject));
    if (!options.pre_dump) TRY(describe_mounts(request, subject));
    return request;
}

Status write_descriptors(const State& state, const Fd& images) {
    const std::string text = nlohmann::json(state.streams).dump();
    return kernel::write_file_atomically(images.get(), {.name = kDescriptorsFile, .text = text});
}

// Whoever waits for lazy pages reads one zero byte, and then the end.
void say_ready(int status_fd) {
    if (status_fd == -1) return;
    if (write(status_fd, "", 1) != 1) log::warn(errno_error("--status-fd", errno).message);
    (void)close(status_fd);
}

Status run_criu(const criu::Program& program, const criu::Options& request,
                const CriuDirectories& directories, const CheckpointOptions& options) {
    criu::Session session = TRY(criu::Session::start(program));
    TRY(session.send(
        criu::encode_request(options.pre_dump ? criu::Task::pre_dump : criu::Task::dump, request)));
    TRY(converse_with_criu(session, directories, [&](criu::Session::Received& received) -> Status {
        if (received.response.script == "status-ready") say_ready(options.status_fd);
        return {};
    }));
    const int code = session.finish();
    // After a pre-dump it would take a further request, and minds that there is none.
    if (code == 0 || options.pre_dump) return {};
    return Error{.message = "criu failed: exit status " + std::to_string(code)};
}

// A CRIU that died may have left it frozen, and one that did not has thawed it.
void put_back(Phase phase, const cgroup::Cgroup& cgroup) {
    const auto frozen = cgroup::is_frozen(cgroup);
    if (!frozen || *frozen == (phase == Phase::paused)) return;
    const auto done = phase == Phase::paused ? cgroup::freeze(cgroup) : cgroup::thaw(cgroup);
    if (!done) log::warn(done.error().message);
}

Status check_grants(const State& state) {
    if (state.grants_are_known && state.grants.empty()) return {};
    return Error{
        .message = "grant_unenforceable: checkpoint: CRIU does not keep what enforces the grant of " +
                   state.id + ", such as Landlock rules",
        .reason = "grant_unenforceable"};
}

Result<Subject> open_subject(Container container) {
    const auto init = container.directory.read_init();
    if (!init) return Error{.message = std::string{wording::kNotRunning}};
    Prepared prepared = TRY(prepare_again(container.directory, container.state));
    plan::Lowered lowered =
        TRY(plan::lower(prepared.plan, prepared.cgroup, prepared.host,
                        {.bundle = prepared.bundle, .rootfs = prepared.rootfs, .id = container.state.id}));
    TRY(check_restorable(prepared, lowered, "checkpoint"));
    return Subject{.container = std::move(container),
                   .prepared = std::move(prepared),
                   .lowered = std::move(lowered),
                   .init = *init};
}

}  // namespace

Status checkpoint(const Globals& globals, const CheckpointOptions& options) {
    Container container = TRY(lock_container(globals, options.id));
    const Phase phase = container.phase();
    TRY(check_phase(phase));
    TRY(check_grants(container.state));
    TRY(check_status_fd(options.status_fd));
    criu::Program program = TRY(find_criu(globals, "checkpoint"));
    if (options.pre_dump) TRY(check_feature(program, {.memory_tracking = true}, "--pre-dump"));
    if (options.criu.lazy_pages) TRY(check_feature(program, {.lazy_pages = true}, "--lazy-pages"));
    Subject subject = TRY(open_subject(std::move(container)));
    criu::Options request = TRY(describe(subject, options));

    const CriuDirectories directories = TRY(open_directories(options.criu, Images::made_when_missing, kLog));
    program.further = {directories.images.get(), directories.work.get()};
    use_directories(request, directories, criu::first_further());
    TRY(check_parent_path(options.parent_path, directories));
    if (!options.pre_dump) TRY(write_descriptors(subject.container.state, directories.images));
    // CRIU stops the processes itself, and waits without end for one of a v1 freezer that is frozen already.
    if (phase == Phase::paused) TRY(cgroup::thaw(subject.container.state.cgroup));
    const Status done = run_criu(program, request, directories, options);
    const bool goes_on = !done || options.leave_running || options.pre_dump;
    if (goes_on) put_back(phase, subject.container.state.cgroup);
    if (goes_on) return done;

    subject.container.directory.unlock();
    if (const auto removed = remove_own(globals, options.id, subject.init.pid); !removed)
        log::warn(removed.error().message);
    return {};
}

}  // namespace rung::runtime

// Finding CRIU, describing a container to it, and wording its failures.
// SPDX-License-Identifier: Apache-2.0
#include "runtime/criu_settings.hpp"

#include <fcntl.h>
#include <limits.h>
#include <sched.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <variant>

#include "base/path.hpp"
#include "kernel/files.hpp"
#include "runtime/spawn.hpp"
#include "runtime/wording.hpp"

namespace rung::runtime {
namespace {

// The first that takes security profiles on restore as they are meant, and joins namespaces of every kind.
constexpr criu::Version kOldest{.major = 3, .minor = 16};
constexpr size_t kMostLogBytes = size_t{64} << 20;
constexpr const char* kConfigFile = "/etc/criu/runc.conf";
constexpr const char* kConfigAnnotation = "org.criu.config";

std::string spelled(const criu::Version& version) {
    const std::string text = std::to_string(version.major) + '.' + std::to_string(version.minor);
    return version.sublevel > 0 ? text + '.' + std::to_string(version.sublevel) : text;
}

std::string absolute(const std::string& path) {
    char directory[PATH_MAX];
    if (path::is_absolute(path) || getcwd(directory, sizeof directory) == nullptr) return path;
    return path::clean(path::join(directory, path));
}

Result<Fd> open_directory(const std::string& path, const char* flag) {
    return kernel::open_at(AT_FDCWD, path, O_RDONLY | O_DIRECTORY).context(flag);
}

const std::string* source_of(const plan::Lowered& lowered, child::Slot slot) {
    for (const plan::OpenTree& tree : lowered.trees) {
        if (tree.slot == slot) return &tree.source;
    }
    return nullptr;
}

Error failure_of(const criu::Response& response, const CriuDirectories& directories) {
    // "criu failed: type DUMP errno 0" are runc's words.
    std::string message =
        "criu failed: type " + response.task + " errno " + std::to_string(response.error_number);
    const auto log = kernel::read_file(directories.log_path, kMostLogBytes);
    std::string reason = log ? criu::last_errors(*log) : "";
    if (reason.empty()) reason = response.error_text;
    if (!reason.empty()) message += ": " + reason;
    if (log) message += " (log file: " + directories.log_path + ")";
    std::replace(message.begin(), message.end(), '\n', ' ');
    return Error{.message = std::move(message)};
}

}  // namespace

Result<criu::Program> find_criu(const Globals& globals, const std::string& verb) {
    const std::string& name = globals.criu;
    const bool is_path = name.find('/') != std::string::npos;
    const std::string path = is_path ? absolute(name) : find_program(name);
    if (path.empty() || access(path.c_str(), X_OK) != 0)
        return Error{.message = verb + " needs CRIU: " + wording::exec_failed(name, wording::kNotInPath)};
    criu::Program program{.path = path};
    const auto answer = TRY(criu::ask(program, criu::encode_version_request()).context(verb + " needs CRIU"));
    if (!answer.success) return Error{.message = verb + " needs CRIU: " + path + " does not say its version"};
    if (answer.version < kOldest) {
        return Error{.message = verb + " needs CRIU " + spelled(kOldest) + " or newer: " + path + " is " +
                                spelled(answer.version)};
    }
    return program;
}

Status check_feature(const criu::Program& program, const criu::Features& needed, const std::string& flag) {
    const auto answer = TRY(criu::ask(program, criu::encode_feature_request(needed)).context(flag));
    if (answer.success && answer.features == needed) return {};
    return Error{.message = flag + ": " + program.path + " or this kernel does not support it"};
}

Result<CriuDirectories> open_directories(const CriuOptions& options, Images images, const std::string& log) {
    CriuDirectories directories;
    directories.images_path = absolute(options.image_path.empty() ? "checkpoint" : options.image_path);
    if (images == Images::made_when_missing)
        TRY(kernel::make_directories(directories.images_path, 0700).context("--image-path"));
    directories.images = TRY(open_directory(directories.images_path, "--image-path"));
    directories.work_path = directories.images_path;
    if (!options.work_path.empty()) {
        directories.work_path = absolute(options.work_path);
        TRY(kernel::make_directories(directories.work_path, 0700).context("--work-path"));
    }
    directories.work = TRY(open_directory(directories.work_path, "--work-path"));
    directories.log_path = path::join(directories.work_path, log);
    (void)unlink(directories.log_path.c_str());  // of an earlier run, when there was one
    return directories;
}

Result<criu::Options> criu_options(const CriuOptions& options, const config::Spec& spec) {
    const auto mode = criu::parse_cgroup_mode(options.manage_cgroups_mode);
    if (!mode)
        return Error{.message = "--manage-cgroups-mode: \"" + options.manage_cgroups_mode +
                                "\" is not soft, full, strict or ignore"};
    for (const std::string& name : options.empty_namespaces) {
        if (name != "network")
            return Error{.message = "--empty-ns: namespace \"" + name + "\" is not supported"};
    }
    const auto configured = spec.annotations.find(kConfigAnnotation);
    return criu::Options{
        .config_file = configured == spec.annotations.end() ? kConfigFile : configured->second,
        .cgroup_mode = *mode,
        // Devices of a network are the engine's to make: CRIU leaves the namespace empty, whether or not that is asked for.
        .empty_namespaces = CLONE_NEWNET,
        .external_unix_sockets = options.external_unix_sockets,
        .tcp_established = options.tcp_established,
        .shell_job = options.shell_job,
        .file_locks = options.file_locks,
        .auto_dedup = options.auto_dedup,
        .lazy_pages = options.lazy_pages};
}

void use_directories(criu::Options& request, const CriuDirectories& directories, int first) {
    request.images_directory = first;
    request.work_directory = first + 1;
    request.log_file = path::file_name(directories.log_path);
}

Result<std::vector<HostMount>> host_mounts(const plan::Lowered& lowered) {
    std::vector<HostMount> mounts;
    for (const child::Step& step : lowered.program.steps) {
        if (const auto* attached = std::get_if<child::AttachTree>(&step)) {
            const std::string* source = source_of(lowered, attached->tree);
            if (source == nullptr) continue;
            mounts.push_back({.target = path::clean(attached->target), .source = *source});
        } else if (const auto* bound = std::get_if<child::BindHostPath>(&step)) {
            mounts.push_back({.target = path::clean(bound->target), .source = bound->source});
        } else if (const auto* device = std::get_if<child::BindDevice>(&step)) {
            mounts.push_back({.target = path::clean(device->path), .source = device->path});
        } else if (const auto* nodes = std::get_if<child::BindNodes>(&step)) {
            for (const std::string& node : nodes->paths)
                mounts.push_back({.target = path::clean(node), .source = node});
        }
    }
    for (const HostMount& mount : mounts) {
        // CRIU's way to write such a pair, "mnt[TARGET]:NAME", knows no escaping.
        if (mount.target.find_first_of("[]:\n") != std::string::npos)
            return Error{.message = "mounts[" + mount.target + "]: CRIU takes no such name of a mount"};
    }
    return mounts;
}

Status check_restorable(const Prepared& prepared, const plan::Lowered& lowered, const std::string& verb) {
    if (prepared.grant) {
        return Error{.message = "grant_unenforceable: " + verb +
                                ": CRIU does not keep what enforces a grant, such as Landlock rules",
                     .reason = "grant_unenforceable"};
    }
    if (!prepared.plan.spec.has_namespace(config::NamespaceType::mount))
        return Error{.message = verb + ": a container without a mount namespace is not supported"};
    for (const plan::OpenTree& tree : lowered.trees) {
        if (tree.id_map)
            return Error{.message =
                             "mounts[" + tree.target + "]: " + verb + ": CRIU does not keep its id mapping"};
    }
    return {};
}

std::vector<OuterNamespace> outer_namespaces(const config::Spec& spec) {
    std::vector<OuterNamespace> outer;
    for (const config::Namespace& space : spec.linux_.namespaces) {
        if (space.path.empty()) continue;
        if (space.type == config::NamespaceType::network)
            outer.push_back({.kind = "net", .path = space.path, .name = "extRootNetNS"});
        if (space.type == config::NamespaceType::pid)
            outer.push_back({.kind = "pid", .path = space.path, .name = "extRootPidNS"});
    }
    return outer;
}

Result<criu::Response> converse_with_criu(criu::Session& session, const CriuDirectories& directories,
                                          const OnNotification& on_notification) {
    std::optional<Error> ours;
    while (true) {
        auto received = session.receive();
        if (!received) {
            if (ours) return *std::move(ours);
            const auto log = kernel::read_file(directories.log_path, kMostLogBytes);
            const std::string reason = log ? criu::last_errors(*log) : "";
            if (reason.empty()) return std::move(received).error();
            return std::move(received).error().context(reason);
        }
        const criu::Response& response = received->response;
        if (response.kind == criu::Response::Kind::result) {
            if (response.success) return response;
            return ours ? *std::move(ours) : failure_of(response, directories);
        }
        const Status handled = on_notification(*received);
        if (!handled) ours = handled.error();
        TRY(session.send(criu::encode_answer(static_cast<bool>(handled))));
    }
}

}  // namespace rung::runtime

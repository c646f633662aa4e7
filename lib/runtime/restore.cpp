// restore: a container's processes from the files of a checkpoint, in a cgroup, mounts and a state directory that rung makes as for `run`.
// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>

#include <nlohmann/json.hpp>

#include "kernel/files.hpp"
#include "runtime/checkpoint.hpp"
#include "runtime/creation.hpp"
#include "runtime/criu_settings.hpp"
#include "runtime/prepare.hpp"
#include "runtime/terminal.hpp"

namespace rung::runtime {
namespace {

constexpr const char* kLog = "restore.log";

// Pipes of the caller's take the place of those that the processes had: the standard streams by their old names.
Status add_streams(criu::Options& request, const CriuDirectories& directories) {
    const std::string text = TRY(kernel::read_file_at(directories.images.get(), kDescriptorsFile)
                                     .context("--image-path " + directories.images_path));
    const auto streams = nlohmann::json::parse(text, nullptr, false);
    if (!streams.is_array())
        return Error{.message = directories.images_path + "/" + kDescriptorsFile + " is damaged"};
    for (size_t number = 0; number < streams.size() && number < 3; ++number) {
        if (!streams[number].is_string()) continue;
        const auto name = streams[number].get<std::string>();
        if (name.starts_with("pipe:"))
            request.inherited.push_back({.key = name, .number = static_cast<int>(number)});
    }
    return {};
}

std::string kind_of(config::NamespaceType type) {
    switch (type) {
        case config::NamespaceType::mount:
            return "mnt";
        case config::NamespaceType::ipc:
            return "ipc";
        case config::NamespaceType::uts:
            return "uts";
        case config::NamespaceType::user:
            return "user";
        case config::NamespaceType::time:
            return "time";
        case config::NamespaceType::network:
        case config::NamespaceType::pid:
        case config::NamespaceType::cgroup:
            break;
    }
    return {};
}

// `opened` holds what CRIU inherits.
Status add_namespaces(criu::Options& request, const config::Spec& spec, std::vector<Fd>& opened) {
    for (const OuterNamespace& outer : outer_namespaces(spec)) {
        const std::string field = std::string{"linux.namespaces["} + outer.kind + "]";
        const int number = criu::first_further() + static_cast<int>(opened.size());
        opened.push_back(TRY(kernel::open_at(AT_FDCWD, outer.path, O_RDONLY).context(field)));
        request.inherited.push_back({.key = outer.name, .number = number});
    }
    for (const config::Namespace& space : spec.linux_.namespaces) {
        if (space.path.empty()) continue;
        if (space.type == config::NamespaceType::cgroup)
            return Error{.message = "linux.namespaces[cgroup]: CRIU cannot join " + space.path};
        const std::string kind = kind_of(space.type);
        if (!kind.empty()) request.joined_namespaces.push_back({.key = kind, .value = space.path});
    }
    return {};
}

Status add_mounts(criu::Options& request, const config::Spec& spec, const plan::Lowered& lowered) {
    for (HostMount& mount : TRY(host_mounts(lowered)))
        request.external_mounts.push_back({.key = std::move(mount.target), .value = std::move(mount.source)});
    if (!spec.linux_.masked_paths.empty())
        request.external_mounts.push_back({.key = kMaskedFile, .value = kMaskedFile});
    return {};
}

Result<Revival> describe(const Globals& globals, const RestoreOptions& options, const Prepared& prepared,
                         std::vector<Fd>& opened) {
    const config::Spec& spec = prepared.plan.spec;
    const plan::Lowered lowered =
        TRY(plan::lower(prepared.plan, prepared.cgroup, prepared.host,
                        {.bundle = prepared.bundle, .rootfs = prepared.rootfs, .id = options.container.id}));
    TRY(check_restorable(prepared, lowered, "restore"));
    Revival revival{.request = TRY(criu_options(options.criu, spec))};
    revival.request.lsm_profile = options.lsm_profile;
    revival.request.lsm_mount_context = options.lsm_mount_context;
    TRY(add_namespaces(revival.request, spec, opened));
    TRY(add_mounts(revival.request, spec, lowered));
    revival.program = TRY(find_criu(globals, "restore"));
    for (const Fd& descriptor : opened)
        revival.program.further.push_back(descriptor.get());
    if (options.criu.lazy_pages) TRY(check_feature(revival.program, {.lazy_pages = true}, "--lazy-pages"));

    revival.directories = TRY(open_directories(options.criu, Images::must_exist, kLog));
    use_directories(revival.request, revival.directories,
                    criu::first_further() + static_cast<int>(opened.size()));
    TRY(add_streams(revival.request, revival.directories));
    return revival;
}

}  // namespace

Result<int> restore(const Globals& globals, const RestoreOptions& options) {
    const CreateOptions& container = options.container;
    TRY(check_id(container.id));
    Prepared prepared = TRY(prepare(globals, container));
    TRY(check_console(container.console_socket, prepared.plan.spec.process.terminal,
                      container.detach ? Foreground::no : Foreground::yes));
    std::vector<Fd> opened;
    Revival revival = TRY(describe(globals, options, prepared, opened));
    if (!container.detach) prepare_to_stay(container);
    Creation creation{std::move(prepared), container, WhenReady::go_on};
    TRY(creation.revive(globals.root, std::move(revival)));
    if (container.detach) return 0;
    return stay_until_exit(globals, container, creation);
}

}  // namespace rung::runtime

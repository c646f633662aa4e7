// Opening a container, and describing it for state and list.
// SPDX-License-Identifier: Apache-2.0
#include "runtime/container.hpp"

#include "base/log.hpp"
#include "config/parse.hpp"
#include "kernel/files.hpp"
#include "runtime/id_maps.hpp"
#include "runtime/wording.hpp"

namespace rung::runtime {
namespace {

std::string name_or_number(uint32_t uid) {
    std::string name = name_of_user(uid);
    return name.empty() ? std::to_string(uid) : name;
}

ContainerInfo describe(const Container& container) {
    const State& state = container.state;
    const Phase phase = container.phase();
    const auto init = container.directory.read_init();
    return ContainerInfo{.oci_version = state.oci_version,
                         .id = state.id,
                         .pid = init && phase != Phase::stopped ? init->pid : 0,
                         .status = phase_name(phase),
                         .bundle = state.bundle,
                         .rootfs = state.rootfs,
                         .created = state.created,
                         .owner = name_or_number(state.owner_uid),
                         .annotations = state.annotations};
}

}  // namespace

Result<Container> open_container(const Globals& globals, const std::string& id) {
    TRY(check_id(id));
    auto directory = TRY(StateDirectory::open(globals.root, id));
    auto state = TRY(directory.read_state());
    if (!state) return Error{.message = std::string{wording::kDoesNotExist}};
    return Container{.directory = std::move(directory), .state = std::move(*state)};
}

Result<Container> lock_container(const Globals& globals, const std::string& id) {
    Container container = TRY(open_container(globals, id));
    TRY(container.directory.lock());
    if (container.directory.is_removed()) return Error{.message = std::string{wording::kDoesNotExist}};
    return container;
}

OciState oci_state(const Container& container, Phase phase) {
    const auto init = container.directory.read_init();
    return {.oci_version = container.state.oci_version,
            .id = container.state.id,
            .status = phase_name(phase),
            .pid = init && phase != Phase::stopped ? init->pid : 0,
            .bundle = container.state.bundle,
            .annotations = container.state.annotations};
}

// Whoever asks for a container while it is created wants to know what becomes of it: nobody can do anything with it before. A hook or an
// agent of the creation itself asks as well, and gets its answer at once.
Status await_creation(Container& container) {
    if (container.phase() != Phase::creating) return {};
    const auto spec = config::parse_spec(TRY(container.directory.read_config()));
    if (!spec) return {};
    const config::Hooks& hooks = spec->hooks;
    const bool has_hooks =
        !hooks.prestart.empty() || !hooks.create_runtime.empty() || !hooks.create_container.empty();
    const auto& seccomp = spec->linux_.seccomp;
    if (has_hooks || (seccomp && !seccomp->listener_path.empty())) return {};
    TRY(container.directory.lock());
    container.directory.unlock();
    return container.directory.is_removed() ? Error{.message = std::string{wording::kDoesNotExist}}
                                            : Status{};
}

Result<ContainerInfo> inspect(const Globals& globals, const std::string& id) {
    Container container = TRY(open_container(globals, id));
    TRY(await_creation(container));
    ContainerInfo info = describe(container);
    info.owner.clear();  // runc names the owner in list only
    return info;
}

Result<std::vector<ContainerInfo>> list(const Globals& globals) {
    std::vector<ContainerInfo> containers;
    const auto names = kernel::list_directory(globals.root);
    if (!names) {
        if (names.error().errno_value == ENOENT && !globals.root_is_given) return containers;
        return Error{names.error()}.context("--root");
    }
    for (const std::string& name : *names) {
        if (!check_id(name)) continue;
        const auto container = open_container(globals, name);
        if (container) {
            containers.push_back(describe(*container));
        } else if (container.error().message != wording::kDoesNotExist) {
            // One that vanishes while we list, or stands half-made, is not there.
            log::warn("load container " + name + ": " + container.error().message);
        }
    }
    return containers;
}

}  // namespace rung::runtime

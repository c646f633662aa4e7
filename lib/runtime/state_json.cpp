// State as JSON and back. The file is ours alone: fields we do not find keep their defaults, so that an older or newer rung can
// still delete the container.
// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <nlohmann/json.hpp>

#include "runtime/state.hpp"

namespace rung::runtime {
namespace {

using Json = nlohmann::ordered_json;

const char* layout_name(kernel::CgroupLayout layout) {
    switch (layout) {
        case kernel::CgroupLayout::v1:
            return "v1";
        case kernel::CgroupLayout::v2:
            return "v2";
        case kernel::CgroupLayout::none:
            break;
    }
    return "none";
}

kernel::CgroupLayout layout_from(const std::string& name) {
    if (name == "v1") return kernel::CgroupLayout::v1;
    if (name == "v2") return kernel::CgroupLayout::v2;
    return kernel::CgroupLayout::none;
}

constexpr std::pair<cgroup::Manager, const char*> kManagers[] = {{cgroup::Manager::cgroupfs, "cgroupfs"},
                                                                 {cgroup::Manager::systemd, "systemd"},
                                                                 {cgroup::Manager::disabled, "disabled"}};

const char* manager_name(cgroup::Manager manager) {
    for (const auto& [value, name] : kManagers) {
        if (value == manager) return name;
    }
    return "cgroupfs";
}

cgroup::Manager manager_from(const std::string& text) {
    for (const auto& [value, name] : kManagers) {
        if (text == name) return value;
    }
    return cgroup::Manager::cgroupfs;
}

Json cgroup_to_json(const cgroup::Cgroup& group) {
    Json directories = Json::array();
    for (const auto& directory : group.v1) {
        directories.push_back({{"controllers", directory.controllers},
                               {"path", directory.path},
                               {"mountPoint", directory.mount_point}});
    }
    Json unit;
    if (group.unit) {
        unit = {{"name", group.unit->name},
                {"slice", group.unit->slice},
                {"ofUser", group.unit->owner == cgroup::UnitOwner::user},
                {"program", group.unit->program}};
    }
    return {{"manager", manager_name(group.manager)},
            {"unit", std::move(unit)},
            {"layout", layout_name(group.layout)},
            {"v1", std::move(directories)},
            {"unified", group.unified},
            {"unifiedMountPoint", group.unified_mount_point}};
}

Json resctrl_to_json(const std::optional<ResctrlGroup>& group) {
    if (!group) return Json::object();
    return {{"directory", group->directory}, {"monitor", group->monitor}, {"own", group->own}};
}

std::optional<ResctrlGroup> resctrl_from_json(const Json& json) {
    if (json.empty()) return {};
    return ResctrlGroup{.directory = json.value("directory", ""),
                        .monitor = json.value("monitor", ""),
                        .own = json.value("own", std::vector<std::string>{})};
}

cgroup::Cgroup cgroup_from_json(const Json& json) {
    cgroup::Cgroup group{.manager = manager_from(json.value("manager", "cgroupfs")),
                         .layout = layout_from(json.value("layout", "none")),
                         .unified = json.value("unified", ""),
                         .unified_mount_point = json.value("unifiedMountPoint", "")};
    if (const Json unit = json.value("unit", Json{}); unit.is_object()) {
        group.unit = cgroup::Unit{
            .name = unit.value("name", ""),
            .slice = unit.value("slice", ""),
            .owner = unit.value("ofUser", false) ? cgroup::UnitOwner::user : cgroup::UnitOwner::system,
            .program = unit.value("program", "")};
    }
    for (const auto& directory : json.value("v1", Json::array())) {
        group.v1.push_back({.controllers = directory.value("controllers", std::vector<std::string>{}),
                            .path = directory.value("path", ""),
                            .mount_point = directory.value("mountPoint", "")});
    }
    return group;
}

Json image_to_json(const plan::ImageFacts& image) {
    return {{"realPaths", image.real_paths}, {"readable", image.readable}, {"loaders", image.loaders}};
}

plan::ImageFacts image_from_json(const Json& json) {
    return {.real_paths = json.value("realPaths", std::map<std::string, std::string>{}),
            .readable = json.value("readable", std::vector<std::string>{}),
            .loaders = json.value("loaders", std::vector<std::string>{})};
}

// In the order of SourceKind.
constexpr std::array kKindNames = {"grant", "dropBox", "default", "ceiling"};

std::optional<SourceKind> source_kind_from(std::string_view name) {
    for (size_t index = 0; index < kKindNames.size(); ++index) {
        if (kKindNames[index] == name) return static_cast<SourceKind>(index);
    }
    return std::nullopt;
}

State state_from(const Json& json) {
    State state{.id = json.value("id", ""),
                .oci_version = json.value("ociVersion", ""),
                .bundle = json.value("bundle", ""),
                .rootfs = json.value("rootfs", ""),
                .created = json.value("created", ""),
                .owner_uid = json.value("ownerUid", 0U),
                .annotations = json.value("annotations", std::map<std::string, std::string>{}),
                .grant_digest = json.value("grantDigest", ""),
                .cgroup = cgroup_from_json(json.value("cgroup", Json::object())),
                .resctrl = resctrl_from_json(json.value("resctrl", Json::object())),
                .new_keyring = json.value("newKeyring", true),
                .private_pid_namespace = json.value("privatePidNamespace", false),
                .has_poststart_hooks = json.value("poststartHooks", false),
                .has_poststop_hooks = json.value("poststopHooks", false),
                .streams = json.value("streams", std::vector<std::string>{})};
    state.image = image_from_json(json.value("image", Json::object()));
    if (json.contains("rootfsMount")) state.rootfs_mount = json.value("rootfsMount", uint64_t{0});
    state.grants_are_known = json.contains("grants") && json["grants"].is_array();
    for (const auto& grant : json.value("grants", Json::array())) {
        const auto kind = source_kind_from(grant.value("kind", kKindNames[0]));
        state.grants_are_known = state.grants_are_known && kind.has_value();
        state.grants.push_back({.name = grant.value("name", ""),
                                .text = grant.value("text", ""),
                                .kind = kind.value_or(SourceKind::grant),
                                .rule = grant.value("rule", size_t{0})});
    }
    return state;
}

}  // namespace

std::string cgroup_to_text(const cgroup::Cgroup& cgroup) {
    return cgroup_to_json(cgroup).dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::optional<cgroup::Cgroup> cgroup_from_text(std::string_view text) {
    const Json json = Json::parse(text, nullptr, false);
    if (!json.is_object()) return {};
    try {
        return cgroup_from_json(json);
    } catch (const Json::exception&) {
        return {};
    }
}

std::string state_to_json(const State& state) {
    Json grants = Json::array();
    for (const auto& grant : state.grants)
        grants.push_back({{"name", grant.name},
                          {"text", grant.text},
                          {"kind", kKindNames.at(static_cast<size_t>(grant.kind))},
                          {"rule", grant.rule}});
    Json json = {{"id", state.id},
                 {"ociVersion", state.oci_version},
                 {"bundle", state.bundle},
                 {"rootfs", state.rootfs},
                 {"created", state.created},
                 {"ownerUid", state.owner_uid},
                 {"annotations", state.annotations},
                 {"grants", std::move(grants)},
                 {"grantDigest", state.grant_digest},
                 {"cgroup", cgroup_to_json(state.cgroup)},
                 {"resctrl", resctrl_to_json(state.resctrl)},
                 {"newKeyring", state.new_keyring},
                 {"privatePidNamespace", state.private_pid_namespace},
                 {"poststartHooks", state.has_poststart_hooks},
                 {"poststopHooks", state.has_poststop_hooks},
                 {"streams", state.streams}};
    if (!state.grants.empty()) json["image"] = image_to_json(state.image);
    if (state.rootfs_mount) json["rootfsMount"] = *state.rootfs_mount;
    return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::string crun_status(const State& state, const ProcessIdentity& init,
                        const std::vector<std::string>& streams) {
    const auto& cgroup = state.cgroup;
    std::string cgroup_path;
    if (!cgroup.v1.empty()) {
        cgroup_path = cgroup.v1.front().path.substr(cgroup.v1.front().mount_point.size());
    } else if (!cgroup.unified.empty()) {
        cgroup_path = cgroup.unified.substr(cgroup.unified_mount_point.size());
    }
    const Json descriptors = streams;
    const Json json = {
        {"pid", init.pid},
        {"process-start-time", init.start_time},
        {"cgroup-path", cgroup_path},
        {"scope", cgroup.unit ? cgroup.unit->name : ""},
        {"rootfs", state.rootfs},
        {"systemd-cgroup", cgroup.unit.has_value()},
        {"bundle", state.bundle},
        {"created", state.created},
        // A text with JSON in it, as crun has it.
        {"external_descriptors", descriptors.dump(-1, ' ', false, Json::error_handler_t::replace)}};
    return json.dump(4, ' ', false, Json::error_handler_t::replace) + "\n";
}

Result<State> state_from_json(std::string_view text) {
    const Json json = Json::parse(text, nullptr, false);
    if (!json.is_object()) return Error{.message = "state.json is damaged"};
    // value() throws when a field has another type than the one asked for.
    try {
        return state_from(json);
    } catch (const Json::exception& exception) {
        return Error{.message = std::string{"state.json is damaged: "} + exception.what()};
    }
}

}  // namespace rung::runtime

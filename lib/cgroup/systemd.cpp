// A container's scope: started around its first process, changed with its limits, stopped with it.
// SPDX-License-Identifier: Apache-2.0
#include "cgroup/systemd.hpp"

#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "base/log.hpp"
#include "base/path.hpp"
#include "cgroup/devices.hpp"
#include "cgroup/directories.hpp"
#include "cgroup/unit.hpp"
#include "kernel/files.hpp"

namespace rung::cgroup {

namespace {

constexpr const char* kProgram = "rung-systemd";

// Beside rung, as it is built, or where `make install` puts it.
Result<std::string> find_program(const std::string& own) {
    const std::string directory = path::parent(path::clean(own));
    for (const std::string& place : {directory, path::parent(directory) + "/libexec/rung"}) {
        std::string program = path::join(place, kProgram);
        if (::access(program.c_str(), X_OK) == 0) return program;
    }
    return Error{.message = std::string{"--systemd-cgroup needs "} + kProgram + ", which is neither in " +
                            directory + " nor in " + path::parent(directory) + "/libexec/rung"};
}

Result<SystemdSession> connect(const Cgroup& cgroup) {
    return SystemdSession::open(cgroup.unit->program, cgroup.unit->owner);
}

Status tell_properties(SystemdSession& session, const std::vector<UnitProperty>& properties) {
    for (const UnitProperty& property : properties) {
        Record record{"property", property.name, property.type};
        record.insert(record.end(), property.values.begin(), property.values.end());
        TRY(session.tell(record));
    }
    return {};
}

std::vector<UnitProperty> properties_of_scope(const Unit& unit, pid_t pid) {
    std::vector<UnitProperty> properties = {
        {.name = "Description", .type = "s", .values = {"rung container " + unit.name}},
        {.name = "Slice", .type = "s", .values = {unit.slice}},
        {.name = "PIDs", .type = "au", .values = {std::to_string(pid)}}};
    // Accounting makes systemd keep the controllers on, as the files want them.
    for (const char* name :
         {"Delegate", "MemoryAccounting", "CPUAccounting", "IOAccounting", "TasksAccounting"})
        properties.push_back({.name = name, .type = "b", .values = {"true"}});
    properties.push_back({.name = "DefaultDependencies", .type = "b", .values = {"false"}});
    return properties;
}

void append(std::vector<UnitProperty>& properties, const std::vector<UnitProperty>& more) {
    properties.insert(properties.end(), more.begin(), more.end());
}

Result<std::vector<UnitProperty>> properties_of_resources(const Cgroup& cgroup,
                                                          const config::Resources& resources) {
    std::vector<UnitProperty> properties = properties_of_writes(TRY(plan_writes(cgroup, resources)));
    if (is_rootless()) return properties;
    const bool is_complete = resources.devices_are_complete;
    append(properties, properties_of_devices(TRY(reduce_to_policy(
                           is_complete ? resources.devices : with_usual_devices(resources.devices)))));
    return properties;
}

// systemd says that the job is done, not where the process went.
Status require_member(const Cgroup& cgroup, pid_t pid) {
    const std::string path = cgroup.layout == kernel::CgroupLayout::v2 ? cgroup.unified : freezer_of(cgroup);
    if (path.empty()) return {};
    const std::vector<pid_t> pids = TRY(pids_in(path));
    if (std::find(pids.begin(), pids.end(), pid) != pids.end()) return {};
    return Error{.message = "systemd did not put the container's process into " + path};
}

// On a hybrid host systemd may leave the cgroup2 mount, or a hierarchy, alone.
Status join_v1(const Cgroup& cgroup, pid_t pid) {
    if (cgroup.layout != kernel::CgroupLayout::v1) return {};
    TRY(make_missing_directories(cgroup));
    for (const Place& place : places(cgroup))
        TRY(kernel::write_file(place.path + "/cgroup.procs", std::to_string(pid)));
    return {};
}

}  // namespace

Result<Cgroup> locate_on_systemd(const kernel::CgroupFacts& host, const UnitRequest& request) {
    const UnitOwner owner = is_rootless() ? UnitOwner::user : UnitOwner::system;
    Unit unit = TRY(name_unit(request.cgroups_path, request.id, owner));
    unit.program = TRY(find_program(request.own_program));
    std::string manager_group;
    if (owner == UnitOwner::user) {
        auto session = TRY(SystemdSession::open(unit.program, owner));
        const Record manager = TRY(session.ask({"manager"}));
        if (manager.size() == 2) manager_group = manager[1];
    }
    return locate_unit(host, unit, manager_group);
}

Status check_unit_annotations(const std::map<std::string, std::string>& annotations) {
    (void)TRY(properties_of_annotations(annotations));
    return {};
}

Status start_unit(const Cgroup& cgroup, pid_t pid, const config::Resources& resources,
                  const std::map<std::string, std::string>& annotations) {
    std::vector<UnitProperty> properties = properties_of_scope(*cgroup.unit, pid);
    append(properties, TRY(properties_of_annotations(annotations)));
    append(properties, TRY(properties_of_resources(cgroup, resources)));
    auto session = TRY(connect(cgroup));
    TRY(tell_properties(session, properties));
    TRY(session.ask({"start", cgroup.unit->name}));
    Status joined = join_v1(cgroup, pid);
    if (joined) joined = require_member(cgroup, pid);
    if (joined) return {};
    (void)session.ask({"stop", cgroup.unit->name});  // the failure before it is the one to report
    return joined;
}

Status set_unit_limits(const Cgroup& cgroup, const std::vector<Write>& writes) {
    const std::vector<UnitProperty> properties = properties_of_writes(writes);
    if (properties.empty()) return {};
    auto session = TRY(connect(cgroup));
    TRY(tell_properties(session, properties));
    TRY(session.ask({"set", cgroup.unit->name}));
    return {};
}

void stop_unit(const Cgroup& cgroup) {
    auto session = connect(cgroup);
    if (!session) return log::warn(session.error().message);
    if (const auto stopped = session->ask({"stop", cgroup.unit->name}); !stopped)
        log::warn(stopped.error().message);
}

Status attach_to_unit(const Cgroup& cgroup, const std::string& below, pid_t pid) {
    auto session = TRY(connect(cgroup));
    TRY(session.ask({"attach", cgroup.unit->name, below, std::to_string(pid)}));
    return {};
}

}  // namespace rung::cgroup

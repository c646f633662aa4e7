// A container's cgroup as a systemd unit: its name, its place, and limits as unit properties. Pure.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "cgroup/cgroup.hpp"
#include "cgroup/devices.hpp"
#include "config/resources.hpp"
#include "kernel/host_facts.hpp"

namespace rung::cgroup {

// "SLICE:PREFIX:NAME" to the scope PREFIX-NAME.scope in SLICE. No slice: system.slice, or user.slice of a user's systemd; no path at
// all: rung-ID.scope there.
Result<Unit> name_unit(const std::string& cgroups_path, const std::string& id, UnitOwner owner);

// "a-b.slice" lies at "/a.slice/a-b.slice", and "-.slice" is "/".
Result<std::string> path_of_slice(const std::string& slice);

// Where systemd puts it. `manager_group` is the cgroup of a user's systemd, "" for the system's.
Result<Cgroup> locate_unit(const kernel::CgroupFacts& host, const Unit& unit,
                           const std::string& manager_group);

// `type` is a D-Bus signature; `values` has a text for each basic value in it.
struct UnitProperty {
    std::string name = {};
    std::string type = {};
    std::vector<std::string> values = {};
    bool operator==(const UnitProperty&) const = default;
};

// What the file writes come to for systemd, which would otherwise undo them when it is reloaded. What it has no property for is left
// out: that stays with the file.
std::vector<UnitProperty> properties_of_writes(const std::vector<Write>& writes);
// The files that systemd keeps such properties in.
std::vector<std::string> files_of_properties();
// DevicePolicy and DeviceAllow, for the same reason; nodes by number, so that no name in /dev matters (runc#3551).
std::vector<UnitProperty> properties_of_devices(const DevicePolicy& policy);

// "org.systemd.property.NAME": "VALUE", with VALUE as GVariant text. Only properties of the unit's own life are taken: no program to
// start, no limit, nothing that concerns another unit (CVE-2024-3154, runc#5133).
Result<std::vector<UnitProperty>> properties_of_annotations(
    const std::map<std::string, std::string>& annotations);

}  // namespace rung::cgroup

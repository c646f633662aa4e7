// The linux object of config.json: namespaces, mappings, devices and what else only Linux has.
// SPDX-License-Identifier: Apache-2.0
#include <sys/personality.h>

#include "base/path.hpp"
#include "config/named_value.hpp"
#include "config/quoted.hpp"
#include "config/readers.hpp"

namespace rung::config {
namespace {

constexpr NamedValue entry(std::string_view name, NamespaceType type) {
    return {.name = name, .value = static_cast<int>(type)};
}

constexpr NamedValue kNamespaces[] = {
    entry("mount", NamespaceType::mount),     entry("pid", NamespaceType::pid),
    entry("network", NamespaceType::network), entry("ipc", NamespaceType::ipc),
    entry("uts", NamespaceType::uts),         entry("user", NamespaceType::user),
    entry("cgroup", NamespaceType::cgroup),   entry("time", NamespaceType::time),
};

// "u" is a character device without buffering, mknod(1): the same thing for Linux.
constexpr NamedValue kDeviceTypes[] = {
    {"b", static_cast<int>(DeviceType::block)},
    {"c", static_cast<int>(DeviceType::character)},
    {"u", static_cast<int>(DeviceType::character)},
    {"p", static_cast<int>(DeviceType::fifo)},
};

constexpr NamedValue kPersonalities[] = {{"LINUX", PER_LINUX}, {"LINUX32", PER_LINUX32}};

std::vector<Namespace> read_namespaces(const Object& linux_object) {
    std::vector<Namespace> namespaces;
    for (const Object& object : linux_object.objects("namespaces")) {
        const std::string name = object.text("type");
        const auto type = find_value(kNamespaces, name);
        if (!type) object.refuse("type", "unknown namespace type " + quoted(name));
        namespaces.push_back(
            {.type = static_cast<NamespaceType>(type.value_or(0)), .path = object.text("path")});
    }
    return namespaces;
}

Device read_device(const Object& object) {
    Device device;
    const std::string path = object.text("path");
    if (path.empty()) object.refuse("path", "must not be empty");
    device.path = path::join("/", path);
    const std::string name = object.text("type");
    const auto type = find_value(kDeviceTypes, name);
    if (!type) object.refuse("type", "unknown device type " + quoted(name));
    device.type = static_cast<DeviceType>(type.value_or(0));
    if (device.type != DeviceType::fifo) {
        device.major = object.uint32("major").value_or(0);
        device.minor = object.uint32("minor").value_or(0);
    }
    // Docker writes the whole st_mode of the host's node, with its type.
    if (const auto mode = object.uint32("fileMode")) device.mode = *mode & 07777;
    device.uid = object.uint32("uid").value_or(0);
    device.gid = object.uint32("gid").value_or(0);
    return device;
}

std::map<std::string, TimeOffset> read_time_offsets(const Object& linux_object) {
    std::map<std::string, TimeOffset> offsets;
    const Object clocks = linux_object.object("timeOffsets");
    for (const auto& [clock, object] : clocks.members()) {
        offsets[clock] = {.seconds = object.int64("secs").value_or(0),
                          .nanoseconds = object.uint32("nanosecs").value_or(0)};
    }
    return offsets;
}

IntelRdt read_intel_rdt(const Object& object) {
    return {.clos_id = object.text("closID"),
            .l3_cache_schema = object.text("l3CacheSchema"),
            .memory_bandwidth_schema = object.text("memBwSchema"),
            .schemata = object.texts("schemata"),
            .enable_monitoring = object.boolean("enableMonitoring")};
}

// Without a word on flags the filter alone does not slow the container down by a processor mitigation (PR_SPEC_STORE_BYPASS), as for runc;
// an empty list asks for it.
void use_default_flags(const Object& object, std::optional<Seccomp>& seccomp) {
    if (seccomp && !object.names("flags")) seccomp->flags = {"SECCOMP_FILTER_FLAG_SPEC_ALLOW"};
}

void read_personality(const Object& object, Linux& result) {
    const Object personality = object.object("personality");
    const std::string domain = personality.text("domain");
    const auto value = find_value(kPersonalities, domain);
    if (!value) personality.refuse("domain", "unknown personality " + quoted(domain));
    result.personality = static_cast<unsigned long>(value.value_or(0));
    result.personality_flags = personality.texts("flags");
}

std::map<std::string, std::string> read_net_devices(const Object& object) {
    std::map<std::string, std::string> devices;
    const Object list = object.object("netDevices");
    for (const auto& [name, device] : list.members())
        devices[name] = device.text("name");
    return devices;
}

}  // namespace

std::vector<IdMapping> read_mappings(const Object& parent, std::string_view name) {
    std::vector<IdMapping> mappings;
    for (const Object& object : parent.objects(name)) {
        mappings.push_back({.container_id = object.uint32("containerID").value_or(0),
                            .host_id = object.uint32("hostID").value_or(0),
                            .size = object.uint32("size").value_or(0)});
    }
    return mappings;
}

Linux read_linux(const Object& object) {
    Linux result;
    result.namespaces = read_namespaces(object);
    result.uid_mappings = read_mappings(object, "uidMappings");
    result.gid_mappings = read_mappings(object, "gidMappings");
    result.time_offsets = read_time_offsets(object);
    for (const Object& device : object.objects("devices"))
        result.devices.push_back(read_device(device));
    result.cgroups_path = object.text("cgroupsPath");
    const Object resources = object.object("resources");
    result.resources = read_resources(resources);
    result.rootfs_propagation = object.text("rootfsPropagation");
    const Object seccomp = object.object("seccomp");
    result.seccomp = read_seccomp(seccomp);
    use_default_flags(seccomp, result.seccomp);
    result.sysctl = object.text_map("sysctl");
    result.masked_paths = object.texts("maskedPaths");
    result.readonly_paths = object.texts("readonlyPaths");
    result.mount_label = object.text("mountLabel");
    if (object.has("personality")) read_personality(object, result);
    if (object.has_object("memoryPolicy")) {
        const Object policy = object.object("memoryPolicy");
        result.memory_policy = read_memory_policy(policy);
    }
    if (object.has_object("netDevices")) result.net_devices = read_net_devices(object);
    if (object.has_object("intelRdt")) result.intel_rdt = read_intel_rdt(object.object("intelRdt"));
    return result;
}

}  // namespace rung::config

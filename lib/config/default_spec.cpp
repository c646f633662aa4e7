// The configuration that `rung spec` writes, as text: it is meant to be read and edited by people.
// SPDX-License-Identifier: Apache-2.0
#include <string_view>
#include <vector>

#include "config/parse.hpp"

namespace rung::config {
namespace {

// The oldest version that has every field below, so that any other runtime reads the file as well.
constexpr std::string_view kProcess = R"({
	"ociVersion": "1.0.2",
	"process": {
		"terminal": true,
		"user": {
			"uid": 0,
			"gid": 0
		},
		"args": [
			"sh"
		],
		"env": [
			"PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
			"TERM=xterm"
		],
		"cwd": "/",
		"capabilities": {
			"bounding": [
				"CAP_AUDIT_WRITE",
				"CAP_KILL",
				"CAP_NET_BIND_SERVICE"
			],
			"effective": [
				"CAP_AUDIT_WRITE",
				"CAP_KILL",
				"CAP_NET_BIND_SERVICE"
			],
			"permitted": [
				"CAP_AUDIT_WRITE",
				"CAP_KILL",
				"CAP_NET_BIND_SERVICE"
			]
		},
		"rlimits": [
			{
				"type": "RLIMIT_NOFILE",
				"hard": 1024,
				"soft": 1024
			}
		],
		"noNewPrivileges": true
	},
	"root": {
		"path": "rootfs",
		"readonly": true
	},
	"hostname": "rung",
	"mounts": [
)";

struct MountText {
    std::string_view destination = {};
    std::string_view type = {};
    std::string_view source = {};
    std::vector<std::string_view> options = {};
};

constexpr std::string_view kPaths = R"(,
		"maskedPaths": [
			"/proc/acpi",
			"/proc/asound",
			"/proc/kcore",
			"/proc/keys",
			"/proc/latency_stats",
			"/proc/timer_list",
			"/proc/timer_stats",
			"/proc/sched_debug",
			"/sys/firmware",
			"/proc/scsi"
		],
		"readonlyPaths": [
			"/proc/bus",
			"/proc/fs",
			"/proc/irq",
			"/proc/sys",
			"/proc/sysrq-trigger"
		]
	}
}
)";

constexpr std::string_view kResources = R"(		"resources": {
			"devices": [
				{
					"allow": false,
					"access": "rwm"
				}
			]
		},
)";

std::vector<MountText> mounts(const SpecTemplate& wanted) {
    std::vector<MountText> list = {
        {"/proc", "proc", "proc", {}},
        {"/dev", "tmpfs", "tmpfs", {"nosuid", "strictatime", "mode=755", "size=65536k"}},
        {"/dev/pts", "devpts", "devpts", {"nosuid", "noexec", "newinstance", "ptmxmode=0666", "mode=0620"}},
        {"/dev/shm", "tmpfs", "shm", {"nosuid", "noexec", "nodev", "mode=1777", "size=65536k"}},
        {"/dev/mqueue", "mqueue", "mqueue", {"nosuid", "noexec", "nodev"}}};
    if (wanted.rootless) {
        // Its network namespace is the host's, and without owning that one sysfs cannot be mounted.
        list.push_back({"/sys", "none", "/sys", {"rbind", "nosuid", "noexec", "nodev", "ro"}});
    } else {
        list[2].options.push_back("gid=5");  // the tty group, which a single mapped id does not reach
        list.push_back({"/sys", "sysfs", "sysfs", {"nosuid", "noexec", "nodev", "ro"}});
    }
    list.push_back({"/sys/fs/cgroup", "cgroup", "cgroup", {"nosuid", "noexec", "nodev", "relatime", "ro"}});
    return list;
}

std::string text_of(const MountText& mount) {
    const auto field = [](std::string_view name, std::string_view value) {
        return "\t\t\t\"" + std::string{name} + "\": \"" + std::string{value} + "\"";
    };
    std::string text = "\t\t{\n" + field("destination", mount.destination) + ",\n" +
                       field("type", mount.type) + ",\n" + field("source", mount.source);
    std::string_view before = ",\n\t\t\t\"options\": [\n";
    for (const std::string_view option : mount.options) {
        text += before;
        text += "\t\t\t\t\"" + std::string{option} + "\"";
        before = ",\n";
    }
    if (!mount.options.empty()) text += "\n\t\t\t]";
    return text + "\n\t\t}";
}

std::string mapping(std::string_view name, uint32_t host_id) {
    return "\t\t\"" + std::string{name} +
           "\": [\n\t\t\t{\n\t\t\t\t\"containerID\": 0,\n\t\t\t\t\"hostID\": " + std::to_string(host_id) +
           ",\n\t\t\t\t\"size\": 1\n\t\t\t}\n\t\t],\n";
}

std::string namespaces(const SpecTemplate& wanted) {
    std::vector<std::string_view> types = {"pid", wanted.rootless ? "user" : "network", "ipc", "uts",
                                           "mount"};
    if (wanted.cgroup_namespace) types.push_back("cgroup");
    std::string text = "\t\t\"namespaces\": [\n";
    for (const std::string_view type : types) {
        text += "\t\t\t{\n\t\t\t\t\"type\": \"" + std::string{type} + "\"\n\t\t\t}";
        text += type == types.back() ? "\n" : ",\n";
    }
    return text + "\t\t]";
}

}  // namespace

std::string default_spec_json(const SpecTemplate& wanted) {
    std::string text{kProcess};
    std::string_view before = {};
    for (const MountText& mount : mounts(wanted)) {
        text += before;
        text += text_of(mount);
        before = ",\n";
    }
    text += "\n\t],\n\t\"linux\": {\n";
    if (wanted.rootless) {
        text += mapping("uidMappings", wanted.uid) + mapping("gidMappings", wanted.gid);
    } else {
        text += kResources;
    }
    text += namespaces(wanted);
    text += kPaths;
    return text;
}

}  // namespace rung::config

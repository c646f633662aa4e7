// --network and --ignore-cgroups are not here: they mean something, and options.cpp has them.
// SPDX-License-Identifier: Apache-2.0
#include "runsc_flags.hpp"

#include <algorithm>
#include <array>
#include <string_view>

namespace rung::cli {

namespace {

constexpr std::array kValues = {"EXPERIMENTAL-xdp",
                                "character-device-policy",
                                "control-rpc-stop-timeout",
                                "controller-fd",
                                "coverage-report",
                                "cuda-checkpoint-path",
                                "dcache",
                                "debug-command",
                                "debug-log",
                                "debug-log-format",
                                "fdlimit",
                                "file-access",
                                "file-access-mounts",
                                "final-metrics-log",
                                "gofer-network-namespace",
                                "host-fifo",
                                "host-settings",
                                "host-uds",
                                "in-sandbox-cgroup",
                                "metric-server",
                                "network-processors-per-channel",
                                "network-proxy-path",
                                "num-network-channels",
                                "nvproxy-allowed-driver-capabilities",
                                "nvproxy-driver-version",
                                "overlay2",
                                "override-procs",
                                "panic-log",
                                "panic-signal",
                                "pcap-log",
                                "platform",
                                "platform_device_path",
                                "pod-init-config",
                                "profile-block",
                                "profile-cpu",
                                "profile-gc-interval",
                                "profile-heap",
                                "profile-mutex",
                                "profiling-metrics",
                                "profiling-metrics-log",
                                "profiling-metrics-rate-us",
                                "qdisc",
                                "qdisc-tbf-burst",
                                "qdisc-tbf-rate",
                                "ref-leak-mode",
                                "restore-spec-validation",
                                "save-restore-netstack-timeout",
                                "shared-root",
                                "sidecar-release-enforcement-policy",
                                "sidecar-usage-policy",
                                "signal-unkillable-policy",
                                "strace-log-size",
                                "strace-syscalls",
                                "trace",
                                "traceback",
                                "user-log",
                                "watchdog-action"};

constexpr std::array kSwitches = {"EXPERIMENTAL-afs-direct-vfs",
                                  "EXPERIMENTAL-xdp-need-wakeup",
                                  "TESTONLY-unsafe-nonroot",
                                  "allow-connected-on-save",
                                  "allow-flag-override",
                                  "allow-live-tcp-migration",
                                  "allow-packet-socket-write",
                                  "allow-rootfs-tar-annotation",
                                  "allow-suid",
                                  "alsologtostderr",
                                  "app-huge-pages",
                                  "buffer-pooling",
                                  "cpu-num-from-quota",
                                  "debug-to-user-log",
                                  "directfs",
                                  "enable-core-tags",
                                  "fsgofer-host-uds",
                                  "gso",
                                  "gvisor-gro",
                                  "gvisor-marker-file",
                                  "iouring",
                                  "kvm-use-cpu-nums",
                                  "lisafs",
                                  "log-packets",
                                  "net-disconnect-ok",
                                  "net-raw",
                                  "nvproxy",
                                  "nvproxy-allow-unsupported-driver",
                                  "nvproxy-docker",
                                  "oci-seccomp",
                                  "overlay",
                                  "pause-external-networking",
                                  "profile",
                                  "rdmaproxy",
                                  "reproduce-nat",
                                  "reproduce-nftables",
                                  "rx-checksum-offload",
                                  "save-restore-netstack",
                                  "software-gso",
                                  "strace",
                                  "strace-event",
                                  "systrap-disable-fast-path",
                                  "systrap-disable-syscall-patching",
                                  "tpuproxy",
                                  "tx-checksum-offload",
                                  "vfs2"};

}  // namespace

void RunscFlags::declare(Flags& flags, const Words& words) {
    const auto is_named = [&](std::string_view name) {
        return std::any_of(words.begin(), words.end(), [&](std::string_view word) {
            word.remove_prefix(std::min(word.find_first_not_of('-'), word.size()));
            return word.substr(0, word.find('=')) == name;
        });
    };
    for (const std::string_view name : kValues) {
        if (is_named(name)) flags.add(name, &values_[std::string{name}]);
    }
    for (const std::string_view name : kSwitches) {
        if (is_named(name)) flags.add(name, &switches_[std::string{name}]);
    }
}

std::vector<std::string> RunscFlags::remarks() const {
    std::vector<std::string> lines;
    const auto remark = [&](const std::string& name, const std::string& value) {
        lines.push_back("--" + name + "=" + value + " is accepted and without effect");
    };
    for (const auto& [name, value] : values_) {
        if (value) remark(name, *value);
    }
    for (const auto& [name, value] : switches_) {
        if (value) remark(name, *value ? "true" : "false");
    }
    return lines;
}

}  // namespace rung::cli

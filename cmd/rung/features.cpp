// rung features: what this build does, as the runtime specification's features document. Only what works is listed.
// SPDX-License-Identifier: Apache-2.0
#include <nlohmann/json.hpp>

#include "build_info.hpp"
#include "config/capability.hpp"
#include "config/mount_options.hpp"
#include "standard_streams.hpp"
#include "verbs.hpp"

namespace rung::cli {

namespace {

using Json = nlohmann::ordered_json;

Json seccomp_features() {
    return {
        {"enabled", true},
        {"actions",
         {"SCMP_ACT_ALLOW", "SCMP_ACT_ERRNO", "SCMP_ACT_KILL", "SCMP_ACT_KILL_PROCESS",
          "SCMP_ACT_KILL_THREAD", "SCMP_ACT_LOG", "SCMP_ACT_NOTIFY", "SCMP_ACT_TRACE", "SCMP_ACT_TRAP"}},
        {"operators",
         {"SCMP_CMP_EQ", "SCMP_CMP_GE", "SCMP_CMP_GT", "SCMP_CMP_LE", "SCMP_CMP_LT", "SCMP_CMP_MASKED_EQ",
          "SCMP_CMP_NE"}},
        {"archs",
         {"SCMP_ARCH_AARCH64", "SCMP_ARCH_ARM", "SCMP_ARCH_MIPS", "SCMP_ARCH_MIPS64", "SCMP_ARCH_MIPS64N32",
          "SCMP_ARCH_MIPSEL", "SCMP_ARCH_MIPSEL64", "SCMP_ARCH_MIPSEL64N32", "SCMP_ARCH_PPC",
          "SCMP_ARCH_PPC64", "SCMP_ARCH_PPC64LE", "SCMP_ARCH_RISCV64", "SCMP_ARCH_S390", "SCMP_ARCH_S390X",
          "SCMP_ARCH_X32", "SCMP_ARCH_X86", "SCMP_ARCH_X86_64"}},
        {"knownFlags",
         {"SECCOMP_FILTER_FLAG_LOG", "SECCOMP_FILTER_FLAG_SPEC_ALLOW", "SECCOMP_FILTER_FLAG_TSYNC",
          "SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV"}},
        {"supportedFlags",
         {"SECCOMP_FILTER_FLAG_LOG", "SECCOMP_FILTER_FLAG_SPEC_ALLOW", "SECCOMP_FILTER_FLAG_TSYNC",
          "SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV"}},
    };
}

Json linux_features() {
    const Json enabled = {{"enabled", true}};
    return {
        {"namespaces", {"cgroup", "ipc", "mount", "network", "pid", "time", "user", "uts"}},
        {"capabilities", config::capability_names(~uint64_t{0} >> (63 - config::last_capability()))},
        {"cgroup", {{"v1", true}, {"v2", true}, {"systemd", true}, {"systemdUser", true}, {"rdma", true}}},
        {"seccomp", seccomp_features()},
        {"apparmor", enabled},
        {"selinux", enabled},
        {"intelRdt", {{"enabled", true}, {"schemata", true}, {"monitoring", true}}},
        {"memoryPolicy",
         {{"modes",
           {"MPOL_BIND", "MPOL_DEFAULT", "MPOL_INTERLEAVE", "MPOL_LOCAL", "MPOL_PREFERRED",
            "MPOL_PREFERRED_MANY", "MPOL_WEIGHTED_INTERLEAVE"}},
          {"flags", {"MPOL_F_NUMA_BALANCING", "MPOL_F_RELATIVE_NODES", "MPOL_F_STATIC_NODES"}}}},
        {"mountExtensions", {{"idmap", enabled}}},
        {"netDevices", enabled},
    };
}

}  // namespace

Result<int> perform(const runtime::Globals&, const Features&) {
    const Json features = {
        {"ociVersionMin", "1.0.0"},
        {"ociVersionMax", spec_version()},
        {"hooks",
         {"prestart", "createRuntime", "createContainer", "startContainer", "poststart", "poststop"}},
        {"mountOptions", config::known_mount_options()},
        {"linux", linux_features()},
        {"annotations",
         {{"dev.rung.commit", commit()},
          {"dev.rung.version", rung_version()},
          {"io.github.seccomp.libseccomp.version", libseccomp_version()}}},
        // A grant can only narrow, but an engine that lets strangers set annotations should know that these are read.
        {"potentiallyUnsafeConfigAnnotations",
         {"dev.rung.", "org.criu.config", "org.systemd.property.", "run.oci.keep_original_groups",
          "run.oci.seccomp_fail_unknown_syscall"}},
    };
    TRY(print(features.dump(4) + "\n"));
    return 0;
}

}  // namespace rung::cli

// config.json and its parts: what is read, and what is refused with which words.
// SPDX-License-Identifier: Apache-2.0
#include "config/parse.hpp"

#include <doctest/doctest.h>
#include <linux/capability.h>
#include <sched.h>
#include <sys/personality.h>
#include <sys/resource.h>

#include <fstream>
#include <iterator>

using namespace rung::config;

namespace {

std::string sample(const std::string& name) {
    std::ifstream file{std::string{RUNG_SOURCE_DIR} + "/tests/config/samples/" + name};
    REQUIRE(file);
    return {std::istreambuf_iterator<char>{file}, {}};
}

// A whole config.json whose process holds `fields` as well.
std::string with_process(const std::string& fields) {
    return R"({"root":{"path":"rootfs"},"process":{"args":["sh"],"cwd":"/",)" + fields + "}}";
}

// A whole config.json that has `fields` besides a root and a process.
std::string with(const std::string& fields) {
    return R"({"root":{"path":"rootfs"},"process":{"args":["sh"],"cwd":"/"},)" + fields + "}";
}

std::string error_of(const std::string& json) {
    const auto spec = parse_spec(json);
    return spec ? "" : spec.error().message;
}

Spec parsed(const std::string& json) {
    auto spec = parse_spec(json);
    REQUIRE_MESSAGE(spec, spec.error().message);
    return *std::move(spec);
}

}  // namespace

TEST_CASE("a Docker container's configuration is read") {
    const Spec spec = parsed(sample("docker-bridge.json"));

    CHECK(spec.oci_version == "1.2.0");
    CHECK(spec.process.args == std::vector<std::string>{"nginx", "-g", "daemon off;"});
    CHECK(spec.process.user == User{.additional_gids = {0, 10}});
    REQUIRE(spec.process.capabilities);
    CHECK(spec.process.capabilities->bounding ==
          ((1u << CAP_CHOWN) | (1u << CAP_NET_BIND_SERVICE) | (1u << CAP_SETUID)));
    CHECK(spec.process.capabilities->ambient == 0);
    CHECK(spec.mounts.size() == 7);
    CHECK(spec.mounts[6] == Mount{.destination = "/srv",
                                  .type = "bind",
                                  .source = "/srv/web",
                                  .options = {"rbind", "ro", "rslave"}});
    CHECK(spec.hooks.prestart[0] ==
          Hook{.path = "/proc/17/exe", .args = {"set-network-key", "web"}, .timeout_seconds = 10});
    CHECK(spec.annotations.at("dev.example.team") == "front");
    CHECK(spec.linux_.devices[0].mode == 0666);
    CHECK(spec.has_namespace(NamespaceType::network));
    CHECK_FALSE(spec.has_namespace(NamespaceType::user));
}

TEST_CASE("resources keep what is absent apart from what is zero") {
    const Resources resources = parsed(sample("docker-bridge.json")).linux_.resources;

    CHECK(resources.devices[0] == DeviceRule{.allow = false, .type = 'a', .access = "rwm"});
    CHECK(resources.devices[2] ==
          DeviceRule{.allow = true, .type = 'c', .major = 136, .minor = -1, .access = "rw"});
    CHECK(resources.memory ==
          MemoryResources{.limit = 268435456, .swap = 536870912, .disable_oom_killer = false});
    CHECK(resources.cpu == CpuResources{.shares = 512, .quota = -1, .period = 100000, .cpus = "0-1"});
    CHECK(resources.pids_limit == 100);
    CHECK(resources.block_io.weight == 300);
    CHECK(resources.block_io.read_bps ==
          std::vector<ThrottleDevice>{{.major = 8, .minor = 0, .rate = 1048576}});
}

TEST_CASE("a seccomp profile is read with its arguments and error numbers") {
    const auto seccomp = parsed(sample("docker-bridge.json")).linux_.seccomp;

    REQUIRE(seccomp);
    CHECK(seccomp->default_action == SeccompAction::error);
    CHECK(seccomp->default_errno_ret == 1);
    CHECK(seccomp->architectures == std::vector<std::string>{"SCMP_ARCH_X86_64", "SCMP_ARCH_X86"});
    CHECK(seccomp->rules[0].names == std::vector<std::string>{"read", "write", "exit_group"});
    CHECK(seccomp->rules[1].args ==
          std::vector<SeccompArg>{{.index = 0, .value = 2114060288, .op = SeccompOperator::masked_equal}});
    CHECK(seccomp->rules[2].errno_ret == 38);
}

TEST_CASE("a terminal, a umask and rlimits are read") {
    const Spec spec = parsed(sample("docker-terminal.json"));

    CHECK(spec.process.terminal);
    CHECK(spec.process.console_size == ConsoleSize{.height = 24, .width = 80});
    CHECK(spec.process.user == User{.uid = 1000, .gid = 1000, .umask = 022});
    CHECK(spec.process.rlimits[0] == Rlimit{.resource = RLIMIT_NOFILE, .soft = 1024, .hard = RLIM_INFINITY});
    CHECK_FALSE(spec.process.capabilities);
    CHECK(spec.root == Root{.path = "rootfs", .read_only = true});
    CHECK(spec.linux_.rootfs_propagation == "rslave");
}

TEST_CASE("a new user namespace has its mappings, and a time namespace its offsets") {
    const Linux linux_part = parsed(sample("user-namespace.json")).linux_;

    CHECK(linux_part.uid_mappings ==
          std::vector<IdMapping>{{.container_id = 0, .host_id = 100000, .size = 65536}});
    CHECK(linux_part.gid_mappings ==
          std::vector<IdMapping>{{.container_id = 0, .host_id = 200000, .size = 65536}});
    CHECK(linux_part.time_offsets.at("monotonic") == TimeOffset{.seconds = -5, .nanoseconds = 500});
    CHECK(linux_part.time_offsets.at("boottime") == TimeOffset{.seconds = 60});
    CHECK(linux_part.personality == PER_LINUX32);
}

TEST_CASE("a pod's sandbox and a container that joins it are read") {
    const Spec sandbox = parsed(sample("cri-sandbox.json"));
    const Spec container = parsed(sample("cri-container.json"));

    CHECK(sandbox.find_namespace(NamespaceType::network)->path == "/var/run/netns/pod");
    CHECK(container.find_namespace(NamespaceType::user)->path == "/proc/17/ns/user");
    CHECK(container.linux_.resources.unified.at("memory.oom.group") == "1");
    CHECK(container.linux_.resources.hugepage_limits ==
          std::vector<HugepageLimit>{{.page_size = "2MB", .limit = 0}});
    CHECK_FALSE(container.linux_.seccomp);
}

TEST_CASE("a process and resources are read alone") {
    const auto process = parse_process(sample("exec-process.json"));
    const auto resources = parse_resources(sample("update-resources.json"));

    REQUIRE(process);
    CHECK(process->scheduler == Scheduler{.policy = SCHED_BATCH, .nice = 5});
    CHECK(process->io_priority == IoPriority{.io_class = 2, .priority = 4});
    REQUIRE(resources);
    CHECK(resources->memory.limit == 0);
    CHECK_FALSE(resources->memory.kernel_tcp);
    CHECK(resources->pids_limit == 50);
}

TEST_CASE("keys match in any case, unknown keys are ignored, and null is absent") {
    const Spec spec = parsed(
        R"({"OCIVersion":"1.99.0","ROOT":{"Path":"r"},"process":{"ARGS":["sh"],"cwd":"/","novelty":[{}]},
            "hostname":null,"linux":{"resources":{"hugepagelimits":[{"pagesize":"2MB","limit":1}],"pids":null}},
            "windows":{"x":1}})");

    CHECK(spec.oci_version == "1.99.0");
    CHECK(spec.root.path == "r");
    CHECK(spec.hostname.empty());
    CHECK(spec.linux_.resources.hugepage_limits[0].page_size == "2MB");
    CHECK_FALSE(spec.linux_.resources.pids_limit);
}

TEST_CASE("a field given in two spellings is refused") {
    CHECK(error_of(with(R"("hostname":"a","hostName":"b")")) ==
          "config.json: hostname: given twice, in different spellings");
}

TEST_CASE("an object given in two spellings has the fields of both") {
    const auto spec = parsed(R"({"ociVersion":"1.2.0","root":{"path":"r"},"process":{"args":["x"],"cwd":"/"},
            "linux":{"resources":{"cpu":{"shares":7},"CPU":{"Cpus":"0","mems":"1"}}}})");

    CHECK(spec.linux_.resources.cpu.shares == 7);
    CHECK(spec.linux_.resources.cpu.cpus == "0");
    CHECK(spec.linux_.resources.cpu.mems == "1");
}

TEST_CASE("a field given in both spellings of its object is refused") {
    CHECK(error_of(with(R"("linux":{"resources":{"cpu":{"cpus":"0"},"CPU":{"Cpus":"1"}}})")) ==
          "config.json: linux.resources.cpu.cpus: given twice, in different spellings");
    CHECK(error_of(with(R"("linux":{"resources":{"cpu":{"cpus":"0"},"CPU":{"cpus":"1"}}})")) ==
          "config.json: linux.resources.cpu: given twice, in different spellings");
}

TEST_CASE("letters of a device's access that mean nothing are passed over") {
    const auto spec = parsed(R"({"ociVersion":"1.2.0","root":{"path":"r"},"process":{"args":["x"],"cwd":"/"},
            "linux":{"resources":{"devices":[{"allow":false,"access":"rwa"}]}}})");

    CHECK(spec.linux_.resources.devices[0].access == "rw");
}

TEST_CASE("versions of the same major number are accepted, earlier ones, and an absent one") {
    for (const std::string version :
         {"0.5.0-dev", "1.0.0", "1.0.2-dev", "1.0.0-rc5", "1.3.0", "1.99.0", ""}) {
        CHECK_MESSAGE(error_of(with("\"ociVersion\":\"" + version + "\"")) == "", version);
    }
    CHECK(error_of(with(R"("annotations":{})")) == "");
    for (const std::string version : {"2.0.0", "10.0.0", "new"}) {
        CHECK(error_of(with("\"ociVersion\":\"" + version + "\"")) ==
              "config.json: ociVersion: runtime spec version \"" + version + "\" not supported");
    }
}

TEST_CASE("text that is not JSON is refused with its position") {
    CHECK(error_of("{\n  \"root\": {,\n}") == "config.json: not valid JSON at line 2, column 12");
    CHECK(error_of("{\"a\":1} x") == "config.json: not valid JSON at line 1, column 9");
    CHECK(error_of("") == "config.json: the JSON text ends too early, at line 1, column 1");
    CHECK(error_of("{\"a\":") == "config.json: the JSON text ends too early, at line 1, column 6");
    CHECK(error_of("[]") == "config.json: expected a JSON object");
    CHECK(error_of("{\"a\":1e999}") == "config.json: not valid JSON: a number is too large");
    CHECK(error_of("{\"a\":\"\xff\"}").starts_with("config.json: not valid JSON at line 1"));
}

TEST_CASE("deep nesting is neither a crash nor a hang") {
    const std::string deep = "{\"x\":" + std::string(100000, '[');

    CHECK(error_of(deep).starts_with("config.json: the JSON text ends too early"));
}

TEST_CASE("a wrong type is told with the path of the field") {
    CHECK(error_of(with_process(R"("env":["A=1",2])")) == "config.json: process.env[1]: expected a string");
    CHECK(error_of(with_process(R"("env":"A=1")")) == "config.json: process.env: expected a list");
    CHECK(error_of(with_process(R"("terminal":1)")) ==
          "config.json: process.terminal: expected true or false");
    CHECK(error_of(with_process(R"("user":{"uid":-1})")) ==
          "config.json: process.user.uid: expected an integer from 0 to 4294967295");
    CHECK(error_of(with_process(R"("user":{"uid":1.0})")) ==
          "config.json: process.user.uid: expected an integer from 0 to 4294967295");
    CHECK(error_of(with_process(R"("user":{"additionalGids":[1,"2"]})")) ==
          "config.json: process.user.additionalGids[1]: expected an integer from 0 to 4294967295");
    CHECK(error_of(with(R"("mounts":[{"destination":"/a"},{"destination":5}])")) ==
          "config.json: mounts[1].destination: expected a string");
    CHECK(error_of(with(R"("mounts":[null])")) == "config.json: mounts[0]: expected an object");
    CHECK(error_of(with(R"("annotations":{"a":1})")) == "config.json: annotations.a: expected a string");
    CHECK(error_of(with(R"("linux":{"resources":{"memory":{"limit":9223372036854775808}}})"))
              .starts_with("config.json: linux.resources.memory.limit: expected an integer"));
}

TEST_CASE("a NUL byte is refused wherever it stands") {
    CHECK(error_of(with(R"("mounts":[{"destination":"/a\u0000b"}])")) ==
          "config.json: mounts[0].destination: must not contain a NUL byte");
    CHECK(error_of(with_process(R"("env":["A=\u0000"])")) ==
          "config.json: process.env[0]: must not contain a NUL byte");
    CHECK(error_of(with(R"("annotations":{"a":"b\u0000"})")) ==
          "config.json: annotations.a: must not contain a NUL byte");
}

TEST_CASE("id-mapped mounts, network devices and cache allocation are read") {
    const Spec spec = parsed(with(R"("mounts":[{"destination":"/a","source":"/b","options":["rbind","ridmap"],
        "uidMappings":[{"containerID":0,"hostID":100000,"size":10}],"gidMappings":[{"containerID":1,"hostID":2,"size":3}]}],
        "linux":{"namespaces":[{"type":"network"}],"netDevices":{"eth0":{"name":"inside"},"ens4":{}},
        "intelRdt":{"closID":"gold","l3CacheSchema":"L3:0=f","memBwSchema":"MB:0=20","schemata":["L2:0=f"],
        "enableMonitoring":true},"personality":{"domain":"LINUX","flags":["X"]}})"));

    CHECK(spec.mounts[0].uid_mappings == std::vector<IdMapping>{{.host_id = 100000, .size = 10}});
    CHECK(spec.mounts[0].gid_mappings ==
          std::vector<IdMapping>{{.container_id = 1, .host_id = 2, .size = 3}});
    CHECK(spec.linux_.net_devices == std::map<std::string, std::string>{{"eth0", "inside"}, {"ens4", ""}});
    CHECK(spec.linux_.intel_rdt == IntelRdt{.clos_id = "gold",
                                            .l3_cache_schema = "L3:0=f",
                                            .memory_bandwidth_schema = "MB:0=20",
                                            .schemata = {"L2:0=f"},
                                            .enable_monitoring = true});
    CHECK(spec.linux_.personality_flags == std::vector<std::string>{"X"});
}

TEST_CASE("a memory policy is a mode, nodes and flags that go together") {
    const auto policy = [](const std::string& fields) {
        return with(R"("linux":{"memoryPolicy":{)" + fields + "}}");
    };

    CHECK(parsed(policy(R"("mode":"MPOL_INTERLEAVE","nodes":"0,2","flags":["MPOL_F_STATIC_NODES"])"))
              .linux_.memory_policy == MemoryPolicy{.mode = 3 | 1 << 15, .nodes = {5}});
    CHECK(parsed(policy(R"("mode":"MPOL_PREFERRED")")).linux_.memory_policy == MemoryPolicy{.mode = 1});
    CHECK_FALSE(parsed(with(R"("annotations":{})")).linux_.memory_policy);
    CHECK(error_of(policy("")) == "config.json: linux.memoryPolicy.mode: invalid memory policy mode \"\"");
    CHECK(error_of(policy(R"("mode":"MPOL_LOCAL","nodes":"0-7")")) ==
          "config.json: linux.memoryPolicy.nodes: memory policy mode requires 0 nodes but got 8");
    CHECK(error_of(policy(R"("mode":"MPOL_BIND")")) ==
          "config.json: linux.memoryPolicy.nodes: memory policy mode requires at least one node but got 0");
    CHECK(error_of(policy(R"("mode":"MPOL_BIND","nodes":"a")")) ==
          "config.json: linux.memoryPolicy.nodes: invalid memory policy nodes \"a\": \"a\" is not a number");
    CHECK(error_of(policy(R"("mode":"MPOL_BIND","nodes":"0","flags":["Y"])")) ==
          "config.json: linux.memoryPolicy.flags: invalid memory policy flag \"Y\"");
}

TEST_CASE("the CPUs of an exec are read as masks") {
    CHECK(parsed(with_process(R"("execCPUAffinity":{"initial":"7","final":"0-3"})"))
              .process.exec_cpu_affinity == CpuAffinity{.initial = {0x80}, .final = {0xf}});
    CHECK(error_of(with_process(R"("execCPUAffinity":{"final":"x"})")) ==
          "config.json: process.execCPUAffinity.final: \"x\" is not a number");
}

TEST_CASE("a filter is free of a mitigation unless its flags are given") {
    const auto flags = [](const std::string& fields) {
        return parsed(with(R"("linux":{"seccomp":{"defaultAction":"SCMP_ACT_ALLOW")" + fields + "}}"))
            .linux_.seccomp->flags;
    };

    CHECK(flags("") == std::vector<std::string>{"SECCOMP_FILTER_FLAG_SPEC_ALLOW"});
    CHECK(flags(R"(,"flags":[])").empty());
    CHECK(flags(R"(,"flags":["SECCOMP_FILTER_FLAG_LOG"])") ==
          std::vector<std::string>{"SECCOMP_FILTER_FLAG_LOG"});
}

TEST_CASE("unknown capabilities are collected once and are not an error") {
    const Spec spec = parsed(with_process(
        R"("capabilities":{"bounding":["CAP_NOPE","CAP_KILL"],"effective":["CAP_NOPE","cap_kill"]})"));

    REQUIRE(spec.process.capabilities);
    CHECK(spec.process.capabilities->bounding == 1u << CAP_KILL);
    CHECK(spec.process.capabilities->effective == 0);
    CHECK(spec.process.capabilities->unknown == std::vector<std::string>{"CAP_NOPE", "cap_kill"});
}

TEST_CASE("an empty capabilities object empties every set") {
    CHECK_FALSE(parsed(with_process(R"("capabilities":null)")).process.capabilities);
    CHECK(parsed(with_process(R"("capabilities":{"bounding":[]})")).process.capabilities == Capabilities{});
}

TEST_CASE("relative destinations and device paths are relative to the root") {
    const Spec spec = parsed(with(
        R"("mounts":[{"destination":"rel"}],"linux":{"devices":[{"path":"dev/x","type":"p","major":-1}]})"));

    CHECK(spec.mounts[0].destination == "/rel");
    CHECK(spec.linux_.devices[0].path == "/dev/x");
    CHECK(spec.linux_.devices[0].type == DeviceType::fifo);
}

TEST_CASE("any negative pids limit or quota means unlimited") {
    const auto resources = parse_resources(R"({"pids":{"limit":-7},"cpu":{"quota":-5}})");

    REQUIRE(resources);
    CHECK(resources->pids_limit == -1);
    CHECK(resources->cpu.quota == -1);
}

TEST_CASE("every seccomp action and operator has its value") {
    const auto action = [](const std::string& name) {
        const auto seccomp = parse_seccomp(R"({"defaultAction":")" + name + "\"}");
        REQUIRE(seccomp);
        return seccomp->default_action;
    };

    CHECK(action("SCMP_ACT_KILL") == SeccompAction::kill_thread);
    CHECK(action("SCMP_ACT_KILL_THREAD") == SeccompAction::kill_thread);
    CHECK(action("SCMP_ACT_KILL_PROCESS") == SeccompAction::kill_process);
    CHECK(action("SCMP_ACT_TRAP") == SeccompAction::trap);
    CHECK(action("SCMP_ACT_ERRNO") == SeccompAction::error);
    CHECK(action("SCMP_ACT_TRACE") == SeccompAction::trace);
    CHECK(action("SCMP_ACT_ALLOW") == SeccompAction::allow);
    CHECK(action("SCMP_ACT_LOG") == SeccompAction::log);
    CHECK(action("SCMP_ACT_NOTIFY") == SeccompAction::notify);
}

TEST_CASE("a seccomp object that cannot be meant is refused") {
    const auto error = [](const char* json) {
        const auto seccomp = parse_seccomp(json);
        return seccomp ? "" : seccomp.error().message;
    };

    CHECK(error("{}") == "seccomp: defaultAction: must be specified");
    CHECK(error(R"({"defaultAction":"ALLOW"})") == "seccomp: defaultAction: unknown action \"ALLOW\"");
    CHECK(error(R"({"defaultAction":"SCMP_ACT_ALLOW","syscalls":[{"names":["read"],"action":"SCMP_ACT_ERRNO",
                    "args":[{"index":6,"value":0,"op":"SCMP_CMP_EQ"}]}]})") ==
          "seccomp: syscalls[0].args[0].index: a system call has arguments 0 to 5");
    CHECK(error(R"({"defaultAction":"SCMP_ACT_ALLOW","syscalls":[{"names":["read"],"action":"SCMP_ACT_ERRNO",
                    "args":[{"index":0,"value":0,"op":"="}]}]})") ==
          "seccomp: syscalls[0].args[0].op: unknown operator \"=\"");
}

TEST_CASE("a seccomp object without action and rules is no seccomp, as for runc") {
    CHECK_FALSE(parsed(with(R"("linux":{"seccomp":{}})")).linux_.seccomp);
    CHECK(error_of(
              with(R"("linux":{"seccomp":{"syscalls":[{"names":["read"],"action":"SCMP_ACT_ALLOW"}]}})")) ==
          "config.json: linux.seccomp.defaultAction: unknown action \"\"");
}

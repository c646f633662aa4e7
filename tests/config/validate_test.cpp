// Rules over several fields, each with the words of its refusal.
// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include "config/parse.hpp"
#include "config/sysctl.hpp"

using namespace rung::config;

namespace {

std::string error_of(const std::string& json) {
    const auto spec = parse_spec(json);
    return spec ? "" : spec.error().message;
}

std::string process_error(const std::string& json) {
    const auto process = parse_process(json);
    return process ? "" : process.error().message;
}

std::string resources_error(const std::string& json) {
    const auto resources = parse_resources(json);
    return resources ? "" : resources.error().message;
}

std::string with(const std::string& fields) {
    return R"({"root":{"path":"rootfs"},"process":{"args":["sh"],"cwd":"/"},)" + fields + "}";
}

std::string with_linux(const std::string& fields) {
    return with("\"linux\":{" + fields + "}");
}

std::string with_sysctl(const std::string& name) {
    return with_linux(R"("namespaces":[{"type":"uts"},{"type":"ipc"},{"type":"network"}],"sysctl":{")" +
                      name + R"(":"1"})");
}

std::string process_with(const std::string& fields) {
    return R"({"args":["sh"],"cwd":"/",)" + fields + "}";
}

}  // namespace

TEST_CASE("root and process have to be there") {
    CHECK(error_of(R"({"process":{"args":["sh"],"cwd":"/"}})") == "config.json: root: must be specified");
    CHECK(error_of(R"({"root":{"path":""},"process":{"args":["sh"],"cwd":"/"}})") ==
          "config.json: root.path: must not be empty");
    CHECK(error_of(R"({"root":{"path":"r"}})") == "config.json: process: must not be empty");
}

TEST_CASE("a process needs arguments and an absolute working directory") {
    CHECK(process_error(R"({"cwd":"/"})") == "process.json: args: must not be empty");
    CHECK(process_error(R"({"args":["sh"]})") == "process.json: cwd: must not be empty");
    CHECK(process_error(R"({"args":["sh"],"cwd":"tmp"})") == "process.json: cwd: must be an absolute path");
}

TEST_CASE("an environment entry has a name and an equals sign") {
    CHECK(process_error(process_with(R"("env":["A=1","FOO"])")) ==
          "process.json: env[1]: invalid environment variable: \"FOO\" has no '='");
    CHECK(process_error(process_with(R"("env":["=1"])")) ==
          "process.json: env[0]: environment variable name can't be empty");
    CHECK(process_error(process_with(R"("env":["A=","B=c=d"])")) == "");
}

TEST_CASE("rlimits are known, given once, and soft is not above hard") {
    CHECK(process_error(process_with(R"("rlimits":[{"type":"RLIMIT_FOO","soft":1,"hard":1}])")) ==
          "process.json: rlimits[0].type: unknown rlimit type \"RLIMIT_FOO\"");
    CHECK(process_error(process_with(R"("rlimits":[{"type":"RLIMIT_CORE"},{"type":"RLIMIT_CORE"}])")) ==
          "process.json: rlimits[1]: this type was given before");
    CHECK(process_error(process_with(R"("rlimits":[{"type":"RLIMIT_CORE","soft":2,"hard":1}])")) ==
          "process.json: rlimits[0]: the soft limit is above the hard limit");
}

TEST_CASE("scheduler fields fit the policy") {
    CHECK(process_error(process_with(R"("scheduler":{"policy":"SCHED_FIFO","priority":10})")) == "");
    CHECK(process_error(process_with(R"("scheduler":{"policy":"SCHED_DEADLINE","runtime":1024,"deadline":2048,
                                        "flags":["SCHED_FLAG_RECLAIM"]})")) == "");
    CHECK(process_error(process_with(R"("scheduler":{"policy":"SCHED_X"})")) ==
          "process.json: scheduler.policy: unknown scheduling policy \"SCHED_X\"");
    CHECK(process_error(process_with(R"("scheduler":{"policy":"SCHED_OTHER","nice":20})")) ==
          "process.json: scheduler.nice: must be between -20 and 19");
    CHECK(process_error(process_with(R"("scheduler":{"policy":"SCHED_OTHER","priority":1})")) ==
          "process.json: scheduler.priority: can only be given for SCHED_FIFO and SCHED_RR");
    CHECK(process_error(process_with(R"("scheduler":{"policy":"SCHED_FIFO","runtime":1})")) ==
          "process.json: scheduler: runtime, deadline and period can only be given for SCHED_DEADLINE");
    CHECK(process_error(process_with(R"("scheduler":{"policy":"SCHED_FIFO","flags":["X"]})")) ==
          "process.json: scheduler.flags: unknown scheduler flag \"X\"");
}

TEST_CASE("of a deadline that the kernel would refuse, the wrong number is named") {
    const auto deadline_error = [](const std::string& numbers) {
        return process_error(process_with(R"("scheduler":{"policy":"SCHED_DEADLINE",)" + numbers + "}"));
    };
    const std::string known = "process.json: scheduler.";

    CHECK(deadline_error(R"("runtime":1024,"deadline":2048,"period":2048)") == "");
    CHECK(deadline_error(R"("deadline":2048)") ==
          known + "runtime: sched_setattr: `SCHED_DEADLINE` requires `runtime`");
    CHECK(deadline_error(R"("runtime":1024)") ==
          known + "deadline: sched_setattr: `SCHED_DEADLINE` requires `deadline`");
    CHECK(deadline_error(R"("runtime":0,"deadline":2048)") ==
          known + "runtime: sched_setattr: `SCHED_DEADLINE` runtime must be greater than 0");
    CHECK(deadline_error(R"("runtime":1024,"deadline":0)") ==
          known + "deadline: sched_setattr: `SCHED_DEADLINE` deadline must be greater than 0");
    CHECK(deadline_error(R"("runtime":4096,"deadline":2048)") ==
          known + "runtime: sched_setattr: `SCHED_DEADLINE` runtime (4096) must be <= deadline (2048)");
    CHECK(deadline_error(R"("runtime":1024,"deadline":4096,"period":2048)") ==
          known + "deadline: sched_setattr: `SCHED_DEADLINE` deadline (4096) must be <= period (2048)");
    CHECK(deadline_error(R"("runtime":1023,"deadline":2048)") ==
          known +
              "runtime: sched_setattr: `SCHED_DEADLINE` runtime (1023) must be between 1024 and "
              "9223372036854775807");
    CHECK(deadline_error(R"("runtime":1024,"deadline":9223372036854775808)") ==
          known +
              "deadline: sched_setattr: `SCHED_DEADLINE` deadline (9223372036854775808) must be between 1024 "
              "and "
              "9223372036854775807");
}

TEST_CASE("I/O priority and the out-of-memory score are in the kernel's range") {
    CHECK(process_error(process_with(R"("ioPriority":{"class":"IOPRIO_CLASS_X"})")) ==
          "process.json: ioPriority.class: unknown I/O priority class \"IOPRIO_CLASS_X\"");
    CHECK(process_error(process_with(R"("ioPriority":{"class":"IOPRIO_CLASS_RT","priority":8})")) ==
          "process.json: ioPriority.priority: must be between 0 and 7");
    CHECK(process_error(process_with(R"("oomScoreAdj":1001)")) ==
          "process.json: oomScoreAdj: must be between -1000 and 1000");
}

TEST_CASE("namespaces are known, given once, and their paths are absolute") {
    CHECK(error_of(with_linux(R"("namespaces":[{"type":"pid"},{"type":"foo"}])")) ==
          "config.json: linux.namespaces[1].type: unknown namespace type \"foo\"");
    CHECK(error_of(with_linux(R"("namespaces":[{"type":"pid"},{"type":"pid","path":"/x"}])")) ==
          "config.json: linux.namespaces[1]: this type was given before");
    CHECK(error_of(with_linux(R"("namespaces":[{"type":"pid","path":"x"}])")) ==
          "config.json: linux.namespaces[0].path: must be an absolute path");
}

TEST_CASE("names need a uts namespace, and masks a mount namespace") {
    CHECK(error_of(with(R"("hostname":"a")")) ==
          "config.json: hostname: unable to set hostname without a private UTS namespace");
    CHECK(error_of(with(R"("domainname":"a")")) ==
          "config.json: domainname: unable to set domainname without a private UTS namespace");
    CHECK(error_of(with_linux(R"("maskedPaths":["/proc/keys"])")) ==
          "config.json: linux.maskedPaths: unable to restrict sys entries without a private MNT namespace");
    CHECK(error_of(with_linux(R"("readonlyPaths":["/proc/sys"])")) ==
          "config.json: linux.readonlyPaths: unable to restrict sys entries without a private MNT namespace");
}

TEST_CASE("a new user namespace and its mappings come together") {
    const std::string mapping = R"([{"containerID":0,"hostID":5,"size":1}])";

    CHECK(error_of(with_linux("\"uidMappings\":" + mapping)) ==
          "config.json: linux.uidMappings: mappings are given, but there is no user namespace to map");
    CHECK(error_of(with_linux(R"("namespaces":[{"type":"user"}],"gidMappings":)" + mapping)) ==
          "config.json: linux.uidMappings: user namespaces enabled, but no uid mappings found");
    CHECK(error_of(with_linux(R"("namespaces":[{"type":"user"}],"uidMappings":)" + mapping)) ==
          "config.json: linux.gidMappings: user namespaces enabled, but no gid mappings found");
    CHECK(error_of(with_linux(R"("namespaces":[{"type":"user"}])")) == "");  // the caller's, then
    CHECK(error_of(with_linux(R"("namespaces":[{"type":"user","path":"/run/ns/user"}])")) == "");
}

TEST_CASE("time offsets need a new time namespace and a clock that has them") {
    CHECK(error_of(with_linux(R"("timeOffsets":{"monotonic":{"secs":1}})")) ==
          "config.json: linux.timeOffsets: there is no time namespace to set them in");
    CHECK(
        error_of(with_linux(R"("namespaces":[{"type":"time","path":"/t"}],"timeOffsets":{"boottime":{}})")) ==
        "config.json: linux.timeOffsets: cannot be set in a namespace given by path");
    CHECK(error_of(with_linux(R"("namespaces":[{"type":"time"}],"timeOffsets":{"realtime":{"secs":1}})")) ==
          "config.json: linux.timeOffsets: unknown clock \"realtime\"");
    CHECK(error_of(with_linux(
              R"("namespaces":[{"type":"time"}],"timeOffsets":{"boottime":{"nanosecs":1000000000}})")) ==
          "config.json: linux.timeOffsets.boottime: nanosecs must be below 1000000000");
}

TEST_CASE("a sysctl is allowed when a namespace of the container's own confines it") {
    for (const std::string name : {"net.ipv4.ip_forward", "net/ipv4/ip_forward", "kernel.shmmax",
                                   "kernel/msgmax", "kernel.sem", "fs.mqueue.msg_max", "kernel.domainname"}) {
        CHECK_MESSAGE(error_of(with_sysctl(name)) == "", name);
    }
    for (const std::string name :
         {"user.max_user_namespaces", "vm.swappiness", "kernel.core_pattern", "kernel/hostname",
          "kernel.msg_next_id", "fs.mqueue", "net", "", "netx.a"}) {
        CHECK_MESSAGE(error_of(with_sysctl(name)).starts_with("config.json: linux.sysctl: sysctl \""), name);
    }
}

TEST_CASE("a sysctl that climbs out of its directory is refused") {
    for (const std::string name :
         {"net/../kernel/core_pattern", "net/./x", "net//x", "/net/x", "net.ipv4.//.x"}) {
        CHECK_MESSAGE(error_of(with_sysctl(name)) != "", name);
    }
    CHECK(error_of(with_sysctl("net/../kernel/core_pattern")) ==
          "config.json: linux.sysctl: sysctl \"net/../kernel/core_pattern\" is not a plain name");
}

TEST_CASE("a sysctl without its namespace is refused, and hostname always") {
    CHECK(error_of(with_linux(R"("sysctl":{"net.core.somaxconn":"1"})")) ==
          "config.json: linux.sysctl: sysctl \"net.core.somaxconn\" is not in a separate network namespace");
    CHECK(error_of(with_linux(R"("sysctl":{"kernel.shmmax":"1"})")) ==
          "config.json: linux.sysctl: sysctl \"kernel.shmmax\" is not in a separate IPC namespace");
    CHECK(error_of(with_sysctl("kernel.hostname")) ==
          "config.json: linux.sysctl: sysctl \"kernel.hostname\" is not allowed as it conflicts with the OCI "
          "\"hostname\" field");
}

TEST_CASE("the first separator of a sysctl decides which spelling it is") {
    CHECK(sysctl_path("net.ipv4.conf.eth0/1.mtu") == "net/ipv4/conf/eth0.1/mtu");
    CHECK(sysctl_path("net/ipv4/conf/eth0.1/mtu") == "net/ipv4/conf/eth0.1/mtu");
    CHECK(sysctl_path("plain") == "plain");
}

TEST_CASE("a bind mount takes no lone word that is no option, and needs a source") {
    CHECK(error_of(with(R"("mounts":[{"destination":"/a","source":"/b","options":["bind","size=1m"]}])")) ==
          "");
    CHECK(error_of(with(
              R"("mounts":[{"destination":"/a","source":"/b","options":["bind","mode=1","noexce"]}])")) ==
          "config.json: mounts[0].options: a bind mount takes no file system option, such as \"noexce\"");
    CHECK(
        error_of(with(R"("mounts":[{"destination":"/a","type":"bind","source":"/b","options":["foo"]}])")) ==
        "config.json: mounts[0].options: a bind mount takes no file system option, such as \"foo\"");
    CHECK(error_of(with(R"("mounts":[{"destination":"/a","type":"bind"}])")) ==
          "config.json: mounts[0].source: a bind mount needs a source");
    CHECK(error_of(with(R"("mounts":[{"destination":""}])")) ==
          "config.json: mounts[0].destination: must not be empty");
}

TEST_CASE("hooks, devices, propagation and personality are checked") {
    CHECK(error_of(with(R"("hooks":{"poststop":[{"path":"/ok"},{"path":"true"}]})")) ==
          "config.json: hooks.poststop[1].path: must be an absolute path");
    CHECK(error_of(with(R"("hooks":{"prestart":[{"path":"/ok","timeout":0}]})")) ==
          "config.json: hooks.prestart[0].timeout: must be greater than zero");
    CHECK(error_of(with_linux(R"("devices":[{"path":"/dev/a","type":"q"}])")) ==
          "config.json: linux.devices[0].type: unknown device type \"q\"");
    CHECK(error_of(with_linux(R"("devices":[{"type":"c"}])")) ==
          "config.json: linux.devices[0].path: must not be empty");
    CHECK(error_of(with_linux(R"("rootfsPropagation":"foo")")) ==
          "config.json: linux.rootfsPropagation: \"foo\" is not supported");
    CHECK(error_of(with_linux(R"("personality":{"domain":"BSD"})")) ==
          "config.json: linux.personality.domain: unknown personality \"BSD\"");
}

TEST_CASE("an id-mapped mount is a bind with mappings of its own or of a user namespace") {
    const auto mount = [](const std::string& fields) {
        return R"("mounts":[{"destination":"/a","source":"/b",)" + fields + "}]";
    };
    const std::string map = R"([{"containerID":0,"hostID":1,"size":1}])";

    CHECK(error_of(with(mount(R"("options":["bind"],"uidMappings":)" + map + R"(,"gidMappings":)" + map))) ==
          "");
    CHECK(error_of(with(mount(R"("options":["bind","idmap"])") + R"(,"linux":{"namespaces":[{"type":"user"}],
          "uidMappings":)" +
                        map + R"(,"gidMappings":)" + map + "}")) == "");
    CHECK(error_of(with(mount(R"("options":["bind","idmap"])"))) ==
          "config.json: mounts[0]: id-mapped mounts must have both uid and gid mappings specified");
    CHECK(error_of(with(mount(R"("options":["bind"],"uidMappings":)" + map))) ==
          "config.json: mounts[0]: id-mapped mounts must have both uid and gid mappings specified");
    CHECK(error_of(with(mount(R"("type":"tmpfs","options":["idmap"])"))) ==
          "config.json: mounts[0]: id-mapped mounts are only supported for bind-mounts");
}

TEST_CASE("network devices have names that the kernel takes, and a namespace to go to") {
    const auto devices = [](const std::string& list) {
        return with_linux(R"("namespaces":[{"type":"network"}],"netDevices":{)" + list + "}");
    };

    CHECK(error_of(devices(R"("eth0":{"name":"eth%d"},"ens4":{})")) == "");
    for (const std::string name : {"", ".", "..", "a/b", "a:b", "a b", "sixteen-letters-"}) {
        CHECK_MESSAGE(error_of(devices("\"" + name + "\":{}")) ==
                          "config.json: linux.netDevices: invalid network device name \"" + name + "\"",
                      name);
    }
    CHECK(error_of(devices(R"("eth0":{"name":"a/b"})")) ==
          "config.json: linux.netDevices: invalid network device name \"a/b\"");
    CHECK(error_of(with_linux(R"("netDevices":{"eth0":{}})")) ==
          "config.json: linux.netDevices: unable to move network devices without a NET namespace");
}

TEST_CASE("a class of cache allocation is one name, and a schema one line") {
    CHECK(error_of(with_linux(R"("intelRdt":{"closID":"/"})")) == "");
    for (const std::string name : {".", "..", "a/b", "/x"}) {
        CHECK_MESSAGE(error_of(with_linux(R"("intelRdt":{"closID":")" + name + "\"}")) ==
                          "config.json: linux.intelRdt.closID: invalid intelRdt.ClosID \"" + name + "\"",
                      name);
    }
    CHECK(error_of(with_linux(R"("intelRdt":{"schemata":["L3:0=f\nMB:0=1"]})"))
              .starts_with("config.json: linux.intelRdt: a schema is one line"));
}

TEST_CASE("resources that become file names are spelled safely") {
    for (const std::string size : {"../../x", "", "MB", "2", "02MB", "2MB/..", "2mb", "2TB"}) {
        CHECK_MESSAGE(resources_error(R"({"hugepageLimits":[{"pageSize":")" + size + "\"}]}") ==
                          "resources: hugepageLimits: \"" + size + "\" is not a page size such as \"2MB\"",
                      size);
    }
    CHECK(resources_error(R"({"unified":{"../x.y":"1"}})") ==
          "resources: unified: \"../x.y\" must be a file name, without a slash");
    CHECK(resources_error(R"({"unified":{"memory":"1"}})") ==
          "resources: unified: \"memory\" must be in the form CONTROLLER.PARAMETER");
    CHECK(resources_error(R"({"unified":{"..":"1"}})") ==
          "resources: unified: \"..\" must be in the form CONTROLLER.PARAMETER");
}

TEST_CASE("resources out of range are refused") {
    CHECK(resources_error(R"({"memory":{"limit":-2}})") ==
          "resources: memory.limit: must be -1, for no limit, or a number of bytes");
    CHECK(resources_error(R"({"memory":{"swappiness":101}})") ==
          "resources: memory.swappiness: must be between 0 and 100");
    CHECK(resources_error(R"({"devices":[{"allow":true,"type":"p","access":"r"}]})") ==
          "resources: devices[0].type: expected \"a\", \"b\" or \"c\", not \"p\"");
    CHECK(resources_error(R"({"devices":[{"allow":true}]})") ==
          "resources: devices[0].access: expected one or more of r, w and m, not \"\"");
    CHECK(resources_error(R"({"devices":[{"allow":true,"type":"c","major":4294967297,"access":"r"}]})") ==
          "resources: devices[0]: major and minor are at most 4294967295");
    CHECK(resources_error(R"({"devices":[{"allow":true,"type":"c","minor":4294967296,"access":"r"}]})") ==
          "resources: devices[0]: major and minor are at most 4294967295");
    CHECK(resources_error(
              R"({"devices":[{"allow":true,"type":"c","major":-1,"minor":4294967295,"access":"r"}]})") == "");
    CHECK(resources_error(R"({"rdma":{"mlx":{"hcaHandles":-1}}})") ==
          "resources: rdma.mlx.hcaHandles: expected an integer from 0 to 4294967295");
}

TEST_CASE("long text from the configuration is shortened in errors") {
    const std::string error =
        error_of(with_linux(R"("rootfsPropagation":")" + std::string(5000, 'x') + "\""));

    CHECK(error.size() < 200);
}

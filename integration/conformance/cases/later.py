"""What newer specifications have and the oracles mostly do not know: there only rung can be held to it.

SPDX-License-Identifier: Apache-2.0
"""

import json
import subprocess

PRIORITY = "head -n 1 /proc/self/numa_maps | cut -d ' ' -f 2"


def _shows(t, script, expected):
    """rung's container has to print this; that the oracles print something else is no fact."""
    t.box.shell(script)
    result = t.box.run()
    t.must(result.code == 0 and result.out.strip() == expected, f"{script} prints {expected}: {result}")


def _is_refused(t, word):
    """rung has to refuse it by name; an oracle that does not know the field cannot."""
    result = t.box.create()
    t.must(result.code == 1 and word in result.err and len(result.err.strip().splitlines()) == 1, f"refused for {word}: {result}")
    t.box.delete("--force")


def a_memory_policy(t):
    t.linux["memoryPolicy"] = {"mode": "MPOL_INTERLEAVE", "nodes": "0"}
    _shows(t, PRIORITY, "interleave:0")


def a_memory_policy_with_flags(t):
    t.linux["memoryPolicy"] = {"mode": "MPOL_BIND", "nodes": "0", "flags": ["MPOL_F_STATIC_NODES"]}
    _shows(t, PRIORITY, "bind=static:0")


def memory_policies_that_are_none(t):
    for policy in ({}, {"mode": "MPOL_SOME"}, {"mode": "MPOL_BIND", "nodes": "x"}, {"mode": "MPOL_BIND", "nodes": "0", "flags": ["X"]},
                   {"mode": "MPOL_DEFAULT", "nodes": "0"}, {"mode": "MPOL_BIND"}):
        t.linux["memoryPolicy"] = policy
        _is_refused(t, "memory policy" if policy != {"mode": "MPOL_BIND"} and policy.get("nodes") != "0" else "")


def a_network_device(t):
    name, peer = f"c{t.word[-9:]}", f"d{t.word[-9:]}"
    subprocess.run(["ip", "link", "add", name, "type", "veth", "peer", "name", peer], check=True)
    try:
        subprocess.run(["ip", "addr", "add", "10.97.3.1/24", "dev", name], check=True)
        t.linux["netDevices"] = {name: {"name": "inner0"}}
        _shows(t, "ip -o addr show dev inner0 | grep -o '10.97.3.1/24'", "10.97.3.1/24")
    finally:
        subprocess.run(["ip", "link", "del", peer], check=False, capture_output=True)


def network_devices_that_cannot_be_moved(t):
    t.linux["netDevices"] = {f"n{t.word[-9:]}": {}}
    _is_refused(t, "no such device")
    t.linux["netDevices"] = {"a/b": {}}
    _is_refused(t, "netDevices")
    t.linux["netDevices"] = {"lo": {"name": 23}}
    _is_refused(t, "linux.netDevices.lo.name")
    t.box.bundle.drop_namespace("network")
    t.linux["netDevices"] = {"eth0": {}}
    _is_refused(t, "without a NET namespace")


def processors_of_exec(t):
    t.process["execCPUAffinity"] = {"initial": "0", "final": "0"}
    t.detach()
    result = t.box.exec("sh", "-c", "grep Cpus_allowed_list /proc/self/status | cut -f 2")
    t.must(result.out.strip() == "0", f"exec runs on its processors: {result}")


def processors_of_exec_that_are_no_list(t):
    t.process["execCPUAffinity"] = {"initial": "a"}
    _is_refused(t, "execCPUAffinity")


def every_scheduler(t):
    for policy, number in (("SCHED_OTHER", 0), ("SCHED_BATCH", 3), ("SCHED_IDLE", 5)):
        t.process["scheduler"] = {"policy": policy}
        _shows(t, "awk '{print $41}' /proc/self/stat", str(number))
        t.box.delete("--force")


def a_scheduler_of_exec(t):
    t.detach()
    document = {**t.process, "args": ["awk", "{print $41}", "/proc/self/stat"], "scheduler": {"policy": "SCHED_BATCH"}}
    result = t.box.exec(options=["--process", t.file("process.json", json.dumps(document))])
    t.must(result.out.strip() == "3", f"the scheduler of a process file: {result}")


def an_io_priority_of_exec(t):
    t.detach()
    document = {**t.process, "args": ["/bin/probe"], "ioPriority": {"class": "IOPRIO_CLASS_BE", "priority": 6}}
    result = t.box.exec(options=["--process", t.file("process.json", json.dumps(document))])
    wanted = f"io priority\t{2 << 13 | 6}"
    t.must(any(line == wanted or line.startswith("io priority") and line.endswith((" 6", f"\t{2 << 13 | 6}"))
               for line in result.out.splitlines()), f"the priority of a process file: {result}")


def classes_that_do_not_exist(t):
    for field, value in (("scheduler", {"policy": "SCHED_NICE"}), ("scheduler", {"nice": 1}), ("ioPriority", {"class": "IOPRIO_CLASS_X"}),
                         ("ioPriority", {"class": "IOPRIO_CLASS_BE", "priority": 9})):
        t.process[field] = value
        _is_refused(t, f"process.{field}")
        del t.process[field]


def offsets_of_time_and_exec(t):
    t.box.bundle.namespace("time")
    t.linux["timeOffsets"] = {"boottime": {"secs": 100000, "nanosecs": 5}}
    t.detach()
    result = t.box.exec("awk", "/boottime/ {print $2, $3}", "/proc/self/timens_offsets")
    t.must(result.out.strip() == "100000 5", f"exec enters the time namespace as it is: {result}")


def offsets_of_time_that_cannot_be(t):
    t.linux["timeOffsets"] = {"boottime": {"secs": 100000}}
    _is_refused(t, "timeOffsets")
    t.box.bundle.namespace("time")
    t.linux["timeOffsets"] = {"realtime": {"secs": 1}}
    _is_refused(t, "timeOffsets")


def a_personality_under_a_filter_that_forbids_it(t):
    t.linux["personality"] = {"domain": "LINUX32"}
    t.linux["seccomp"] = {"defaultAction": "SCMP_ACT_ALLOW", "syscalls": [{"names": ["personality"], "action": "SCMP_ACT_ERRNO"}]}
    _shows(t, "uname -m | sed 's/i[3-6]86/32/; s/armv.*/32/'", "32")


def cache_allocation_where_there_is_none(t):
    for section in ({"l3CacheSchema": "L3:0=f"}, {"memBwSchema": "MB:0=50"}, {"closID": "gold"}, {"enableMonitoring": True}):
        t.linux["intelRdt"] = section
        _is_refused(t, "Intel RDT")


def an_id_mapped_bind(t):
    t.box.bundle.map_users()
    source = t.directory("source", file="x")
    mapping = [{"containerID": 0, "hostID": 100000, "size": 65536}]
    t.config["mounts"].append({"destination": "/mnt", "type": "bind", "source": source, "options": ["bind"], "uidMappings": mapping,
                               "gidMappings": mapping})
    result = t.box.shell("stat -c %u:%g /mnt/file").run()
    # The file system below may know no id-mapped mounts; then it is said, and by name.
    t.must(result.out.strip() == "0:0" if result.code == 0 else "id-mapped" in result.err or "idmap" in result.err, f"an id-mapped bind: {result}")


def an_id_mapped_mount_without_both_maps(t):
    t.box.bundle.map_users()
    t.config["mounts"].append({"destination": "/mnt", "type": "bind", "source": t.directory("source"), "options": ["bind"],
                               "uidMappings": [{"containerID": 0, "hostID": 100000, "size": 65536}]})
    _is_refused(t, "id-mapped")


def settings_of_users(t):
    t.linux["sysctl"] = {"user.max_net_namespaces": "17"}
    _is_refused(t, "user.max_net_namespaces")
    t.box.bundle.map_users()
    _shows(t, "cat /proc/sys/user/max_net_namespaces", "17")


def a_setting_of_the_kernel_behind_a_mount_of_the_config(t):
    """CVE-2025-52881: what is written is the kernel's own file, whatever lies on its name in the container."""
    t.linux["sysctl"] = {"net.ipv4.ip_default_ttl": "77"}
    t.mount("/proc/sys/net", "tmpfs", kind="tmpfs")
    result = t.box.shell("true").run()
    t.must(result.code in (0, 1), f"a mount over /proc/sys: {result}")
    with open("/proc/sys/net/ipv4/ip_default_ttl", encoding="ascii") as file:
        t.note("the host's", file.read().strip())

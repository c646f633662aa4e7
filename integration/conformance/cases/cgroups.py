"""Limits and the cgroup itself: what the kernel's control files hold, where the container is, and what is refused.

SPDX-License-Identifier: Apache-2.0
"""

import os

from rungtest import host

MEBI = 1 << 20


def _held(t, **resources):
    """Creates the container with these limits and notes its control files."""
    t.resources.update(resources)
    result = t.create()
    t.outside("created")
    t.left("after create") if result.code != 0 else None
    return result


def no_limits_at_all(t):
    t.linux.pop("resources")
    t.create()
    t.outside("created")


def empty_sections(t):
    _held(t, memory={}, cpu={}, pids=None, blockIO={}, hugepageLimits=[], network={})


def a_memory_limit(t):
    _held(t, memory={"limit": 64 * MEBI})


def a_memory_limit_and_a_swap_limit(t):
    _held(t, memory={"limit": 64 * MEBI, "swap": 128 * MEBI})


def a_swap_limit_without_a_memory_limit(t):
    _held(t, memory={"swap": 128 * MEBI})


def a_swap_limit_below_the_memory_limit(t):
    _held(t, memory={"limit": 64 * MEBI, "swap": 32 * MEBI})


def memory_without_bounds(t):
    _held(t, memory={"limit": -1, "swap": -1})


def unlimited_swap(t):
    _held(t, memory={"limit": 64 * MEBI, "swap": -1})


def a_memory_reservation(t):
    _held(t, memory={"limit": 64 * MEBI, "reservation": 32 * MEBI})


def swappiness(t):
    _held(t, memory={"swappiness": 10})


def swappiness_out_of_range(t):
    _held(t, memory={"swappiness": 1000})


def no_out_of_memory_killer(t):
    _held(t, memory={"limit": 64 * MEBI, "disableOOMKiller": True})


def kernel_memory(t):
    _held(t, memory={"kernel": 32 * MEBI, "kernelTCP": 16 * MEBI})


def memory_use_hierarchy(t):
    _held(t, memory={"useHierarchy": True})


def a_memory_limit_of_zero(t):
    _held(t, memory={"limit": 0})


def a_process_above_its_memory_limit(t):
    t.resources["memory"] = {"limit": 20 * MEBI, "swap": 20 * MEBI}
    t.box.args("tail", "-c", "60000000", "/dev/zero")
    result = t.box.run()
    t.note("exit code", result.code)


def memory_check_before_update(t):
    _held(t, memory={"limit": 64 * MEBI, "checkBeforeUpdate": True})


def processor_shares(t):
    _held(t, cpu={"shares": 1024})


def processor_shares_beyond_the_kernels_range(t):
    _held(t, cpu={"shares": 1})
    t.delete("--force")
    _held(t, cpu={"shares": 1000000})


def processor_shares_of_zero(t):
    _held(t, cpu={"shares": 0})


def a_quota_and_a_period(t):
    _held(t, cpu={"quota": 50000, "period": 100000})


def a_quota_without_a_period(t):
    _held(t, cpu={"quota": 20000})


def a_period_without_a_quota(t):
    _held(t, cpu={"period": 50000})


def a_quota_without_bounds(t):
    _held(t, cpu={"quota": -1})


def a_quota_that_is_too_small(t):
    _held(t, cpu={"quota": 10})


def a_period_that_is_too_long(t):
    _held(t, cpu={"period": 10000000, "quota": 1000})


def a_burst(t):
    _held(t, cpu={"quota": 50000, "period": 100000, "burst": 10000})


def an_idle_group(t):
    _held(t, cpu={"idle": 1})


def realtime_share(t):
    _held(t, cpu={"realtimePeriod": 1000000, "realtimeRuntime": 0})


def chosen_processors_and_memory_nodes(t):
    _held(t, cpu={"cpus": "0", "mems": "0"})
    t.start()
    t.exec("grep", "allowed_list", "/proc/self/status")


def processors_that_do_not_exist(t):
    _held(t, cpu={"cpus": "100-200"})


def processors_that_are_no_list(t):
    _held(t, cpu={"cpus": "all of them"})


def a_process_limit(t):
    _held(t, pids={"limit": 20})


def a_process_limit_without_bounds(t):
    _held(t, pids={"limit": -1})


def a_process_limit_of_zero(t):
    _held(t, pids={"limit": 0})


def a_process_limit_of_one(t):
    t.resources["pids"] = {"limit": 1}
    t.box.args("echo", "alone")
    t.run()


def exec_into_a_full_process_limit(t):
    t.resources["pids"] = {"limit": 1}
    t.detach()
    # The oracles need a thread or two to spare for it, and sometimes have them.
    t.must(t.box.exec("true").code == 0, "exec fails under pids.limit 1")


def block_weights_and_throttles(t):
    _held(t, blockIO={"throttleReadBpsDevice": [{"major": 254, "minor": 0, "rate": 1000000}],
                      "throttleWriteBpsDevice": [{"major": 254, "minor": 0, "rate": 2000000}],
                      "throttleReadIOPSDevice": [{"major": 254, "minor": 0, "rate": 300}],
                      "throttleWriteIOPSDevice": [{"major": 254, "minor": 0, "rate": 400}]})


def a_throttle_of_a_device_that_does_not_exist(t):
    _held(t, blockIO={"throttleReadBpsDevice": [{"major": 250, "minor": 250, "rate": 1000000}]})


def a_block_weight(t):
    _held(t, blockIO={"weight": 500})


def a_huge_page_limit(t):
    _held(t, hugepageLimits=[{"pageSize": "2MB", "limit": 4 * MEBI}])


def a_huge_page_size_that_climbs(t):
    _held(t, hugepageLimits=[{"pageSize": "../../x", "limit": 1}])


def a_huge_page_size_that_does_not_exist(t):
    _held(t, hugepageLimits=[{"pageSize": "3MB", "limit": 1}])


def a_network_class_where_there_is_no_controller(t):
    _held(t, network={"classID": 1048577})


def network_priorities_where_there_is_no_controller(t):
    _held(t, network={"priorities": [{"name": "lo", "priority": 500}]})


def rdma_where_there_is_no_controller(t):
    _held(t, rdma={"mlx5_1": {"hcaHandles": 3, "hcaObjects": 10000}})


def unified_files_on_this_host(t):
    _held(t, unified={"memory.max": "67108864", "pids.max": "20"})


def intel_rdt_where_there_is_none(t):
    t.linux["intelRdt"] = {"closID": "group", "l3CacheSchema": "L3:0=f"}
    t.run()
    t.left("after run")


def zeros_as_docker_sends_them(t):
    _held(t, memory={"limit": 0, "reservation": 0, "swap": 0}, cpu={"shares": 0, "quota": 0, "period": 0, "cpus": "", "mems": ""},
          blockIO={"weight": 0})


def many_limits_together(t):
    _held(t, memory={"limit": 100 * MEBI, "swap": 200 * MEBI, "reservation": 50 * MEBI}, pids={"limit": 50},
          cpu={"shares": 512, "quota": 40000, "period": 50000, "cpus": "0-1"}, hugepageLimits=[{"pageSize": "2MB", "limit": 0}])
    t.start()
    t.outside("running")
    t.inside_exec()
    t.kill()
    t.box.wait_stopped()
    t.delete()
    t.left()


def no_cgroups_path(t):
    t.linux.pop("cgroupsPath")
    t.create()
    t.outside("created")


def a_relative_cgroups_path(t):
    t.linux["cgroupsPath"] = f"{t.word}rel/{t.box.id}"
    t.create()
    t.outside("created")


def a_cgroups_path_that_climbs(t):
    t.linux["cgroupsPath"] = f"/../../../../{t.word}/{t.box.id}"
    t.create()
    t.outside("created")
    t.delete("--force")
    t.left()


def a_deep_cgroups_path(t):
    t.linux["cgroupsPath"] = f"/{t.word}/a/b/c/{t.box.id}"
    t.create()
    t.outside("created")
    t.delete("--force")
    t.note("parents", "kept" if os.path.isdir(host.cgroup_file(f"/{t.word}/a/b/c", "pids", "")) else "removed")


def a_cgroups_path_with_strange_letters(t):
    t.linux["cgroupsPath"] = f"/{t.word}/{t.box.id}.slice:x @ü"
    t.create()
    t.outside("created")
    t.delete("--force")
    t.left()


def the_same_cgroup_twice(t):
    other = t.second
    other.config["linux"]["cgroupsPath"] = t.linux["cgroupsPath"]
    t.detach()
    t.detach(box=other)
    t.left("after the second", box=other)
    t.state()


def a_cgroup_that_is_there_already(t):
    for mount in host.cgroup_mounts():
        directory = os.path.join(mount, t.word, t.box.id)
        os.makedirs(directory, exist_ok=True)
    t.create()
    t.outside("created")
    t.delete("--force")
    t.left()


def a_cgroup_that_was_removed_meanwhile(t):
    t.detach()
    t.stop()
    for path in host.cgroup_directories(t.box.id):
        os.rmdir(path)
    t.state()
    t.delete()
    t.left()


def exec_joins_the_cgroup(t):
    t.detach()
    t.exec("cut", "-d:", "-f2,3", "/proc/self/cgroup")


def a_limit_that_cannot_be_set_leaves_nothing(t):
    _held(t, memory={"limit": 5 * MEBI}, cpu={"cpus": "77"})


def the_process_is_in_its_cgroup_from_the_start(t):
    t.box.args("cat", "/proc/self/cgroup")
    t.run()


def a_fork_bomb_meets_the_process_limit(t):
    t.resources["pids"] = {"limit": 10}
    t.box.shell("for i in 1 2 3 4 5 6 7 8 9 10 11 12; do sleep 5 & done 2>/dev/null; echo reached the end")
    result = t.box.run()
    t.note("outcome", "stopped by the limit" if result.code != 0 or "reached" not in result.out else "no limit")
    t.left("after run")


def device_rules_of_engines(t):
    # The kubelet's interface updates with {allow: false}; Docker's default list has these.
    t.resources["devices"] = [{"allow": False, "access": "rwm"}, {"allow": True, "type": "c", "major": 1, "minor": 5, "access": "rwm"},
                              {"allow": True, "type": "c", "major": 136, "access": "rwm"}, {"allow": True, "type": "a", "access": "m"}]
    t.create()
    t.outside("created")


def no_device_rules(t):
    t.resources.pop("devices")
    t.create()
    t.outside("created")


def an_empty_list_of_device_rules(t):
    t.resources["devices"] = []
    t.create()
    t.outside("created")


def a_device_rule_with_an_unknown_access(t):
    t.resources["devices"].append({"allow": True, "type": "c", "major": 1, "minor": 3, "access": "xyz"})
    t.create()
    t.left("after create")


def a_frozen_cgroup_at_delete(t):
    if host.cgroup_is_v2():
        return
    t.detach()
    file = t.box.id and host.cgroup_file(t.box.cgroup, "freezer", "freezer.state")
    with open(file, "w", encoding="ascii") as opened:
        opened.write("FROZEN")
    t.state()
    t.delete("--force")
    t.left()


def a_host_without_cgroups(t):
    """Where nothing is asked of them rung goes on; the oracles have no case for it."""
    for mount in list(t.config["mounts"]):
        if mount["type"] == "cgroup":
            t.config["mounts"].remove(mount)
    del t.linux["cgroupsPath"]
    t.box.args("true")
    cover = ("unshare", "-m", "sh", "-c", 'mount --make-rprivate / && mount -t tmpfs none /sys/fs/cgroup && exec "$0" "$@"')
    result = t.box.run(through=cover)
    t.must(result.code == 0, f"no cgroup and no limit: {result}")
    t.resources["pids"] = {"limit": 20}
    result = t.box.run(through=cover)
    t.must(result.code == 1 and "pids" in result.err, f"no cgroup and a limit: {result}")
    del t.resources["pids"]
    t.box.bundle.grant_capabilities("CAP_MKNOD")
    result = t.box.run(through=cover)
    t.must(result.code == 1 and "linux.resources.devices" in result.err, f"no cgroup, device rules and CAP_MKNOD: {result}")


def annotations_for_systemd_without_systemd(t):
    t.config["annotations"] = {"org.systemd.property.ExecStartPre": "'/bin/sh -c id'", "org.systemd.property.TimeoutStopUSec": "uint64 1"}
    t.create()
    t.state()


def a_bind_and_a_cgroup_mount_in_a_user_namespace(t):
    t.box.bundle.map_users()
    source = t.directory("source", file="x")
    position = next(number for number, mount in enumerate(t.config["mounts"]) if mount["type"] == "cgroup")
    t.config["mounts"].insert(position, {"destination": "/mnt", "type": "bind", "source": source, "options": ["bind", "ro"]})
    t.shell("ls /mnt; ls -d /sys/fs/cgroup")

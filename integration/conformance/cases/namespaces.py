"""Namespaces: new ones, the host's, those of other processes; and user namespaces with their maps.

SPDX-License-Identifier: Apache-2.0
"""

import os

from rungtest import host

KINDS = {"pid": "pid", "network": "net", "ipc": "ipc", "uts": "uts", "mount": "mnt", "user": "user", "cgroup": "cgroup", "time": "time"}


def _holder(t, *flags):
    """A process of the host in namespaces of its own."""
    child = t.background("unshare", *flags, "sleep", "100")
    ours = {kind: os.readlink(f"/proc/self/ns/{kind}") for kind in ("net", "ipc", "uts", "cgroup")}
    wanted = {"--net": "net", "--ipc": "ipc", "--uts": "uts", "--cgroup": "cgroup"}
    host.wait_until(lambda: all(os.readlink(f"/proc/{child.pid}/ns/{wanted[flag]}") != ours[wanted[flag]] for flag in flags if flag in wanted), 10)
    return child.pid


def _same(t, pid, kinds):
    for kind in kinds:
        theirs = os.readlink(f"/proc/{pid}/ns/{kind}")
        t.note(f"{kind} is the other's", os.readlink(f"/proc/{t.box.created_pid}/ns/{kind}") == theirs)


def every_namespace_of_the_base_is_new(t):
    t.inside()
    t.detach()
    t.outside()


def each_namespace_left_out(t):
    for kind in ("pid", "network", "ipc", "uts", "cgroup"):
        t.box.config["linux"]["namespaces"] = [{"type": name} for name in ("pid", "network", "ipc", "uts", "mount") if name != kind]
        t.config["mounts"] = [mount for mount in t.config["mounts"] if mount["type"] != "mqueue"]
        t.config.pop("hostname", None)
        t.box.shell("for n in pid net ipc uts mnt user cgroup; do readlink /proc/self/ns/$n; done")
        result = t.box.run()
        own = [os.readlink(f"/proc/self/ns/{name}") for name in ("pid", "net", "ipc", "uts", "mnt", "user", "cgroup")]
        t.note(f"without {kind}", f"{result.code}: shared with the host: {[link.split(':')[0] for link in result.out.split() if link in own]}")


def no_namespaces_but_mount(t):
    t.linux["namespaces"] = [{"type": "mount"}]
    t.config["mounts"] = [mount for mount in t.config["mounts"] if mount["type"] != "mqueue"]
    t.config.pop("hostname")
    t.detach()
    t.outside()
    t.exec("true")
    t.kill()
    t.box.wait_stopped()
    t.delete()
    t.left()


def no_mount_namespace(t):
    t.box.bundle.drop_namespace("mount")
    t.run()
    t.left("after run")


def no_namespaces_at_all(t):
    t.linux["namespaces"] = []
    t.run()
    t.left("after run")


def a_network_namespace_by_path(t):
    pid = _holder(t, "--net")
    t.box.bundle.namespace("network", f"/proc/{pid}/ns/net")
    t.detach()
    _same(t, pid, ["net"])
    t.inside_exec()


def ipc_and_uts_namespaces_by_path(t):
    pid = _holder(t, "--ipc", "--uts")
    t.box.bundle.namespace("ipc", f"/proc/{pid}/ns/ipc")
    t.box.bundle.namespace("uts", f"/proc/{pid}/ns/uts")
    t.config.pop("hostname")
    t.detach()
    _same(t, pid, ["ipc", "uts"])


def a_host_name_in_a_namespace_by_path(t):
    pid = _holder(t, "--uts")
    t.box.bundle.namespace("uts", f"/proc/{pid}/ns/uts")
    t.shell("hostname")


def a_cgroup_namespace_by_path(t):
    pid = _holder(t, "--cgroup")
    t.box.bundle.namespace("cgroup", f"/proc/{pid}/ns/cgroup")
    t.detach()
    if t.box.created_pid:
        _same(t, pid, ["cgroup"])


def the_pid_namespace_of_another_container(t):
    first, second = t.box, t.container()
    t.detach()
    second.bundle.namespace("pid", f"/proc/{first.created_pid}/ns/pid")
    t.detach(box=second)
    _lines = t.runtime.call("exec", second.id, "sh", "-c", "ls /proc | grep -c '^[0-9]'")
    t.note("processes to be seen", "more than two" if int(_lines.out or 0) > 2 else _lines.out)
    t.outside("outside", box=second)
    t.kill(box=second)
    second.wait_stopped()
    t.state()
    t.delete(box=second)
    t.left(box=second)


def every_namespace_of_another_container(t):
    first, second = t.box, t.container()
    t.detach()
    for kind in ("pid", "network", "ipc", "uts"):
        second.bundle.namespace(kind, f"/proc/{first.created_pid}/ns/{KINDS[kind]}")
    second.config.pop("hostname")
    t.detach(box=second)
    t.note("namespaces", [kind for kind in ("pid", "net", "ipc", "uts", "mnt")
                          if os.readlink(f"/proc/{first.created_pid}/ns/{kind}") == os.readlink(f"/proc/{second.created_pid}/ns/{kind}")])
    t.exec("true", box=second)
    t.delete("--force", box=first)
    # The init of the pid namespace is gone, and with it everyone in it.
    second.wait_stopped()
    t.state(second)
    t.delete(box=second)
    t.left(box=second)


def the_same_namespace_twice(t):
    t.linux["namespaces"].append({"type": "pid"})
    t.run()


def an_unknown_namespace(t):
    t.linux["namespaces"].append({"type": "there-is-no-such-namespace"})
    t.run()
    t.left("after run")


def a_namespace_without_a_type(t):
    t.linux["namespaces"].append({})
    t.run()


def a_namespace_path_that_does_not_exist(t):
    t.box.bundle.namespace("network", "/run/netns/there-is-none")
    t.run()
    t.left("after run")


def a_namespace_path_that_is_no_namespace(t):
    t.box.bundle.namespace("network", t.file("file"))
    t.run()
    t.left("after run")


def a_namespace_path_of_another_kind(t):
    t.box.bundle.namespace("network", "/proc/self/ns/uts")
    t.run()
    t.left("after run")


def a_relative_namespace_path(t):
    t.box.bundle.namespace("network", "proc/self/ns/net")
    t.run()


def a_mount_namespace_by_path(t):
    child = t.background("unshare", "--mount", "sleep", "100")
    ours = os.readlink("/proc/self/ns/mnt")
    host.wait_until(lambda: os.readlink(f"/proc/{child.pid}/ns/mnt") != ours, 10)
    t.box.bundle.namespace("mount", f"/proc/{child.pid}/ns/mnt")
    t.shell("echo ran")


def a_new_network_has_a_loopback_that_is_up(t):
    t.shell("ip -o addr | grep -c 127.0.0.1; ping -c 1 -W 2 127.0.0.1 >/dev/null 2>&1; cat /proc/net/dev | grep -c :; nc -w 1 127.0.0.1 9 2>&1; "
            "cat /sys/class/net/lo/operstate")


def a_cgroup_namespace_shows_the_container_as_the_root(t):
    t.box.bundle.namespace("cgroup")
    t.shell("cut -d: -f2,3 /proc/self/cgroup")


def a_time_namespace_with_offsets(t):
    t.box.bundle.namespace("time")
    t.linux["timeOffsets"] = {"monotonic": {"secs": 1000, "nanosecs": 5}, "boottime": {"secs": 2000}}
    t.shell("cat /proc/self/timens_offsets")


def a_user_namespace(t):
    t.box.bundle.map_users()
    t.inside()


def a_user_namespace_seen_from_the_host(t):
    t.box.bundle.map_users()
    t.create()
    t.outside("created")
    t.start()
    t.outside("running")
    t.inside_exec()
    t.kill()
    t.box.wait_stopped()
    t.delete()
    t.left()


def a_user_of_a_user_namespace(t):
    t.box.bundle.map_users()
    t.process["user"] = {"uid": 1000, "gid": 1000, "additionalGids": [5, 6]}
    t.inside()


def a_user_that_is_not_mapped(t):
    t.box.bundle.map_users(size=10)
    t.process["user"] = {"uid": 1000, "gid": 1000}
    t.run()
    t.left("after run")


def a_group_that_is_not_mapped(t):
    t.box.bundle.map_users(size=10)
    t.process["user"] = {"uid": 1, "gid": 1, "additionalGids": [1000]}
    t.run()
    t.left("after run")


def a_user_namespace_of_one_number(t):
    t.box.bundle.map_users(size=1)
    t.config["mounts"][2]["options"].remove("gid=5")
    t.inside()


def a_tty_group_that_is_not_mapped(t):
    t.box.bundle.map_users(size=1)
    t.run()


def a_map_of_several_pieces(t):
    t.box.bundle.map_users()
    t.linux["uidMappings"] = [{"containerID": 0, "hostID": 100000, "size": 1}, {"containerID": 1, "hostID": 200000, "size": 1000},
                              {"containerID": 5000, "hostID": 300000, "size": 10}]
    t.linux["gidMappings"] = [{"containerID": 0, "hostID": 100000, "size": 2000}]
    t.shell("cat /proc/self/uid_map /proc/self/gid_map")


def a_map_onto_oneself(t):
    t.box.bundle.map_users(host=0)
    t.inside()


def maps_that_overlap(t):
    t.box.bundle.map_users()
    t.linux["uidMappings"] = [{"containerID": 0, "hostID": 100000, "size": 100}, {"containerID": 50, "hostID": 200000, "size": 100}]
    t.run()
    t.left("after run")


def a_map_of_no_size(t):
    t.box.bundle.map_users()
    t.linux["uidMappings"] = [{"containerID": 0, "hostID": 100000, "size": 0}]
    t.run()
    t.left("after run")


def a_user_namespace_without_maps(t):
    t.box.bundle.namespace("user")
    t.run()
    t.left("after run")


def maps_without_a_user_namespace(t):
    t.linux["uidMappings"] = [{"containerID": 0, "hostID": 100000, "size": 100}]
    t.linux["gidMappings"] = [{"containerID": 0, "hostID": 100000, "size": 100}]
    t.run()


def a_source_that_only_the_hosts_root_can_read(t):
    t.box.bundle.map_users()
    closed = t.directory("closed", 0o700, hello="text\n")
    t.directory("closed/deep", 0o700)
    t.mount("/data", os.path.join(closed, "deep"), "rbind", "ro")
    t.mount("/file", os.path.join(closed, "hello"), "bind")
    t.shell("ls -d /data && test -e /file && echo both")


def a_read_only_bind_of_a_nosuid_source(t):
    t.box.bundle.map_users()
    t.mount("/data", "/dev/shm", "bind", "ro")
    t.shell("awk '$5 == \"/data\" {print $6}' /proc/self/mountinfo")


def sysfs_without_a_network_namespace_of_its_own(t):
    t.box.bundle.map_users()
    t.box.bundle.drop_namespace("network")
    t.inside()


def root_inside_has_no_rights_outside(t):
    t.box.bundle.map_users()
    secret = t.file("secret", "secret\n", 0o600)
    t.mount("/secret", secret, "bind")
    t.shell("cat /secret 2>&1 | sed 's/.*: //'; chown 1:1 /secret 2>&1 | sed 's/.*: //'; mknod /tmp/x c 1 3 2>&1 | sed 's/.*: //'")


def the_streams_of_a_user_namespace_can_be_opened_again(t):
    t.box.bundle.map_users()
    t.process["user"] = {"uid": 1000, "gid": 1000}
    t.shell("echo x >/dev/stderr && echo written")


def exec_in_a_user_namespace(t):
    t.box.bundle.map_users()
    t.detach()
    t.exec("id")
    t.exec("id", options=["--user", "1000:1000"])
    t.exec("cat", "/proc/self/uid_map")


def a_joined_user_namespace_that_denies_groups(t):
    keeper = t.background("setpriv", "--reuid=100000", "--regid=100000", "--clear-groups", "unshare", "--user", "--map-root-user", "sleep", "100")
    host.wait_until(lambda: _is(keeper.pid, "sleep"), 10, "the namespace")
    t.box.bundle.map_users()
    t.box.bundle.namespace("user", f"/proc/{keeper.pid}/ns/user")
    for name in ("uidMappings", "gidMappings"):  # runc 1.1 wants them here as well
        t.linux[name] = [{"containerID": 0, "hostID": 100000, "size": 1}]
    t.config["mounts"] = [mount for mount in t.config["mounts"] if mount["type"] not in ("devpts", "mqueue", "cgroup")]
    t.process["rlimits"] = []
    t.process["user"]["additionalGids"] = [5]
    t.shell("id -u; id -g; cat /proc/self/setgroups")


def _is(pid, name):
    with open(f"/proc/{pid}/comm", encoding="ascii") as file:
        return file.read().strip() == name

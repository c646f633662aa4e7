"""Containers of an ordinary user, with one id of its own or with subordinate ones.

SPDX-License-Identifier: Apache-2.0
"""

import os
import shutil

from rungtest import ordinary_user
from rungtest.ordinary_user import GID, UID
from rungtest.runtime import run


def _as_user(t, subordinates=False, user_namespace=True):
    """Makes the case the user's: the runtime is called by it, and all of the container's files are its own."""
    files = os.path.join(t.work, "user")
    os.mkdir(files)
    os.chmod(files, 0o755)
    ordinary_user.write_account(os.path.join(files, "etc"))
    os.mkdir(os.path.join(files, "run"), 0o700)
    for path in (t.work, os.path.join(files, "run")):
        os.chown(path, UID, GID)
    program = os.path.join(files, os.path.basename(t.runtime.path))  # the tree that is tested may be closed to the user
    shutil.copy(t.runtime.path, program)
    t.runtime = ordinary_user.UserRuntime(program, t.runtime.root, files)
    box = t.box
    del box.config["linux"]["cgroupsPath"]
    for mount in box.config["mounts"]:
        mount["options"] = [one for one in mount.get("options", []) if one != "gid=5"]
    if user_namespace:
        box.bundle.namespace("user")
        ordinary_user.map_ids(box, subordinates=subordinates)
    ordinary_user.give_to_user(box.bundle)
    return box


def everything_with_one_id(t):
    _as_user(t)
    t.inside()


def everything_with_subordinate_ids(t):
    _as_user(t, subordinates=True)
    t.inside()


def a_life_from_create_to_delete(t):
    _as_user(t)
    t.create()
    t.state()
    t.start()
    t.state()
    t.exec("sh", "-c", "id -u; exit 3")
    t.kill()
    t.box.wait_stopped()
    t.state()
    t.delete()
    t.left()


def a_life_with_subordinate_ids(t):
    _as_user(t, subordinates=True)
    t.detach()
    t.exec("id", options=["--user", "5:6"])
    t.exec("cat", "/proc/self/uid_map", "/proc/self/gid_map")
    t.delete("--force")
    t.left()


def everything_in_exec(t):
    _as_user(t)
    t.detach()
    t.inside_exec()


def a_user_of_the_map(t):
    _as_user(t, subordinates=True)
    t.process["user"] = {"uid": 1000, "gid": 1000}
    t.inside()


def groups_where_only_one_is_mapped(t):
    _as_user(t)
    t.process["user"]["additionalGids"] = [5]
    t.run()


def a_user_that_is_not_mapped(t):
    _as_user(t)
    t.process["user"] = {"uid": 5, "gid": 0}
    t.run()


def no_user_namespace(t):
    _as_user(t, user_namespace=False)
    t.run()


def ids_that_are_not_the_users(t):
    _as_user(t)
    t.linux["uidMappings"] = [{"containerID": 0, "hostID": 0, "size": 1}]
    t.run()


def a_limit(t):
    _as_user(t)
    t.resources["pids"] = {"limit": 20}
    t.create()
    t.left()


def a_cgroups_path(t):
    box = _as_user(t)
    t.linux["cgroupsPath"] = box.cgroup
    t.create()
    t.left()


def what_takes_a_cgroup(t):
    _as_user(t)
    t.detach()
    for verb in ("pause", "resume"):
        t.call(verb, t.box.id, output=False)
    t.call("update", "--pids-limit", "20", t.box.id)


def a_signal_to_all(t):
    t.leave_out("runc", "crun")  # without a cgroup they reach nobody
    _as_user(t)
    t.detach()
    t.kill("KILL", "--all")
    t.box.wait_stopped()
    t.delete()
    t.left()


def hooks(t):
    _as_user(t)
    t.config["hooks"] = {"createRuntime": [{"path": "/bin/sh", "args": ["sh", "-c", f"id -u >{t.work}/hook"]}]}
    t.shell("true")
    with open(os.path.join(t.work, "hook"), encoding="ascii") as file:
        t.note("the hook's user", file.read().strip())


def a_device(t):
    _as_user(t)
    t.linux["devices"] = [{"path": "/dev/fuse", "type": "c", "major": 10, "minor": 229}]
    t.shell("ls /dev")


def the_hosts_network(t):
    box = _as_user(t)
    box.bundle.drop_namespace("network")
    box.config["mounts"] = [mount for mount in box.config["mounts"] if mount["type"] not in ("sysfs", "cgroup")]
    t.linux["maskedPaths"] = [path for path in t.linux["maskedPaths"] if not path.startswith("/sys")]
    t.shell("echo ran")


def bind_mounts(t):
    _as_user(t)
    t.mount("/own", t.directory("own", file="x"), "bind", "ro")
    t.shell("cat /own/file; touch /own/new 2>&1 | sed 's/.*: //'")


def what_the_user_cannot_reach(t):
    _as_user(t)
    place = t.directory("closed", file="x")
    os.chmod(place, 0o700)
    t.mount("/closed", os.path.join(place, "file"), "bind")
    t.run()


def a_new_network_has_a_loopback(t):
    _as_user(t)
    t.shell("ip -o addr show dev lo | grep -o 127.0.0.1/8")


def a_specification_for_rootless_containers(t):
    box = _as_user(t)
    os.makedirs(box.bundle.path, exist_ok=True)
    t.call("spec", "--rootless", "--bundle", box.bundle.path, output=False)
    t.note("written", os.path.exists(os.path.join(box.bundle.path, "config.json")))


def a_user_namespace_around_the_runtime(t):
    """As in an unprivileged container: root, and not the host's."""
    box = _as_user(t)
    box.bundle.drop_namespace("user")
    del box.config["linux"]["uidMappings"]
    del box.config["linux"]["gidMappings"]
    box.config["mounts"] = [mount for mount in box.config["mounts"] if mount["type"] != "cgroup"]
    box.shell("id -u; wc -l </proc/self/uid_map; touch /tmp/x && echo x >/dev/null && echo written")
    box.bundle.write()
    at = len(t.runtime.prefix())
    command = t.runtime.command("run", "--bundle", box.bundle.path, box.id)
    t.step("run", run([*command[:at], "unshare", "--user", "--map-root-user", "--mount", *command[at:]], env=t.runtime.environment()))

"""An ordinary user with a systemd of its own (--systemd-cgroup): scopes in the part of cgroup v2 that is delegated to it.

Skipped where systemd is not PID 1 or knows of no such user; the machine of integration/vm does.
SPDX-License-Identifier: Apache-2.0
"""

import os
import pwd
import subprocess
import unittest

from rungtest import differs, host
from rungtest.ordinary_user import GID, NAME, UID, UserCase

DIRECTORY = f"/run/user/{UID}"
MANAGER = f"user@{UID}.service"
DELEGATED = f"/user.slice/user-{UID}.slice/{MANAGER}"


def why_not():
    if not os.path.isdir("/run/systemd/system") or not host.cgroup_is_v2():
        return "systemd is not PID 1 here, or not with cgroup v2; integration/vm/check runs these"
    try:
        pwd.getpwnam(NAME)
    except KeyError:
        return f"this machine has no user {NAME}; integration/vm/check runs these"
    return None


class Scoped(UserCase):
    seconds = 240  # an emulated machine has its time

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        if why_not() is None:
            subprocess.run(["systemctl", "start", MANAGER], check=True)

    def setUp(self):
        if why_not():
            raise unittest.SkipTest(why_not())
        super().setUp()
        self.runtime.options += ["--systemd-cgroup"]
        plain = self.runtime.environment
        self.runtime.environment = lambda **more: plain(XDG_RUNTIME_DIR=DIRECTORY, **more)

    def show(self, unit, *names):
        """Properties of a unit of the user's systemd."""
        command = ["setpriv", "--reuid", str(UID), "--regid", str(GID), "--clear-groups", "systemctl", "--user", "show", unit,
                   *(f"-p{name}" for name in names)]
        answer = subprocess.run(command, check=True, capture_output=True, text=True,
                                env={**os.environ, "XDG_RUNTIME_DIR": DIRECTORY}).stdout
        return dict(line.split("=", 1) for line in answer.splitlines())

    def scoped(self, name=None, **resources):
        box = self.container(name).args("sleep", "1000")
        box.config["linux"]["cgroupsPath"] = f"user.slice:t:{box.id}"
        box.config["linux"]["resources"].update(resources)
        box.scope = f"t-{box.id}.scope"
        box.cgroup = f"{DELEGATED}/user.slice/{box.scope}"
        return box

    def running(self, name=None, **resources):
        box = self.scoped(name, **resources)
        self.succeed(box.run_detached())
        return box

    def contents_of(self, box, *names):
        below = "/container" if self.kind == "crun" else ""
        found = []
        for name in names:
            with open(host.cgroup_file(box.cgroup + below, "", name), encoding="ascii") as file:
                found.append(file.read().strip())
        return found


class Life(Scoped):
    def test_the_container_is_a_delegated_scope_of_the_users_systemd(self):
        box = self.running()

        self.assertEqual(self.show(box.scope, "ActiveState", "Slice", "Delegate", "ControlGroup", "Transient"),
                         {"ActiveState": "active", "Slice": "user.slice", "Delegate": "yes", "Transient": "yes",
                          "ControlGroup": box.cgroup})
        with open(f"/proc/{box.pid()}/cgroup", encoding="ascii") as file:
            self.assertIn(f"0::{box.cgroup}", file.read())

    def test_without_a_path_the_scope_is_named_after_runtime_and_id(self):
        box = self.scoped()
        del box.config["linux"]["cgroupsPath"]

        self.succeed(box.run_detached())

        if self.kind != "crun":
            self.assertIn(f"/user.slice/{self.kind}-{box.id}.scope", host.cgroup_directories(box.id)[-1])

    @differs(runc="1.1 leaves it where its caller is", crun="1.8 may not move it there")
    def test_exec_joins_the_scope(self):
        box = self.running()

        self.assertIn(box.cgroup, self.succeed(box.exec("cat", "/proc/self/cgroup")).out)
        self.succeed(box.exec("sleep", "999", options=["--detach"]))
        self.assertEqual(len(self.contents_of(box, "cgroup.procs")[0].split()), 2)

    @differs(runc="1.1 leaves it where its caller is", crun="1.8 may not move it there")
    def test_exec_follows_an_init_that_has_moved_to_a_child_cgroup(self):
        box = self.scoped().shell("mkdir /sys/fs/cgroup/in && echo 1 > /sys/fs/cgroup/in/cgroup.procs && "
                                  "echo +memory > /sys/fs/cgroup/cgroup.subtree_control && touch /ready; sleep 100")
        box.bundle.namespace("cgroup")
        box.bundle.open_cgroup_mount()
        self.succeed(box.run_detached())
        host.wait_until(lambda: os.path.exists(box.bundle.inside("/ready")))

        self.prints(box.exec("cat", "/proc/self/cgroup"), "0::/in")

    def test_the_exit_code_of_a_container_in_the_foreground_is_its_processs(self):
        box = self.scoped().shell("exit 7")

        self.assertEqual(box.run().code, 7)

        host.wait_until(lambda: self.show(box.scope, "LoadState")["LoadState"] == "not-found", 30, "the end of the unit")

    def test_a_cgroup_namespace_shows_the_scope_as_its_root(self):
        box = self.scoped().args("cat", "/proc/self/cgroup")
        box.bundle.namespace("cgroup")

        self.assertIn(self.succeed(box.run()).out.strip(), ("0::/", "0::/container"))

    @differs(crun="1.8 leaves the unit until systemd sees that it is empty")
    def test_delete_ends_the_processes_and_the_unit(self):
        box = self.running()

        self.succeed(box.delete("--force"))

        self.is_gone(box)
        self.assertNotEqual(self.show(box.scope, "ActiveState")["ActiveState"], "active")

    def test_a_failed_create_leaves_no_unit(self):
        box = self.scoped(memory={"limit": 64 << 20}, unified={"memory.high": "much"})

        self.assertNotEqual(box.create().code, 0)

        self.is_gone(box)
        self.assertNotEqual(self.show(box.scope, "ActiveState")["ActiveState"], "active")

    @differs(runc="shows its own usage", crun="says less")
    def test_a_user_without_a_systemd_is_told_what_is_missing(self):
        box = self.scoped()
        self.runtime.environment = lambda: {"PATH": os.environ["PATH"]}

        self.fails(box.create(), "XDG_RUNTIME_DIR", "dbus-user-session", "enable-linger")

        self.is_gone(box)


class Limits(Scoped):
    def test_limits_are_in_the_unit_and_in_the_files(self):
        box = self.running(memory={"limit": 64 << 20, "swap": 96 << 20}, pids={"limit": 33},
                           cpu={"quota": 20000, "period": 50000})

        self.assertEqual(self.contents_of(box, "memory.max", "memory.swap.max", "pids.max", "cpu.max"),
                         [str(64 << 20), str(32 << 20), "33", "20000 50000"])
        if self.kind != "crun":
            self.assertEqual(self.show(box.scope, "MemoryMax", "MemorySwapMax", "TasksMax", "CPUQuotaPerSecUSec"),
                             {"MemoryMax": str(64 << 20), "MemorySwapMax": str(32 << 20), "TasksMax": "33",
                              "CPUQuotaPerSecUSec": "400ms"})

    @differs(crun="writes files only, which a reload undoes")
    def test_an_update_reaches_unit_and_file(self):
        box = self.running(memory={"limit": 64 << 20}, pids={"limit": 33})

        self.succeed(self.runtime.call("update", "--memory", str(48 << 20), "--pids-limit", "44", box.id))

        self.assertEqual(self.contents_of(box, "memory.max", "pids.max"), [str(48 << 20), "44"])
        self.assertEqual(self.show(box.scope, "MemoryMax", "TasksMax"), {"MemoryMax": str(48 << 20), "TasksMax": "44"})

    @differs(runc="1.1 starts it without", crun="1.8 starts it without")
    def test_a_limit_whose_controller_is_not_delegated_is_an_error(self):
        with open(host.cgroup_file(DELEGATED, "", "cgroup.controllers"), encoding="ascii") as file:
            self.assertNotIn("cpuset", file.read())
        box = self.scoped(cpu={"cpus": "0"})

        self.fails(box.create(), "linux.resources.cpu.cpus", "does not pass the cpuset controller on")

        self.is_gone(box)

    @differs(crun="lists init only")
    def test_pause_resume_and_ps_work_on_the_scope(self):
        box = self.running()
        self.succeed(self.runtime.call("pause", box.id))
        paused = box.status(), self.contents_of(box, "cgroup.freeze")

        self.succeed(self.runtime.call("resume", box.id))

        self.assertEqual((paused, box.status()), (("paused", ["1"]), "running"))
        self.assertIn(str(box.pid()), self.succeed(self.runtime.call("ps", "--format", "json", box.id)).out)

"""Containers of an ordinary user to whom a part of cgroup v2 was given, as systemd does it, but without systemd.

SPDX-License-Identifier: Apache-2.0
"""

import os
import subprocess

from rungtest import differs, host
from rungtest.ordinary_user import GID, UID, UserCase


class Delegated(UserCase):
    """The user's processes are in a cgroup inside that part."""

    def setUp(self):
        if not host.cgroup_is_v2():
            self.skipTest("on cgroup v1 nothing is delegated")
        super().setUp()
        self.top = os.path.join(host.CGROUP_ROOT, self.word)
        self.home = os.path.join(self.top, "home")
        os.makedirs(self.home)
        for directory in (self.top, self.home):
            for name in ("", "cgroup.procs", "cgroup.threads", "cgroup.subtree_control"):
                os.chown(os.path.join(directory, name), UID, GID)
        self.runtime.prefix = lambda plain=self.runtime.prefix: [
            "sh", "-c", f'echo 0 > {self.home}/cgroup.procs; exec "$@"', "from-home", *plain()]

    def limited(self, path):
        box = self.container().args("sleep", "100")
        if path:
            box.config["linux"]["cgroupsPath"] = path.format(word=self.word, id=box.id)
        box.config["linux"]["resources"].update(memory={"limit": 64 << 20}, pids={"limit": 33})
        box.cgroup = f"/{self.word}/{box.id}"
        return box

    def test_its_limits_are_set_and_every_verb_finds_it(self):
        box = self.limited("/{word}/{id}")
        self.succeed(box.run_detached())
        limits = box.cgroup_file("", "memory.max"), box.cgroup_file("", "pids.max")

        joined = self.succeed(box.exec("cat", "/proc/self/cgroup")).out
        self.succeed(self.runtime.call("pause", box.id))
        paused = box.status()
        self.succeed(self.runtime.call("resume", box.id))
        updated = self.runtime.call("update", "--pids-limit", "44", box.id)

        self.assertEqual((limits, paused), ((str(64 << 20), "33"), "paused"))
        if self.kind != "crun":
            self.succeed(updated)
            self.assertEqual(box.cgroup_file("", "pids.max"), "44")
            self.assertIn(str(box.pid()), self.succeed(self.runtime.call("ps", box.id)).out)
        self.assertIn(box.cgroup, joined)

    @differs(crun="1.8 needs a path", runc="1.1 needs a path")
    def test_without_a_path_its_cgroup_is_beside_the_callers(self):
        box = self.limited("")

        self.succeed(box.run_detached())

        self.assertEqual((box.cgroup_file("", "memory.max"), box.cgroup_file("", "pids.max")), (str(64 << 20), "33"))

    @differs(crun="1.8 moves the caller", runc="1.1 starts it without")
    def test_a_parent_that_holds_processes_cannot_pass_controllers_on(self):
        box = self.limited("/{word}/{id}")
        with open(os.path.join(self.top, "cgroup.procs"), "w", encoding="ascii") as file:
            with subprocess.Popen(["sleep", "1000"]) as holder:
                file.write(str(holder.pid))
                file.flush()

                result = box.create()
                holder.kill()

        self.fails(result, "linux.resources.memory.limit", f"{self.top} holds processes itself")
        host.reap_ended()
        self.is_gone(box)

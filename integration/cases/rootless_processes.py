"""Where and when the processes of an ordinary user's containers are: clocks, working directory, and what tells them from others.

SPDX-License-Identifier: Apache-2.0
"""

import os

from rungtest import differs
from rungtest.ordinary_user import FIRST_SUBORDINATE, UserCase, map_ids


class Processes(UserCase):
    @differs(runc="1.1 does not know it", crun="1.8 fails")
    def test_a_time_namespace_has_its_offsets_and_exec_enters_it(self):
        box = self.container().args("sleep", "100")
        box.bundle.namespace("time")
        box.config["linux"]["timeOffsets"] = {"monotonic": {"secs": 7881, "nanosecs": 27}, "boottime": {"secs": 1337}}
        self.succeed(box.run_detached())

        shown = self.succeed(box.exec("cat", "/proc/self/timens_offsets")).out

        self.assertEqual([line.split() for line in shown.splitlines()], [["monotonic", "7881", "27"], ["boottime", "1337", "0"]])

    @differs(runc="1.1 does not know it", crun="1.8 fails")
    def test_a_time_namespace_needs_no_offsets(self):
        box = self.container().args("cat", "/proc/self/timens_offsets")
        box.bundle.namespace("time")

        shown = self.succeed(box.run()).out

        self.assertEqual([line.split()[1:] for line in shown.splitlines()], [["0", "0"], ["0", "0"]])

    def test_a_directory_that_only_its_user_may_enter_can_be_the_working_directory(self):
        place = os.path.join(self.work, "private")
        os.mkdir(place, 0o700)
        # Its group is not mapped, so that root inside has no power over it.
        os.chown(place, FIRST_SUBORDINATE + 4, 0)
        box = self.container().args("pwd")
        map_ids(box, subordinates=True)
        box.bundle.add_mount("/private", place, options=["bind"])
        box.config["process"].update(cwd="/private", user={"uid": 5, "gid": 5})

        self.prints(box.run(), "/private")

    @differs(runc="1.1 does not say so", crun="1.8 does not say so")
    def test_a_container_whose_processes_cannot_be_told_from_others_is_discouraged(self):
        box = self.container().args("true")
        box.bundle.drop_namespace("pid")
        for mount in box.config["mounts"]:
            if mount["destination"] == "/proc":
                mount.update(type="none", source="/proc", options=["rbind", "nosuid", "nodev", "noexec"])

        self.assertIn("Such configuration is strongly discouraged", self.succeed(box.run()).err)

    def test_a_container_with_processes_of_its_own_is_not(self):
        self.assertNotIn("discouraged", self.succeed(self.container().args("true").run()).err)

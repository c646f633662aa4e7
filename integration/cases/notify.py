"""Telling the caller's service manager that the container is ready: sd_notify(3) through NOTIFY_SOCKET.

SPDX-License-Identifier: Apache-2.0
"""

import contextlib
import os
import socket
import subprocess

from rungtest import Case, differs, host
from rungtest.runtime import ENVIRONMENT

ELSEWHERE = "shows its socket at /run/notify"


class Notify(Case):
    def setUp(self):
        super().setUp()
        self.path = os.path.join(self.work, "manager")
        self.manager = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.addCleanup(self.manager.close)
        self.manager.bind(self.path)
        self.manager.settimeout(20)

    def sleeper(self):
        box = self.container().args("sleep", "100")
        box.config["process"]["user"] = {"uid": 1000, "gid": 1000}
        return box

    @contextlib.contextmanager
    def calling(self, *command):
        with subprocess.Popen(self.runtime.command(*command), env={**ENVIRONMENT, "NOTIFY_SOCKET": self.path},
                              stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
            yield process

    def say(self, pid, message):
        """As the container would: through the socket that it sees."""
        inside = f"/proc/{pid}/root{self.path}/notify"
        host.wait_until(lambda: os.path.exists(inside), what="the socket inside")
        self.assertEqual(os.stat(inside).st_mode & 0o777, 0o777)
        place = os.open(os.path.dirname(inside), os.O_PATH)
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as client:
            client.connect(f"/proc/self/fd/{place}/notify")
            client.send(message)
        os.close(place)

    def heard(self):
        return sorted(self.manager.recv(1000).decode().split("\n"))

    def pid_of(self, box):
        host.wait_until(lambda: self.runtime.call("state", box.id).code == 0, what="the container")
        return box.state()["pid"]

    @differs(runc=ELSEWHERE, crun="1.8 does not say which process it is")
    def test_start_waits_until_the_container_is_ready(self):
        box = self.sleeper()
        self.succeed(box.create(env={**ENVIRONMENT, "NOTIFY_SOCKET": self.path}))
        pid = box.pid()

        with self.calling("start", box.id) as start:
            self.say(pid, b"STATUS=loading")
            self.say(pid, b"STATUS=done\nREADY=1\n")

            self.assertEqual(self.heard(), [f"MAINPID={pid}", "READY=1"])
            self.assertEqual(self.heard(), ["BARRIER=1"])
            self.manager.close()
            self.assertEqual(start.wait(20), 0)
        self.assertEqual(box.status(), "running")

    @differs(runc=ELSEWHERE, crun="1.8 waits for ever")
    def test_start_ends_when_the_container_does(self):
        box = self.container().args("true")
        self.succeed(box.create(env={**ENVIRONMENT, "NOTIFY_SOCKET": self.path}))

        with self.calling("start", box.id) as start:
            self.assertEqual(start.wait(20), 0)

    @differs(runc=ELSEWHERE, crun="1.8 does not say which process it is")
    def test_run_passes_on_that_the_container_is_ready(self):
        for options, of_the_container in ((["--detach"], True), ([], False)):
            box = self.sleeper()
            box.bundle.write()
            with self.calling("run", *options, "--bundle", box.bundle.path, box.id) as run:
                pid = self.pid_of(box)
                self.say(pid, b"READY=1")

                self.assertEqual(self.heard(), [f"MAINPID={pid}", "READY=1"] if of_the_container else ["READY=1"])
                self.assertEqual(self.heard(), ["BARRIER=1"])
                if not of_the_container:
                    self.succeed(box.kill("KILL"))
                self.manager.close()
                self.assertEqual(run.wait(20), 0 if of_the_container else 137)
            self.succeed(box.delete("--force"))
            os.unlink(self.path)
            self.manager = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
            self.addCleanup(self.manager.close)
            self.manager.bind(self.path)
            self.manager.settimeout(20)

    @differs(runc=ELSEWHERE)
    def test_the_process_is_told_the_place_and_others_are_not(self):
        box = self.container().shell("echo $NOTIFY_SOCKET")

        self.prints(box.run(env={**ENVIRONMENT, "NOTIFY_SOCKET": self.path}), f"{self.path}/notify")
        self.prints(box.run(), "")

    @differs(crun="1.8 fails")
    def test_a_file_of_the_image_at_that_place_is_left_alone(self):
        box = self.container().shell("echo $NOTIFY_SOCKET; cat /etc/taken")
        box.bundle.put("/etc/taken", "as it was\n")

        out = self.succeed(box.run(env={**ENVIRONMENT, "NOTIFY_SOCKET": "/etc/taken"})).out

        self.assertTrue(out.startswith("/run/notify/"), out)
        self.assertTrue(out.endswith("\nas it was\n"), out)

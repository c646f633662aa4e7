"""pause and resume, and what every other verb makes of a paused container.

SPDX-License-Identifier: Apache-2.0
"""

import os
import subprocess
import threading
import time

from rungtest import Case, differs, host
from rungtest.runtime import ENVIRONMENT


class Paused(Case):
    def sleeper(self, name=None):
        box = self.container(name).args("sleep", "100")
        self.succeed(box.run_detached())
        return box

    def paused(self, name=None):
        box = self.sleeper(name)
        self.succeed(self.runtime.call("pause", box.id))
        return box

    def counter(self):
        """A container that writes a number again and again, and a function that reads it."""
        box = self.container().shell("n=0; while true; do n=$((n + 1)); echo $n > /new; mv /new /n; done")
        self.succeed(box.run_detached())
        host.wait_until(lambda: os.path.exists(box.bundle.inside("/n")))
        return box, lambda: box.bundle.read("/n")

    def test_a_paused_container_does_nothing_and_goes_on_when_it_is_resumed(self):
        box, count = self.counter()

        self.succeed(self.runtime.call("pause", box.id))
        paused = box.status()
        before = count()
        time.sleep(0.2)
        after = count()
        self.succeed(self.runtime.call("resume", box.id))

        self.assertEqual((paused, box.status()), ("paused", "running"))
        self.assertEqual(before, after)
        host.wait_until(lambda: count() != after)

    def test_state_and_list_say_that_it_is_paused(self):
        box = self.paused()

        self.assertEqual((box.status(), box.state()["pid"]), ("paused", box.pid()))
        lines = self.succeed(self.runtime.call("list")).out.splitlines()
        self.assertEqual(lines[1].split()[:3], [box.id, str(box.pid()), "paused"])

    @differs(crun="pauses it again")
    def test_a_paused_container_cannot_be_paused_again(self):
        self.fails(self.runtime.call("pause", self.paused().id), "container not running")

    @differs(crun="resumes it again")
    def test_only_a_paused_container_can_be_resumed(self):
        self.fails(self.runtime.call("resume", self.sleeper().id), "container not paused")

    @differs(crun="has a wording of its own")
    def test_a_stopped_container_can_be_neither_paused_nor_resumed(self):
        box = self.container().args("true")
        self.succeed(box.run_detached())
        box.wait_stopped()

        self.fails(self.runtime.call("pause", box.id), "container not running")
        self.fails(self.runtime.call("resume", box.id), "container not paused")

    @differs(crun="has a wording of its own")
    def test_an_unknown_container_can_be_neither_paused_nor_resumed(self):
        for verb in ("pause", "resume"):
            with self.subTest(verb):
                self.fails(self.runtime.call(verb, "nobody"), "container does not exist")

    @differs(crun="starts it while it is paused")
    def test_a_created_container_can_be_paused_and_is_created_again_when_resumed(self):
        box = self.container().args("sleep", "100")
        self.succeed(box.create())

        self.succeed(self.runtime.call("pause", box.id))
        paused = box.status()
        self.fails(box.start(), "cannot start a container in the paused state")
        self.succeed(self.runtime.call("resume", box.id))
        resumed = box.status()
        self.succeed(box.start())

        self.assertEqual((paused, resumed, box.status()), ("paused", "created", "running"))

    def test_exec_in_a_paused_container_is_refused(self):
        box = self.paused()

        if self.kind == "crun":
            self.fails(box.exec("true"), "is paused")
        else:
            self.fails(box.exec("true"), "cannot exec in a paused container", code=255)

        self.assertEqual(box.status(), "paused")

    @differs(crun="1.8 has no --ignore-paused")
    def test_exec_may_ignore_that_and_runs_when_the_container_is_resumed(self):
        box = self.paused()
        timer = threading.Timer(0.5, lambda: self.runtime.call("resume", box.id))
        timer.start()

        result = box.exec("echo", "ok", options=["--ignore-paused"])
        timer.join()

        self.prints(result, "ok")

    @differs(crun="1.8 has no --ignore-paused")
    def test_who_enters_the_pid_namespace_has_left_the_hosts_root_before(self):
        # Frozen on its way in, and seen inside: a process there with CAP_SYS_PTRACE would reach the host through its /proc/PID/root.
        box = self.paused()
        init = box.pid()
        entering = threading.Thread(target=lambda: box.exec("true", options=["--ignore-paused"]))
        entering.start()

        def on_their_way():
            return [pid for pid in host.processes_of(box.id) if pid != init and self.is_in_cgroup_of(pid, box)]
        host.wait_until(on_their_way, what="a process on its way in")
        inside = [pid for pid in on_their_way() if self.has_number_inside(pid)]
        roots = {self.place(f"/proc/{pid}/{name}") for pid in inside for name in ("root", "cwd")}
        self.succeed(self.runtime.call("resume", box.id))
        entering.join()

        self.assertLessEqual(roots, {self.place(f"/proc/{init}/root")})

    @staticmethod
    def is_in_cgroup_of(pid, box):
        try:
            with open(f"/proc/{pid}/cgroup", encoding="utf-8") as file:
                return box.id in file.read()
        except OSError:  # it has ended
            return False

    @staticmethod
    def has_number_inside(pid):
        with open(f"/proc/{pid}/status", encoding="utf-8") as file:
            return any(line.startswith("NSpid:") and len(line.split()) > 2 for line in file)

    @staticmethod
    def place(path):
        status = os.stat(path)
        return status.st_dev, status.st_ino

    def test_start_and_delete_of_a_paused_container_are_refused(self):
        box = self.paused()

        self.fails(box.start(), "" if self.kind == "crun" else "cannot start a container in the paused state")
        self.fails(box.delete(), "" if self.kind == "crun" else "that is not stopped: paused")

        self.assertEqual(box.status(), "paused")

    @differs(crun="1.8 leaves the process frozen on v1")
    def test_a_paused_container_can_be_killed(self):
        for number, options in enumerate(((), ("--all",))):
            with self.subTest(options):
                box = self.paused(f"c{number}")

                self.succeed(box.kill("KILL", *options))

                box.wait_stopped()
                self.succeed(box.delete())
                self.is_gone(box)

    def test_another_signal_waits_until_it_is_resumed(self):
        box = self.container().shell("trap 'exit 9' TERM; echo > /ready; while true; do sleep 0.05; done")
        self.succeed(box.run_detached())
        host.wait_until(lambda: os.path.exists(box.bundle.inside("/ready")))
        self.succeed(self.runtime.call("pause", box.id))

        self.succeed(box.kill("TERM"))
        before = box.status()
        self.succeed(self.runtime.call("resume", box.id))

        self.assertEqual(before, "paused")
        self.assertEqual(os.waitstatus_to_exitcode(box.reap()), 9)

    @differs(crun="1.8 leaves the process of exec")
    def test_a_forced_delete_ends_a_paused_container(self):
        for number, namespace in enumerate(("private", "host")):
            with self.subTest(namespace):
                box = self.container(f"c{number}").args("sleep", "100")
                if namespace == "host":
                    box.bundle.drop_namespace("pid")
                self.succeed(box.run_detached())
                self.succeed(box.exec("sleep", "99", options=["--detach"]))
                self.succeed(self.runtime.call("pause", box.id))

                self.succeed(box.delete("--force"))

                self.is_gone(box)

    def test_a_pause_that_is_killed_can_be_resumed(self):
        box, count = self.counter()
        for _ in range(5):
            process = subprocess.Popen(self.runtime.command("pause", box.id), env=ENVIRONMENT,
                                       stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            time.sleep(0.002)
            process.kill()
            process.wait()

            if box.status() == "paused":
                self.succeed(self.runtime.call("resume", box.id))
            before = count()
            host.wait_until(lambda before=before: count() != before)

    @differs(crun="1.8 leaves the process of exec")
    def test_everything_in_the_container_is_paused(self):
        box = self.sleeper()
        self.succeed(box.exec("sh", "-c", "while true; do date +%s%N > /new; mv /new /x; done", options=["--detach"]))
        host.wait_until(lambda: os.path.exists(box.bundle.inside("/x")))

        self.succeed(self.runtime.call("pause", box.id))

        before = box.bundle.read("/x")
        time.sleep(0.2)
        self.assertEqual(box.bundle.read("/x"), before)

"""ctr over the runtime under test: every task command, and what must come back.

SPDX-License-Identifier: Apache-2.0
"""

import itertools
import json
import unittest

from rungtest import differs, host
from rungtest.runtime import find_runtime, kind_of, why_no_checkpoint
from rungtest.terminal import Foreground

from containerd.daemon import BOX, Daemon


class Tasks(unittest.TestCase):
    maxDiff = None

    @classmethod
    def setUpClass(cls):
        path = find_runtime()
        cls.kind = kind_of(path)
        cls.daemon = Daemon(path).__enter__()
        cls.addClassCleanup(cls._stop_daemon)
        cls.numbers = itertools.count(1)

    @classmethod
    def _stop_daemon(cls):
        left = cls.daemon.stop()
        if left:
            raise AssertionError(f"left after the daemon: {left}")

    def setUp(self):
        self.addCleanup(self._remove_containers)

    def _remove_containers(self):
        for name in self.ok(self.ctr("containers", "list", "-q")).out.split():
            self.ctr("tasks", "delete", "--force", name)
            self.ok(self.ctr("containers", "delete", name))

    def ctr(self, *arguments, **how):
        return self.daemon.ctr(*arguments, **how)

    def name(self):
        return f"c{next(self.numbers)}"

    def run_command(self, *options, name, command):
        return ["run", "--runc-binary", self.daemon.runtime_path, *options, BOX, name, *command]

    def run_it(self, *options, command, **how):
        return self.ctr(*self.run_command("--rm", *options, name=self.name(), command=command), **how)

    def background(self, *options, command=("sleep", "100")):
        name = self.name()
        self.ok(self.ctr(*self.run_command("--detach", *options, name=name, command=command)))
        return name

    def exec(self, name, *command, options=(), identifier=None):
        return self.ctr("tasks", "exec", "--exec-id", identifier or self.name(), *options, name, *command)

    def ok(self, result):
        self.assertEqual(result.code, 0, f"{result}\n{self.daemon.complaints() if result.code else ''}")
        return result

    def status(self, name):
        rows = [line.split() for line in self.ok(self.ctr("tasks", "list")).out.splitlines()]
        return next((row[2] for row in rows if row[0] == name), None)

    def pid(self, name):
        rows = [line.split() for line in self.ok(self.ctr("tasks", "list")).out.splitlines()]
        return next(int(row[1]) for row in rows if row[0] == name)

    def ended(self, name):
        host.wait_until(lambda: self.status(name) == "STOPPED", 10, f"the end of {name}")

    def test_run_prints_and_gives_the_exit_code(self):
        result = self.run_it(command=["sh", "-c", "echo out; echo err >&2; exit 7"])

        self.assertEqual((result.code, result.out, result.err), (7, "out\n", "err\n"), repr(result))

    def test_run_reads_standard_input(self):
        # One line: an end that comes before the task is started may be lost by ctr 1.6 itself.
        result = self.run_it(command=["sh", "-c", "read line; echo got $line"], stdin="given\n")

        self.assertEqual(self.ok(result).out, "got given\n")

    def test_run_has_a_terminal(self):
        person = Foreground(self.daemon.command(*self.run_command(
            "--rm", "--tty", name=self.name(), command=["sh", "-c", "tty; read line; echo got $line; exit 3"])))
        self.addCleanup(person.terminal.close)
        person.terminal.read_until("/dev/pts/")
        person.terminal.write("hello\n")

        self.assertIn("got hello", person.terminal.read_until("got hello"))
        self.assertEqual(person.wait(), 3)

    @differs(crun="1.8 has wordings of its own")
    def test_a_command_that_does_not_exist_is_named(self):
        result = self.run_it(command=["nosuch"])

        self.assertEqual(result.code, 1, repr(result))
        self.assertIn('exec: "nosuch": executable file not found in $PATH', result.err)

    @differs(crun="1.8 has wordings of its own")
    def test_a_command_path_that_does_not_exist_is_named(self):
        self.assertIn('exec: "/no/such": stat /no/such: no such file or directory', self.run_it(command=["/no/such"]).err)

    @differs(crun="1.8 has wordings of its own")
    def test_a_command_that_is_not_executable_is_named(self):
        self.assertIn('exec: "/etc/passwd": permission denied', self.run_it(command=["/etc/passwd"]).err)

    def test_a_failed_run_leaves_nothing(self):
        name = self.name()
        self.ctr(*self.run_command("--rm", name=name, command=["/no/such"]))

        self.assertEqual(host.cgroup_directories(f"{self.daemon.word}/{name}"), [])
        self.assertNotIn(name, self.ok(self.ctr("containers", "list", "-q")).out.split())

    def test_a_task_is_listed_with_its_process(self):
        name = self.background()

        self.assertEqual(self.status(name), "RUNNING")
        self.assertTrue(host.is_alive(self.pid(name)))

    def test_ps_lists_every_process(self):
        name = self.background(command=("sh", "-c", "sleep 50 & sleep 50 & wait"))

        def listed():
            lines = self.ok(self.ctr("tasks", "ps", name)).out.splitlines()
            return len(lines) == 4 and lines

        lines = host.wait_until(listed, 10, "three processes")
        self.assertEqual(lines[0].split(), ["PID", "INFO"])
        self.assertIn(str(self.pid(name)), [line.split()[0] for line in lines[1:]])

    def test_ps_names_the_exec_session(self):
        name = self.background()
        session = Foreground(self.daemon.command("tasks", "exec", "--exec-id", "looked-for", name, "sh", "-c",
                                                 "echo here; read line"))
        self.addCleanup(session.terminal.close)
        session.terminal.read_until("here")

        self.assertIn("looked-for", self.ok(self.ctr("tasks", "ps", name)).out)
        session.process.kill()
        session.process.wait()

    def test_exec_gives_output_and_exit_code(self):
        result = self.exec(self.background(), "sh", "-c", "echo inside; exit 4")

        self.assertEqual((result.code, result.out), (4, "inside\n"), repr(result))

    def test_exec_takes_user_and_directory(self):
        result = self.exec(self.background(), "sh", "-c", "id -u; id -g; pwd", options=["--user", "1000:1001", "--cwd", "/tmp"])

        self.assertEqual(self.ok(result).out.split(), ["1000", "1001", "/tmp"])

    def test_exec_has_a_terminal(self):
        name = self.background()
        person = Foreground(self.daemon.command("tasks", "exec", "--exec-id", self.name(), "--tty", name, "sh", "-c",
                                                "tty; read line; echo got $line; exit 6"))
        self.addCleanup(person.terminal.close)
        person.terminal.read_until("/dev/pts/")
        person.terminal.write("hello\n")

        self.assertIn("got hello", person.terminal.read_until("got hello"))
        self.assertEqual(person.wait(), 6)

    @differs(crun="1.8 has wordings of its own")
    def test_exec_of_a_command_that_does_not_exist_is_named(self):
        name = self.background()

        result = self.exec(name, "/no/such")

        self.assertNotEqual(result.code, 0)
        self.assertIn('exec: "/no/such": stat /no/such: no such file or directory', result.err)
        self.assertEqual(self.status(name), "RUNNING")

    def test_a_paused_task_stands_still_until_it_is_resumed(self):
        name = self.background(command=("sh", "-c", "while true; do date +%s >> /beats; sleep 0.1; done"))
        self.ok(self.ctr("tasks", "pause", name))
        paused = self.status(name)
        beats = f"/proc/{self.pid(name)}/root/beats"
        before = self._read(beats)

        self.ok(self.ctr("tasks", "resume", name))

        self.assertEqual(paused, "PAUSED")
        self.assertEqual(self.status(name), "RUNNING")
        host.wait_until(lambda: self._read(beats) != before, 10, "another beat")

    @staticmethod
    def _read(path):
        with open(path, encoding="ascii") as file:
            return file.read()

    def test_exec_into_a_paused_task_is_refused(self):
        name = self.background()
        self.ok(self.ctr("tasks", "pause", name))

        result = self.exec(name, "true")
        self.ok(self.ctr("tasks", "resume", name))

        self.assertNotEqual(result.code, 0)
        self.assertEqual(self.exec(name, "true").code, 0)

    def test_pausing_a_paused_task_is_refused(self):
        name = self.background()
        self.ok(self.ctr("tasks", "pause", name))

        again = self.ctr("tasks", "pause", name)
        self.ok(self.ctr("tasks", "resume", name))

        self.assertNotEqual(again.code, 0)

    def test_a_signal_reaches_the_process(self):
        name = self.background(command=("sh", "-c", "trap 'exit 5' USR1; echo ready > /ready; while true; do sleep 0.1; done"))
        host.wait_until(lambda: self.exec(name, "test", "-e", "/ready").code == 0)

        self.ok(self.ctr("tasks", "kill", "--signal", "SIGUSR1", name))

        self.ended(name)
        self.assertIn("exit code 5", self.ctr("tasks", "delete", name).err)

    def test_killing_an_ended_task_says_so(self):
        name = self.background(command=("true",))
        self.ended(name)

        result = self.ctr("tasks", "kill", name)

        self.assertNotEqual(result.code, 0)
        self.assertIn("process already finished", result.err)

    def test_kill_all_ends_every_process(self):
        name = self.background(command=("sh", "-c", "sleep 77 & sleep 77 & wait"))

        self.ok(self.ctr("tasks", "kill", "--all", "--signal", "SIGKILL", name))

        self.ended(name)

    def test_a_running_task_is_deleted_with_force_only(self):
        name = self.background()

        plain = self.ctr("tasks", "delete", name)
        forced = self.ctr("tasks", "delete", "--force", name)

        self.assertNotEqual(plain.code, 0)
        self.assertIsNone(self.status(name), repr(forced))
        self.assertEqual(host.cgroup_directories(f"{self.daemon.word}/{name}"), [])

    def test_a_task_starts_again_in_its_container(self):
        name = self.background(command=("true",))
        self.ended(name)
        self.ok(self.ctr("tasks", "delete", name))

        self.assertEqual(self.ok(self.ctr("tasks", "start", name)).out, "")

    def test_limits_are_the_kernels(self):
        name = self.background("--memory-limit", str(64 << 20), "--cpu-shares", "512")

        if host.cgroup_is_v2():
            wanted = {("", "memory.max"): str(64 << 20)}
        else:
            wanted = {("memory", "memory.limit_in_bytes"): str(64 << 20), ("cpu", "cpu.shares"): "512"}
        for (controller, file), value in wanted.items():
            self.assertEqual(self._read(host.cgroup_file(f"/{self.daemon.word}/{name}", controller, file)).strip(), value)

    def test_metrics_come_from_its_cgroup(self):
        name = self.background("--memory-limit", str(64 << 20))

        metrics = json.loads(self.ok(self.ctr("tasks", "metrics", "--format", "json", name)).out)

        self.assertIn("memory", metrics)
        self.assertIn("pids", metrics)

    def test_a_seccomp_profile_is_in_force(self):
        result = self.run_it("--seccomp", command=["grep", "Seccomp:", "/proc/self/status"])

        self.assertEqual(self.ok(result).out.split()[1], "2")

    def test_a_read_only_root_cannot_be_written(self):
        result = self.run_it("--read-only", command=["sh", "-c", "touch /x 2>/dev/null || echo refused"])

        self.assertEqual(self.ok(result).out, "refused\n")

    def test_a_mount_is_made_as_asked(self):
        source = self.daemon.write("given/file", "text\n")
        directory = source.removesuffix("/file")

        result = self.run_it("--mount", f"type=bind,src={directory},dst=/given,options=rbind:ro", command=[
            "sh", "-c", "cat /given/file; touch /given/x 2>/dev/null || echo refused"])

        self.assertEqual(self.ok(result).out, "text\nrefused\n")

    def test_a_task_can_join_anothers_network(self):
        first = self.background()

        result = self.run_it("--with-ns", f"network:/proc/{self.pid(first)}/ns/net",
                             command=["readlink", "/proc/self/ns/net"])

        self.assertEqual(self.ok(result).out, self.ok(self.exec(first, "readlink", "/proc/self/ns/net")).out)

    def test_output_goes_to_a_log_when_asked(self):
        log = self.daemon.path("task.log")
        name = self.background("--log-uri", f"file://{log}", command=("sh", "-c", "echo one; echo two >&2"))
        self.ended(name)

        host.wait_until(lambda: sorted(self._read(log).split()) == ["one", "two"], 10, "both lines in the log")

    def test_a_checkpoint_is_taken_and_started_again(self):
        reason = why_no_checkpoint(self.daemon.runtime_path)
        if reason:
            self.skipTest(reason)
        name = self.background()

        self.ok(self.ctr("tasks", "checkpoint", "--exit", name))

        self.ended(name)

"""What a person types to podman, and what must come back: the same as root and as an ordinary user.

SPDX-License-Identifier: Apache-2.0
"""

import json
import os
import unittest

from rungtest import differs, host
from rungtest.runtime import find_runtime, kind_of
from rungtest.terminal import Foreground

from podman.place import BOX, Place

ECHO_SCRIPT = "echo out; echo err >&2; exit 7"
KUBE = """apiVersion: v1
kind: Pod
metadata:
  name: kubed
spec:
  restartPolicy: Never
  containers:
  - name: one
    image: {box}
    command: ["sh", "-c", "echo from one; sleep 100"]
  - name: two
    image: {box}
    command: ["sh", "-c", "echo from two; sleep 100"]
    env: [{{name: ONE, value: "1"}}]
    securityContext: {{readOnlyRootFilesystem: true}}
"""


class Podman(unittest.TestCase):
    """The base of both batteries; has no tests itself."""

    maxDiff = None
    rootless = False
    manager = "cgroupfs"

    @classmethod
    def setUpClass(cls):
        path = find_runtime()
        cls.kind = kind_of(path)
        cls.place = Place(path, cls.rootless, cls.manager).__enter__()
        cls.addClassCleanup(cls._leave)

    @classmethod
    def _leave(cls):
        left = cls.place.stop()
        if left:
            raise AssertionError(f"left behind: {left}")

    def setUp(self):
        self.addCleanup(self._remove_everything)

    def _remove_everything(self):
        self.ok(self.podman("pod", "rm", "--all", "--force", "--time", "0"))
        self.ok(self.podman("rm", "--all", "--force", "--time", "0"))

    def podman(self, *arguments, **how):
        return self.place.podman(*arguments, **how)

    def ok(self, result):
        self.assertEqual(result.code, 0, repr(result))
        return result

    def options(self, *options):
        """Limits and cgroups are root's here: on v1 an ordinary user has none."""
        return [*options] if self.rootless else ["--cgroup-parent", self.parent(), *options]

    def parent(self):
        return f"/{self.place.word}"

    def run_it(self, *options, command, **how):
        return self.podman("run", "--rm", *self.options(*options), BOX, *command, **how)

    def background(self, *options, command=("sleep", "100")):
        return self.ok(self.podman("run", "--detach", *self.options(*options), BOX, *command)).out.strip()

    def inspect(self, name, what):
        return self.ok(self.podman("inspect", "--format", "{{" + what + "}}", name)).out.strip()

    def pid(self, name):
        return int(self.inspect(name, ".State.Pid"))


class Common:
    """What works the same for root and for an ordinary user."""

    def test_run_prints_and_gives_the_exit_code(self):
        result = self.run_it(command=["sh", "-c", ECHO_SCRIPT])

        self.assertEqual((result.code, result.out, result.err), (7, "out\n", "err\n"), repr(result))

    def test_run_reads_standard_input(self):
        self.assertEqual(self.ok(self.run_it("--interactive", command=["cat"], stdin="given\n")).out, "given\n")

    def test_a_process_killed_by_a_signal_gives_128_plus_its_number(self):
        name = self.background()

        self.ok(self.podman("kill", name))

        self.assertEqual(self.ok(self.podman("wait", name)).out.strip(), "137")

    def test_run_has_a_terminal(self):
        person = Foreground(self.place.command("run", "--rm", *self.options("--interactive", "--tty"), BOX, "sh", "-c",
                                               "tty; read line; echo got $line; exit 3"), environment=self.place.environment())
        self.addCleanup(person.terminal.close)
        person.terminal.read_until("/dev/pts/")
        person.terminal.write("hello\n")

        self.assertIn("got hello", person.terminal.read_until("got hello"))
        self.assertEqual(person.wait(), 3)

    @differs(crun="1.8 has wordings of its own")
    def test_a_command_that_does_not_exist_gives_127(self):
        result = self.run_it(command=["nosuch"])

        self.assertEqual(result.code, 127, repr(result))
        self.assertIn('exec: "nosuch": executable file not found in $PATH', result.err)

    def test_a_command_path_that_does_not_exist_gives_127(self):
        self.assertEqual(self.run_it(command=["/no/such"]).code, 127)

    def test_a_command_that_is_not_executable_gives_126(self):
        self.assertEqual(self.run_it(command=["/etc/passwd"]).code, 126)

    def test_a_directory_that_does_not_exist_gives_126_or_127(self):
        result = self.run_it("--workdir", "/no/such", command=["true"])

        self.assertIn(result.code, (126, 127), repr(result))

    def test_exec_gives_output_and_exit_code(self):
        result = self.podman("exec", self.background(), "sh", "-c", ECHO_SCRIPT)

        self.assertEqual((result.code, result.out, result.err), (7, "out\n", "err\n"), repr(result))

    def test_exec_reads_standard_input(self):
        result = self.podman("exec", "--interactive", self.background(), "cat", stdin="given\n")

        self.assertEqual(self.ok(result).out, "given\n")

    def test_exec_takes_user_directory_and_environment(self):
        result = self.podman("exec", "--user", "1000:1001", "--workdir", "/tmp", "--env", "ONE=1", self.background(), "sh",
                             "-c", "id -u; id -g; pwd; echo $ONE")

        self.assertEqual(self.ok(result).out.split(), ["1000", "1001", "/tmp", "1"])

    def test_exec_has_a_terminal(self):
        name = self.background()
        person = Foreground(self.place.command("exec", "--interactive", "--tty", name, "sh", "-c",
                                               "tty; read line; echo got $line; exit 6"), environment=self.place.environment())
        self.addCleanup(person.terminal.close)
        person.terminal.read_until("/dev/pts/")
        person.terminal.write("hello\n")

        self.assertIn("got hello", person.terminal.read_until("got hello"))
        self.assertEqual(person.wait(), 6)

    @differs(crun="1.8 has wordings of its own")
    def test_exec_of_a_command_that_does_not_exist_gives_127(self):
        self.assertEqual(self.podman("exec", self.background(), "/no/such").code, 127)

    @differs(crun="1.8 has wordings of its own")
    def test_exec_of_a_command_that_is_not_executable_gives_126(self):
        self.assertEqual(self.podman("exec", self.background(), "/etc/passwd").code, 126)

    def test_a_detached_exec_goes_on(self):
        name = self.background()

        self.ok(self.podman("exec", "--detach", name, "sh", "-c", "echo done > /done"))

        host.wait_until(lambda: self.podman("exec", name, "cat", "/done").out == "done\n", 10, "the file")

    def test_stop_is_heard_by_a_process_that_listens(self):
        name = self.background(command=("sh", "-c", "trap 'exit 5' TERM; echo ready; while true; do sleep 0.1; done"))
        host.wait_until(lambda: self.podman("logs", name).out == "ready\n")

        self.ok(self.podman("stop", "--time", "10", name))

        self.assertEqual(self.inspect(name, ".State.ExitCode"), "5")

    def test_stop_ends_a_process_that_does_not_listen(self):
        name = self.background(command=("sh", "-c", "trap '' TERM; while true; do sleep 0.1; done"))

        self.ok(self.podman("stop", "--time", "1", name))

        self.assertEqual(self.inspect(name, ".State.ExitCode"), "137")

    def test_kill_sends_the_signal(self):
        name = self.background(command=("sh", "-c", "trap 'exit 9' USR1; echo ready; while true; do sleep 0.1; done"))
        host.wait_until(lambda: self.podman("logs", name).out == "ready\n")

        self.ok(self.podman("kill", "--signal", "USR1", name))

        self.assertEqual(self.ok(self.podman("wait", name)).out.strip(), "9")

    def test_a_stopped_container_starts_again(self):
        name = self.background(command=("sh", "-c", "echo again; sleep 100"))
        self.ok(self.podman("stop", "--time", "0", name))

        self.ok(self.podman("start", name))

        host.wait_until(lambda: self.podman("logs", name).out == "again\nagain\n", 10, "the second line")

    def test_a_created_container_waits_for_its_start(self):
        name = self.ok(self.podman("create", *self.options(), BOX, "echo", "started")).out.strip()
        before = self.ok(self.podman("logs", name)).out

        self.assertEqual(self.ok(self.podman("start", "--attach", name)).out, "started\n")
        self.assertEqual(before, "")

    def test_logs_show_both_outputs(self):
        name = self.background(command=("sh", "-c", "echo one; echo two >&2"))
        self.podman("wait", name)

        result = self.ok(self.podman("logs", name))

        self.assertEqual((result.out, result.err), ("one\n", "two\n"))

    def test_a_read_only_container_cannot_write(self):
        result = self.run_it("--read-only", command=["sh", "-c", "touch /x 2>/dev/null || echo refused; touch /tmp/x && echo tmp"])

        self.assertEqual(self.ok(result).out, "refused\ntmp\n")

    def test_dropped_capabilities_are_gone(self):
        result = self.run_it("--cap-drop", "all", command=["grep", "CapEff", "/proc/self/status"])

        self.assertEqual(self.ok(result).out.split()[1], "0" * 16)

    def test_a_seccomp_profile_is_in_force(self):
        self.assertEqual(self.ok(self.run_it(command=["grep", "Seccomp:", "/proc/self/status"])).out.split()[1], "2")

    def test_a_volume_is_mounted_as_asked(self):
        directory = os.path.dirname(self.place.write("given/file", "text\n"))

        result = self.run_it("--volume", f"{directory}:/given:ro", command=[
            "sh", "-c", "cat /given/file; touch /given/x 2>/dev/null || echo refused"])

        self.assertEqual(self.ok(result).out, "text\nrefused\n")

    def test_a_tmpfs_is_mounted_as_asked(self):
        result = self.run_it("--tmpfs", "/scratch:size=1m,mode=1777", command=["sh", "-c", "df -k /scratch | tail -1"])

        self.assertIn("1024", self.ok(result).out.split())

    def test_the_user_is_as_asked(self):
        self.assertEqual(self.ok(self.run_it("--user", "1000:1001", command=["sh", "-c", "id -u; id -g"])).out.split(),
                         ["1000", "1001"])

    def test_another_user_namespace_can_be_asked_for(self):
        result = self.run_it("--uidmap", "0:1:1000", "--gidmap", "0:1:1000", command=["cat", "/proc/self/uid_map"])

        self.assertEqual(self.ok(result).out.split()[2], "1000")

    def test_a_limit_on_open_files_is_set(self):
        # podman sets the other one to its own limit, which may be above what root has here.
        result = self.run_it("--ulimit", "nofile=77:88", "--ulimit", "nproc=1000:1000",
                             command=["sh", "-c", "ulimit -n; ulimit -Hn"])

        self.assertEqual(self.ok(result).out, "77\n88\n")

    def test_an_annotation_reaches_the_container(self):
        name = self.background("--annotation", "test.example/note=here")

        self.assertEqual(json.loads(self.inspect(name, "json .Config.Annotations"))["test.example/note"], "here")

    def test_a_descriptor_of_the_caller_can_be_passed(self):
        source = self.place.write("passed", "text\n")
        descriptor = os.open(source, os.O_RDONLY)
        self.addCleanup(os.close, descriptor)

        result = self.place.podman_with(descriptor, "run", "--rm", *self.options("--preserve-fds", "1"), BOX, "cat",
                                        "/proc/self/fd/3")

        self.assertEqual(self.ok(result).out, "text\n")

    def test_no_descriptor_of_podman_reaches_the_container(self):
        # ls itself has one more, on the directory that it reads.
        result = self.run_it(command=["ls", "/proc/self/fd"])

        self.assertEqual(self.ok(result).out.split(), ["0", "1", "2", "3"])

    def test_the_namespaces_of_another_container_can_be_joined(self):
        first = self.background()

        result = self.run_it("--network", f"container:{first}", "--pid", f"container:{first}", "--ipc", f"container:{first}",
                             command=["sh", "-c", "for n in net pid ipc; do readlink /proc/self/ns/$n; done"])

        self.assertEqual(self.ok(result).out, self.ok(self.podman(
            "exec", first, "sh", "-c", "for n in net pid ipc; do readlink /proc/self/ns/$n; done")).out)

    def test_top_lists_the_processes(self):
        name = self.background(command=("sh", "-c", "sleep 4321 & wait"))

        host.wait_until(lambda: "sleep 4321" in self.podman("top", name, "args").out, 10, "the process in the list")

    def test_a_container_is_removed_with_force(self):
        name = self.background()
        pid = self.pid(name)

        self.ok(self.podman("rm", "--force", "--time", "0", name))

        host.wait_until(lambda: not host.is_alive(pid), 10, "the end of its process")
        host.wait_until(lambda: not host.cgroup_directories(name), 10, "the end of its cgroups")

    def test_a_pod_shares_what_pods_share(self):
        pod = self.ok(self.podman("pod", "create", *self.options("--share", "net,ipc,uts"))).out.strip()
        one, two = (self.ok(self.podman("run", "--detach", "--pod", pod, BOX, "sleep", "100")).out.strip() for _ in range(2))

        seen = [self.ok(self.podman("exec", name, "sh", "-c", "for n in net ipc uts pid mnt; do readlink /proc/self/ns/$n;"
                                                             "done")).out.split() for name in (one, two)]

        self.assertEqual(seen[0][:3], seen[1][:3])
        self.assertNotEqual(seen[0][3], seen[1][3])
        self.ok(self.podman("pod", "stop", "--time", "0", pod))
        self.assertEqual(self.inspect(one, ".State.Status"), "exited")

    def test_kube_plays_a_pod(self):
        file = self.place.write("pod.yaml", KUBE.format(box=BOX))

        self.ok(self.podman("play", "kube", "--network", "none", file))

        host.wait_until(lambda: self.podman("logs", "kubed-one").out == "from one\n", 10, "the first container")
        result = self.podman("exec", "kubed-two", "sh", "-c", "echo $ONE; touch /x 2>/dev/null || echo refused")
        self.assertEqual(self.ok(result).out, "1\nrefused\n")
        self.ok(self.podman("play", "kube", "--down", file))
        self.assertEqual(self.ok(self.podman("ps", "--all", "--quiet")).out, "")

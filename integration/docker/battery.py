"""Docker over the runtime under test: what a person types, and what must come back.

SPDX-License-Identifier: Apache-2.0
"""

import os
import shutil
import signal
import tempfile
import unittest

from rungtest import differs, host, only_rung
from rungtest.runtime import find_runtime, kind_of
from rungtest.terminal import Foreground

from docker.daemon import Daemon

# All that a task may do: read the image, run its programs, write 1 MiB of scratch. Nothing else, no network.
GRANT = """{"grantVersion": "1",
 "filesystem": {"rootfs": "readOnly", "tmpfs": [{"path": "/scratch", "size": "1Mi"}]},
 "tools": ["/"]}
"""


class Docker(unittest.TestCase):
    maxDiff = None

    @classmethod
    def setUpClass(cls):
        host.become_subreaper()
        path = find_runtime()
        cls.kind = kind_of(path)
        cls.grants = tempfile.mkdtemp(prefix="rung-grants-")
        grant = os.path.join(cls.grants, "grant.json")
        with open(grant, "w", encoding="ascii") as file:
            file.write(GRANT)
        runtimes = {"tested": {"path": path}}
        if cls.kind == "rung":
            runtimes["granted"] = {"path": path, "runtimeArgs": ["--grant", grant]}
        cls.daemon = Daemon(runtimes).__enter__()

    @classmethod
    def tearDownClass(cls):
        left = cls.daemon.stop()
        shutil.rmtree(cls.grants, ignore_errors=True)
        if left:
            raise AssertionError(f"left after the daemon: {left}")

    def setUp(self):
        self.addCleanup(self._remove_containers)

    def _remove_containers(self):
        names = self.daemon.call("ps", "-aq").out.split()
        if names:
            self.ok(self.daemon.call("rm", "-f", *names))

    def docker(self, *arguments, **how):
        return self.daemon.call(*arguments, **how)

    def run_it(self, *arguments, runtime="tested", **how):
        return self.docker("run", "--runtime", runtime, *arguments, **how)

    def ok(self, result):
        self.assertEqual(result.code, 0, f"{result}\n{self.daemon.complaints() if result.code else ''}")
        return result

    def background(self, *options, command=("sleep", "100"), runtime="tested"):
        return self.ok(self.run_it("-d", *options, "box", *command, runtime=runtime)).out.strip()

    def test_run_prints_and_gives_the_exit_code(self):
        result = self.run_it("--rm", "box", "sh", "-c", "echo out; echo err >&2; exit 7")

        self.assertEqual((result.code, result.out, result.err), (7, "out\n", "err\n"), repr(result))

    def test_run_reads_standard_input(self):
        self.assertEqual(self.ok(self.run_it("--rm", "-i", "box", "cat", stdin="given\n")).out, "given\n")

    def test_a_process_killed_by_a_signal_gives_128_plus_its_number(self):
        self.assertEqual(self.run_it("--rm", "--pid", "host", "box", "sh", "-c", "kill -9 $$").code, 137)

    @differs(crun="1.8 has wordings of its own")
    def test_a_command_that_does_not_exist_gives_127(self):
        result = self.run_it("--rm", "box", "nosuch")

        self.assertEqual(result.code, 127, repr(result))
        self.assertIn("executable file not found in $PATH", result.err)

    @differs(crun="1.8 has wordings of its own")
    def test_a_command_path_that_does_not_exist_gives_127(self):
        self.assertEqual(self.run_it("--rm", "box", "/no/such").code, 127)

    @differs(crun="1.8 has wordings of its own")
    def test_a_command_that_is_not_executable_gives_126(self):
        result = self.run_it("--rm", "box", "/etc/passwd")

        self.assertEqual(result.code, 126, repr(result))
        self.assertIn("permission denied", result.err)

    def test_a_detached_container_runs_until_it_is_stopped(self):
        name = self.background()
        running = self.docker("inspect", "-f", "{{.State.Status}}", name).out.strip()

        self.ok(self.docker("stop", "-t", "1", name))

        self.assertEqual(running, "running")
        self.assertEqual(self.docker("inspect", "-f", "{{.State.Status}} {{.State.ExitCode}}", name).out.strip(),
                         "exited 137")

    def test_stop_is_heard_by_a_process_that_listens(self):
        name = self.background(command=("sh", "-c", "trap 'exit 5' TERM; while true; do sleep 0.1; done"))

        self.ok(self.docker("stop", "-t", "10", name))

        self.assertEqual(self.docker("inspect", "-f", "{{.State.ExitCode}}", name).out.strip(), "5")

    def test_kill_ends_a_container(self):
        name = self.background()

        self.ok(self.docker("kill", name))

        self.assertEqual(self.docker("wait", name).out.strip(), "137")

    def test_a_stopped_container_starts_again(self):
        name = self.background(command=("sh", "-c", "echo again; sleep 100"))
        self.ok(self.docker("kill", name))

        self.ok(self.docker("start", name))

        host.wait_until(lambda: self.docker("logs", name).out == "again\nagain\n")

    def test_logs_show_both_outputs(self):
        name = self.background(command=("sh", "-c", "echo one; echo two >&2"))
        self.docker("wait", name)

        result = self.ok(self.docker("logs", name))

        self.assertEqual((result.out, result.err), ("one\n", "two\n"))

    def test_exec_gives_output_and_exit_code(self):
        name = self.background()

        result = self.docker("exec", name, "sh", "-c", "echo inside; exit 4")

        self.assertEqual((result.code, result.out), (4, "inside\n"), repr(result))

    def test_exec_takes_user_directory_and_environment(self):
        name = self.background()

        result = self.docker("exec", "-u", "1000:1001", "-w", "/tmp", "-e", "ONE=1", name, "sh", "-c",
                             "id -u; id -g; pwd; echo $ONE")

        self.assertEqual(self.ok(result).out.split(), ["1000", "1001", "/tmp", "1"])

    def test_exec_of_a_command_that_does_not_exist_gives_126(self):
        self.assertEqual(self.docker("exec", self.background(), "nosuch").code, 126)

    def test_exec_has_a_terminal(self):
        name = self.background()

        person = Foreground(self.daemon.command("exec", "-it", name, "sh", "-c", "tty; read line; echo got $line"))
        self.addCleanup(person.terminal.close)
        person.terminal.read_until("/dev/pts/")
        person.terminal.write("hello\n")

        self.assertIn("got hello", person.terminal.read_until("got hello"))
        self.assertEqual(person.wait(), 0)

    def test_run_has_a_terminal_of_the_right_size(self):
        person = Foreground(self.daemon.command("run", "--runtime", "tested", "--rm", "-it", "box", "sh", "-c",
                                                "while [ \"$(stty size)\" != '33 99' ]; do sleep 0.1; done; stty size;"
                                                "read line; echo got $line; exit 3"), rows=33, columns=99)
        self.addCleanup(person.terminal.close)
        person.terminal.read_until("33 99", 20)
        person.terminal.write("hello\n")

        self.assertIn("got hello", person.terminal.read_until("got hello"))
        self.assertEqual(person.wait(), 3)

    def test_the_memory_limit_is_the_kernels(self):
        name = self.background("--memory", "64m")

        where = "/sys/fs/cgroup/memory.max" if host.cgroup_is_v2() else "/sys/fs/cgroup/memory/memory.limit_in_bytes"
        self.assertEqual(self.ok(self.docker("exec", name, "cat", where)).out.strip(), str(64 << 20))

    def test_the_process_limit_is_the_kernels(self):
        name = self.background("--pids-limit", "50")

        where = "/sys/fs/cgroup/pids.max" if host.cgroup_is_v2() else "/sys/fs/cgroup/pids/pids.max"
        self.assertEqual(self.ok(self.docker("exec", name, "cat", where)).out.strip(), "50")

    def test_a_read_only_container_cannot_write(self):
        result = self.run_it("--rm", "--read-only", "--tmpfs", "/scratch", "box", "sh", "-c",
                             "touch /x 2>/dev/null || echo refused; touch /scratch/x && echo scratch")

        self.assertEqual(self.ok(result).out, "refused\nscratch\n")

    def test_dropped_capabilities_are_gone(self):
        result = self.run_it("--rm", "--cap-drop", "ALL", "box", "grep", "CapEff", "/proc/self/status")

        self.assertEqual(self.ok(result).out.split()[1], "0" * 16)

    def test_a_volume_is_mounted_as_asked(self):
        result = self.run_it("--rm", "-v", f"{self.grants}:/data:ro", "box", "sh", "-c",
                             "ls /data; touch /data/x 2>/dev/null || echo refused")

        self.assertEqual(self.ok(result).out, "grant.json\nrefused\n")

    def test_without_a_network_there_is_only_loopback(self):
        result = self.run_it("--rm", "--network", "none", "box", "sh", "-c", "ip route | wc -l; ls -d /sys/class/net/eth*")

        self.assertEqual(result.out, "0\n", repr(result))

    def test_containers_on_the_bridge_reach_each_other(self):
        server = self.background(command=("sh", "-c", "while true; do echo hello | nc -l -p 8080; done"))
        address = self.docker("inspect", "-f", "{{.NetworkSettings.IPAddress}}", server).out.strip()

        result = self.run_it("--rm", "box", "sh", "-c", f"for i in 1 2 3 4 5; do nc -w 2 {address} 8080 </dev/null && "
                                                        "exit; sleep 0.3; done")

        self.assertTrue(address.startswith("10.92."), address)
        self.assertIn("hello", result.out, repr(result))

    def test_a_container_can_join_anothers_network(self):
        first = self.background()

        result = self.run_it("--rm", "--network", f"container:{first}", "box", "readlink", "/proc/self/ns/net")

        self.assertEqual(self.ok(result).out, self.docker("exec", first, "readlink", "/proc/self/ns/net").out)

    def test_a_seccomp_profile_is_in_force(self):
        result = self.run_it("--rm", "box", "grep", "Seccomp:", "/proc/self/status")

        self.assertEqual(self.ok(result).out.split()[1], "2")

    def test_an_init_process_reaps(self):
        self.assertEqual(self.run_it("--rm", "--init", "box", "sh", "-c", "exit 8").code, 8)

    def test_a_paused_container_stands_still_until_it_goes_on(self):
        name = self.background()
        self.ok(self.docker("pause", name))
        paused = self.docker("inspect", "-f", "{{.State.Status}}", name).out.strip()
        refused = self.docker("exec", name, "true")

        self.ok(self.docker("unpause", name))

        self.assertEqual(paused, "paused")
        self.assertNotEqual(refused.code, 0)
        self.ok(self.docker("exec", name, "true"))

    def test_a_paused_container_can_be_removed(self):
        name = self.background()
        self.ok(self.docker("pause", name))

        self.ok(self.docker("rm", "-f", name))

        self.assertEqual(host.cgroup_directories(name), [])

    def test_top_lists_the_processes(self):
        name = self.background(command=("sh", "-c", "sleep 4321 & wait"))

        host.wait_until(lambda: "sleep 4321" in self.ok(self.docker("top", name)).out, 10, "the process in the list")

    def test_update_changes_a_limit_and_leaves_the_others(self):
        name = self.background("--memory", "64m", "--memory-swap", "128m", "--pids-limit", "50")

        self.ok(self.docker("update", "--memory", "96m", name))

        v2 = host.cgroup_is_v2()
        files = ("memory.max", "pids.max") if v2 else ("memory/memory.limit_in_bytes", "pids/pids.max")
        seen = [self.ok(self.docker("exec", name, "cat", f"/sys/fs/cgroup/{file}")).out.strip() for file in files]
        self.assertEqual(seen, [str(96 << 20), "50"])

    def test_statistics_come_from_its_cgroup(self):
        name = self.background("--memory", "64m")

        self.assertIn("/ 64MiB", self.ok(self.docker("stats", "--no-stream", "--format", "{{.MemUsage}}", name)).out)

    def test_a_health_check_runs_inside(self):
        name = self.background("--health-cmd", "test -e /healthy", "--health-interval", "1s")
        self.ok(self.docker("exec", name, "touch", "/healthy"))

        host.wait_until(lambda: self.docker("inspect", "-f", "{{.State.Health.Status}}", name).out.strip() == "healthy", 20,
                        "health")

    def test_files_are_copied_out_of_a_running_container(self):
        name = self.background("--tmpfs", "/scratch", command=("sh", "-c", "echo text > /made; sleep 100"))
        target = os.path.join(self.grants, "copied")

        host.wait_until(lambda: self.docker("cp", f"{name}:/made", target).code == 0, 10, "the file")

        with open(target, encoding="ascii") as file:
            self.assertEqual(file.read(), "text\n")
        os.remove(target)

    def test_a_restarted_daemon_finds_its_containers(self):
        name = self.background()

        self.daemon.restart(signal.SIGTERM)

        self.assertEqual(self.ok(self.docker("exec", name, "echo", "here")).out, "here\n")
        self.ok(self.docker("stop", "-t", "0", name))

    def test_a_container_is_removed_with_force(self):
        name = self.background()

        self.ok(self.docker("rm", "-f", name))

        self.assertEqual(host.cgroup_directories(name), [])

    @only_rung("has no grants")
    def test_a_grant_of_the_daemon_confines_its_containers(self):
        result = self.run_it("--rm", "box", "sh", "-c",
                             "touch /x 2>/dev/null || echo no writing; echo text > /scratch/x && cat /scratch/x;"
                             "nc -w 2 10.92.0.1 80 </dev/null 2>/dev/null || echo no network; exit 6", runtime="granted")

        self.assertEqual((result.code, result.out), (6, "no writing\ntext\nno network\n"), repr(result))

    @only_rung("has no grants")
    def test_exec_into_a_granted_container_is_confined_too(self):
        name = self.background(runtime="granted")

        result = self.docker("exec", name, "sh", "-c", "touch /x 2>/dev/null || echo no writing")

        self.assertEqual(self.ok(result).out, "no writing\n")

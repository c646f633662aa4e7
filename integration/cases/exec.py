"""A second process in a running container.

SPDX-License-Identifier: Apache-2.0
"""

import json
import os

from rungtest import Case, differs, host


class Exec(Case):
    def sleeper(self, edit=None):
        box = self.container().args("sleep", "100")
        if edit:
            edit(box)
        self.succeed(box.run_detached())
        return box

    def test_exec_gives_output_and_exit_code(self):
        result = self.sleeper().exec("sh", "-c", "echo out; echo err >&2; exit 3")

        self.assertEqual((result.code, result.out, result.err), (3, "out\n", "err\n"))

    def test_exec_gives_128_plus_the_signal(self):
        self.assertEqual(self.sleeper().exec("sh", "-c", "kill -9 $$").code, 137)

    def test_exec_reads_standard_input(self):
        self.prints(self.sleeper().exec("cat", stdin="given\n"), "given")

    def test_exec_enters_every_namespace(self):
        box = self.sleeper()
        names = ("pid", "net", "ipc", "uts", "mnt")

        out = self.succeed(box.exec("sh", "-c", "for n in pid net ipc uts mnt; do readlink /proc/self/ns/$n; done")).out

        self.assertEqual(out.split(), [os.readlink(f"/proc/{box.pid()}/ns/{name}") for name in names])

    def test_exec_sees_the_containers_processes(self):
        self.assertIn("sleep 100", self.succeed(self.sleeper().exec("ps")).out)

    @differs(crun="1.8 takes root without limits")
    def test_exec_has_the_containers_user_capabilities_and_limits(self):
        def edit(box):
            box.config["process"]["user"] = {"uid": 1000, "gid": 1001, "additionalGids": [5]}
        box = self.sleeper(edit)

        out = self.succeed(box.exec("sh", "-c", "id -u; id -g; ulimit -n; grep NoNewPrivs /proc/self/status")).out

        self.assertEqual(out.split(), ["1000", "1001", "1024", "NoNewPrivs:", "1"])

    def test_exec_as_another_user(self):
        box = self.sleeper()
        for user, expected in (("1000:1001", "1000 1001"), ("1", "1 0"), ("0", "0 0")):
            with self.subTest(user):
                self.prints(box.exec("sh", "-c", "echo $(id -u) $(id -g)", options=["--user", user]), expected)

    def test_a_user_that_is_not_a_number_is_refused(self):
        box = self.sleeper()
        for user in ("worker", "1x", "1:", ":1", "-1", "1:2:3", "99999999999"):
            with self.subTest(user):
                self.assertNotEqual(box.exec("id", options=["--user", user]).code, 0)
                if self.kind != "rung":
                    break

    @differs(crun="1.8 drops the environment of the container")
    def test_exec_adds_to_the_environment(self):
        box = self.sleeper()

        out = self.succeed(box.exec("env", options=["--env", "ONE=1", "--env", "TERM=dumb"])).out

        self.assertIn("ONE=1", out.splitlines())
        self.assertIn("TERM=dumb", out.splitlines())
        self.assertTrue([line for line in out.splitlines() if line.startswith("PATH=")])
        self.assertTrue([line for line in out.splitlines() if line.startswith("HOME=")])

    def test_exec_in_another_directory(self):
        box = self.sleeper()

        self.prints(box.exec("pwd", options=["--cwd", "/usr/bin"]), "/usr/bin")

    def test_exec_never_enters_a_directory_of_the_host(self):
        box = self.sleeper()
        for number in range(3, 12):
            with self.subTest(number):
                self.assertNotEqual(box.exec("pwd", options=["--cwd", f"/proc/self/fd/{number}"]).code, 0)

    def test_exec_takes_a_process_file(self):
        box = self.sleeper()
        path = os.path.join(self.work, "process.json")
        with open(path, "w", encoding="ascii") as file:
            json.dump({"args": ["sh", "-c", "echo $ONE; pwd; id -u"], "cwd": "/tmp", "env": ["ONE=1", "PATH=/bin"],
                       "user": {"uid": 1000, "gid": 1000}, "terminal": False}, file)

        self.prints(self.runtime.call("exec", "--process", path, box.id), "1\n/tmp\n1000")

    def test_a_detached_exec_writes_its_pid_and_returns(self):
        box = self.sleeper()
        pid_file = os.path.join(self.work, "exec.pid")

        self.succeed(box.exec("sleep", "50", options=["--detach", "--pid-file", pid_file]))

        with open(pid_file, encoding="ascii") as file:
            pid = int(file.read())
        self.assertTrue(host.is_alive(pid))
        self.assertEqual(os.readlink(f"/proc/{pid}/ns/pid"), os.readlink(f"/proc/{box.pid()}/ns/pid"))

    def test_a_program_that_does_not_exist_is_named(self):
        box = self.sleeper()
        if self.kind == "crun":
            self.skipTest("crun: has codes and wordings of its own")

        self.fails(box.exec("nosuch"), 'exec: "nosuch": executable file not found in $PATH', code=255)
        self.fails(box.exec("/no/such"), 'exec: "/no/such": stat /no/such: no such file or directory', code=255)
        self.fails(box.exec("/etc/passwd"), 'exec: "/etc/passwd": permission denied', code=255)

    @differs(crun="has codes and wordings of its own")
    def test_exec_in_a_stopped_container_is_refused(self):
        box = self.container().args("true")
        self.succeed(box.run_detached())
        box.wait_stopped()

        self.fails(box.exec("true"), "cannot exec in a stopped container", code=255)

    @differs(crun="has codes and wordings of its own")
    def test_exec_in_an_unknown_container_is_refused(self):
        self.fails(self.runtime.call("exec", "nobody", "true"), "does not exist", code=255)

    def test_exec_does_not_mount_anything(self):
        box = self.sleeper()

        first = self.succeed(box.exec("cat", "/proc/mounts")).out
        second = self.succeed(box.exec("cat", "/proc/mounts")).out

        self.assertEqual(first, second)

    def test_many_short_execs_all_end(self):
        box = self.sleeper()

        self.assertEqual([box.exec("true").code for _ in range(30)], [0] * 30)

    def test_only_the_standard_descriptors_reach_the_process(self):
        self.prints(self.sleeper().exec("ls", "/proc/self/fd"), "0\n1\n2\n3")

    def test_exec_works_before_start(self):
        box = self.container().args("sleep", "100")
        self.succeed(box.create())

        self.prints(box.exec("echo", "early"), "early")

    def test_exec_gets_the_capabilities_that_are_asked_for(self):
        box = self.sleeper()

        out = self.succeed(box.exec("grep", "CapEff", "/proc/self/status", options=["--cap", "CAP_CHOWN"])).out

        self.assertTrue(int(out.split()[1], 16) & 1)

    @differs(runc="1.1 raises no ambient capability", crun="1.8 takes the inheritable ones away")
    def test_a_capability_of_exec_that_is_inheritable_is_ambient_too(self):
        box = self.container().args("sleep", "100")
        box.config["process"]["capabilities"] = {
            "bounding": ["CAP_KILL", "CAP_CHOWN", "CAP_SYSLOG"], "permitted": ["CAP_KILL", "CAP_CHOWN"],
            "effective": ["CAP_KILL"], "inheritable": ["CAP_CHOWN", "CAP_SYSLOG"], "ambient": ["CAP_CHOWN"]}
        self.succeed(box.run_detached())

        for wanted, ambient in (("CAP_SYSLOG", 1 << 34 | 1), ("CAP_KILL", 1)):
            with self.subTest(wanted):
                out = self.succeed(box.exec("grep", "CapAmb", "/proc/self/status", options=["--cap", wanted])).out
                self.assertEqual(int(out.split()[1], 16), ambient)

    def test_options_of_the_command_are_not_the_runtimes(self):
        self.prints(self.sleeper().exec("echo", "--user", "-n"), "--user -n")

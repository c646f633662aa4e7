"""The command line: flags as engines and people write them.

SPDX-License-Identifier: Apache-2.0
"""

import array
import json
import os
import socket
import subprocess
import threading

from rungtest import Case, differs, host, only_rung
from rungtest.runtime import run

V2 = os.path.exists("/sys/fs/cgroup/cgroup.controllers")


class Receiver:
    """Takes one descriptor over an AF_UNIX socket."""

    def __init__(self, path):
        self.listener = socket.socket(socket.AF_UNIX)
        self.listener.bind(path)
        self.listener.listen(1)
        self.descriptor = None
        self.thread = threading.Thread(target=self._receive, daemon=True)
        self.thread.start()

    def _receive(self):
        connection, _ = self.listener.accept()
        _, ancillary, _, _ = connection.recvmsg(4096, socket.CMSG_SPACE(4))
        for _, _, data in ancillary:
            self.descriptor = array.array("i", data[:4])[0]
        connection.close()

    def pid(self):
        """The process that the received pidfd is of."""
        self.thread.join(10)
        with open(f"/proc/self/fdinfo/{self.descriptor}", encoding="ascii") as file:
            fields = dict(line.split(":", 1) for line in file)
        os.close(self.descriptor)
        self.listener.close()
        return int(fields["Pid"])


class Flags(Case):
    def test_a_long_flag_may_have_one_dash_and_follow_the_id(self):
        box = self.container().args("echo", "fine")
        box.bundle.write()

        self.prints(self.runtime.call("run", "-bundle", box.bundle.path, box.id) if self.kind != "crun" else box.run(),
                    "fine")

    @differs(crun="has another layout")
    def test_help_of_every_verb_names_the_verb(self):
        name = os.path.basename(self.runtime.path)
        for verb in ("create", "run", "exec", "start", "state", "kill", "delete", "list", "spec", "features"):
            for flag in ("-h", "--help"):
                with self.subTest(f"{verb} {flag}"):
                    lines = self.succeed(self.runtime.call(verb, flag)).out.splitlines()
                    self.assertEqual(lines[0], "NAME:")
                    self.assertIn(f"{name} {verb}", lines[1])

    @differs(crun="has another wording")
    def test_an_unknown_verb_has_no_help_topic(self):
        result = self.runtime.call("foo", "-h")

        self.assertEqual(result.code, 3)
        self.assertIn("No help topic for 'foo'", result.out + result.err)

    @only_rung("have one name each")
    def test_errors_begin_with_the_name_that_it_was_called_by(self):
        box = self.container().args("nosuch")
        box.bundle.write()
        link = os.path.join(self.work, "runc")
        os.symlink(self.runtime.path, link)

        for verb in ("create", "run"):
            self.fails(run([link, "--root", self.runtime.root, verb, "--bundle", box.bundle.path, box.id]),
                       f'msg="runc {verb} failed: unable to start container process: ')

    @differs(crun="has words of its own")
    def test_debugging_names_the_stages_of_a_start(self):
        box = self.container().args("sleep", "100")
        box.bundle.write()
        started = self.succeed(self.runtime.call("--debug", "run", "--detach", "--bundle", box.bundle.path, box.id))
        entered = self.succeed(self.runtime.call("--debug", "exec", box.id, "true"))

        for result, stages in ((started, ("child process in init()", "init: closing the pipe to signal completion")),
                               (entered, ("child process in init()", "setns_init: about to exec"))):
            for stage in ("nsexec container setup", *stages):
                self.assertIn(stage, result.err)

    @only_rung("do not have runsc's flags")
    def test_flags_of_runsc_are_accepted(self):
        self.succeed(self.runtime.call("features"))
        for words in (["--platform=kvm"], ["--platform", "systrap"], ["--strace"], ["-strace=true"],
                      ["--debug-log=/x/", "--debug-log-format", "json"], ["--overlay2=root:self"],
                      ["--file-access=shared"], ["--host-uds=open"], ["--nvproxy=true"], ["--directfs=false"],
                      ["--network=host"], ["--network=sandbox"]):
            with self.subTest(words):
                result = self.runtime.call(*words, "features")
                self.assertEqual((result.code, result.err), (0, ""), repr(result))

        self.fails(self.runtime.call("--network=other", "features"), "other")
        said = self.succeed(self.runtime.call("--debug", "--platform=kvm", "features")).err
        self.assertIn("--platform=kvm", said)

    def test_a_spec_is_written_once(self):
        self.succeed(self.runtime.call("spec", "--bundle", self.work))

        with open(os.path.join(self.work, "config.json"), encoding="utf-8") as file:
            self.assertEqual(json.load(file)["process"]["args"], ["sh"])
        self.assertNotEqual(self.runtime.call("spec", "--bundle", self.work).code, 0)

    @differs(crun="1.8 writes none")
    def test_a_rootless_spec_maps_the_caller(self):
        self.succeed(self.runtime.call("spec", "--rootless", "--bundle", self.work))

        with open(os.path.join(self.work, "config.json"), encoding="utf-8") as file:
            config = json.load(file)
        self.assertEqual(config["linux"]["uidMappings"], [{"containerID": 0, "hostID": os.geteuid(), "size": 1}])
        self.assertIn({"type": "user"}, config["linux"]["namespaces"])


class Descriptors(Case):
    LIST = "ls /proc/self/fd | sort -n | tr '\\n' ' '"

    def passed(self, count, options=(), exec_in=None):
        """What /proc/self/fd shows when the caller has `count` more descriptors, from 3 on."""
        def prepare():
            source = os.open("/dev/null", os.O_RDONLY)
            for number in range(3, 3 + count):
                os.dup2(source, number)
            if source >= 3 + count:
                os.close(source)
        extra = {"prepare": prepare, "pass_fds": tuple(range(3, 3 + count))}
        if exec_in:
            return exec_in.exec("sh", "-c", self.LIST, options=options, **extra)
        return self.container().shell(self.LIST).run(*options, **extra)

    def test_preserved_descriptors_and_no_others_reach_the_program(self):
        self.prints(self.passed(4, ["--preserve-fds", "2"]), "0 1 2 3 4 5")

    def test_preserved_descriptors_reach_exec(self):
        box = self.container().args("sleep", "100")
        self.succeed(box.run_detached())

        self.prints(self.passed(2, ["--preserve-fds=2"], exec_in=box), "0 1 2 3 4 5")

    @differs(runc="refuses a gap", crun="1.8 lists others")
    def test_more_descriptors_than_there_are_is_no_error(self):
        self.prints(self.passed(2, ["--preserve-fds", "100"]), "0 1 2 3 4 5")

    @differs(runc="1.1 finds its own descriptors there", crun="does not look")
    def test_preserving_what_is_not_there_is_an_error(self):
        box = self.container()

        self.fails(box.run("--preserve-fds", "2"), "preserved-fd 0 (of 2)")

        self.is_gone(box)

    @only_rung("take it")
    def test_a_number_of_descriptors_is_not_negative(self):
        self.fails(self.container().run("--preserve-fds", "-1"), "--preserve-fds")

    @differs(crun="1.8 passes one more")
    def test_activated_sockets_come_first(self):
        def prepare():
            source = os.open("/dev/null", os.O_RDONLY)
            for number in (3, 4, 5):
                os.dup2(source, number)
        box = self.container().shell(self.LIST + "; echo; echo $LISTEN_FDS $LISTEN_PID")
        box.bundle.write()
        call = self.runtime.command("run", "--bundle", box.bundle.path, "--preserve-fds", "1", box.id)

        # The shell gives its own process id to what it becomes.
        result = run(["/bin/sh", "-c", 'export LISTEN_FDS=2 LISTEN_PID=$$; exec "$@"', "sh", *call],
                     prepare=prepare, pass_fds=(3, 4, 5))

        self.prints(result, "0 1 2 3 4 5 6 \n2 1")


class Exec(Case):
    def sleeper(self, edit=None):
        box = self.container().args("sleep", "100")
        if edit:
            edit(box)
        self.succeed(box.run_detached())
        return box

    @differs(runc="1.1 does not have it", crun="does not have it")
    def test_a_pidfd_of_the_process_is_sent(self):
        path = os.path.join(self.work, "s")
        receiver = Receiver(path)
        box = self.container().args("sleep", "100")
        self.succeed(box.create("--pidfd-socket", path))
        self.assertEqual(receiver.pid(), box.pid())
        os.unlink(path)

        receiver = Receiver(path)
        pid_file = os.path.join(self.work, "exec.pid")
        self.succeed(box.exec("sleep", "50", options=["-d", "--pidfd-socket", path, "--pid-file", pid_file]))
        with open(pid_file, encoding="ascii") as file:
            self.assertEqual(receiver.pid(), int(file.read()))

        other = self.container().args("sleep", "100")
        self.fails(other.create("--pidfd-socket", path + "x"), "pidfd socket")
        self.is_gone(other)

    @differs(crun="1.8 has other wordings")
    def test_exec_enters_a_cgroup_below_the_containers_and_no_other(self):
        box = self.sleeper()
        own = host.cgroup_directories(box.id)
        for directory in own:
            sub = os.path.join(directory, "sub")
            os.mkdir(sub)
            # A new cpuset of v1 takes no process before it has these.
            for name in ("cpuset.cpus", "cpuset.mems") if not V2 and os.path.exists(f"{sub}/cpuset.cpus") else ():
                with open(os.path.join(directory, name), encoding="ascii") as file:
                    value = file.read()
                with open(os.path.join(sub, name), "w", encoding="ascii") as file:
                    file.write(value)
        show = ["cat", "/proc/self/cgroup"]

        out = self.succeed(box.exec(*show, options=["--cgroup", "sub"])).out
        self.assertIn(f"{box.cgroup}/sub\n" if not V2 else "/sub\n", out)
        self.succeed(box.exec(*show, options=["--cgroup", "/"]))
        if not V2 and self.kind == "rung":
            os.mkdir(host.cgroup_file(box.cgroup, "memory", "alone"))
            out = self.succeed(box.exec(*show, options=["--cgroup", "alone"])).out
            self.assertIn(f":memory:{box.cgroup}/alone\n", out)
            self.assertIn(f":pids:{box.cgroup}\n", out)
        for wrong in ("..", "../..", "sub/../..", "/../x"):
            self.fails(box.exec(*show, options=["--cgroup", wrong]),
                       "sub cgroup path" if self.kind == "runc" else "bad sub cgroup path", code=255)
        if self.kind == "rung":
            self.fails(box.exec(*show, options=["--cgroup", "sub/../sub"]), "bad sub cgroup path: sub/../sub",
                       "`..` components are not allowed", code=255)
        self.fails(box.exec(*show, options=["--cgroup", "none"]), " adding pid ", " to cgroups", "o such file", code=255)
        if not V2:
            out = self.succeed(box.exec(*show, options=["--cgroup", "memory:sub"])).out
            self.assertIn(f":memory:{box.cgroup}/sub\n", out)
            self.assertIn(f":pids:{box.cgroup}\n", out)
            self.fails(box.exec(*show, options=["--cgroup", "nosuch:/"]), "unknown controller", code=255)
            if self.kind == "rung":  # runc 1.1 takes the last
                self.fails(box.exec(*show, options=["--cgroup", "memory:sub", "--cgroup", "memory:/"]), "memory",
                           code=255)

    @differs(crun="1.8 takes root's group")
    def test_a_user_without_a_group_keeps_the_containers(self):
        box = self.sleeper(lambda box: box.config["process"].update(
            user={"uid": 7, "gid": 1001, "additionalGids": [5]}))

        self.prints(box.exec("sh", "-c", "id -u; id -g; id -G", options=["-u", "6"]), "6\n1001\n1001 5")
        self.prints(box.exec("sh", "-c", "id -u; id -g; id -G", options=["-u", "6:9", "-g", "10", "-g", "11"]),
                    "6\n9\n9 5 10 11")

    @differs(crun="1.8 goes on without")
    def test_labels_that_this_host_cannot_apply_are_refused(self):
        box = self.sleeper()
        if not os.path.exists("/sys/fs/selinux/enforce"):
            self.assertEqual(box.exec("true", options=["--process-label", "system_u:object_r:x:s0"]).code, 255)
        if not os.path.exists("/sys/module/apparmor/parameters/enabled") and self.kind == "rung":
            self.fails(box.exec("true", options=["--apparmor", "nosuch"]), "AppArmor", code=255)

    def test_a_process_may_come_through_a_pipe(self):
        box = self.sleeper()
        text = json.dumps({"args": ["echo", "fine"], "cwd": "/", "env": ["PATH=/bin"],
                           "user": {"uid": 0, "gid": 0}})
        if self.kind == "crun":
            self.skipTest("crun: 1.8 maps the file")
        reading, writing = os.pipe()
        os.write(writing, text.encode())
        os.close(writing)

        self.prints(self.runtime.call("exec", "-p", f"/dev/fd/{reading}", box.id, pass_fds=(reading,)), "fine")
        os.close(reading)

    def test_no_new_privs_is_set_when_asked_for(self):
        box = self.sleeper(lambda box: box.config["process"].update(noNewPrivileges=False))
        show = ["grep", "NoNewPrivs", "/proc/self/status"]

        self.assertIn("0", self.succeed(box.exec(*show)).out)
        self.assertIn("1", self.succeed(box.exec(*show, options=["--no-new-privs"])).out)

    @differs(crun="1.8 masks the file for exec")
    def test_a_session_keyring_is_made_unless_the_callers_is_to_stay(self):
        def edit(box):
            box.config["linux"]["maskedPaths"] = []
            box.config["process"]["args"] = ["sh", "-c", "cat /proc/keys; echo end; exec sleep 100"]
        for options, expected in (((), True), (("--no-new-keyring",), False)):
            with self.subTest(options):
                box = self.container()
                edit(box)
                self.succeed(box.run_detached(*options))
                out = self.succeed(box.exec("cat", "/proc/keys")).out
                self.assertEqual(f"_ses.{box.id}" in out, expected, out)

    def test_the_runtimes_own_program_is_not_the_containers(self):
        for path in ("/proc/self/exe", "/proc/thread-self/exe"):
            box = self.container().args(path)
            self.fails(box.run(), "no such file or directory" if self.kind != "crun" else "No such file")
        self.assertNotEqual(self.sleeper().exec("/proc/self/exe").code, 0)


class Sandboxes(Case):
    @only_rung("do not have it")
    def test_no_network_is_only_loopback_whatever_the_configuration_says(self):
        other = self.container().args("sleep", "100")
        self.succeed(other.run_detached())
        script = "readlink /proc/self/ns/net; grep -c : /proc/net/dev; wc -l < /proc/net/route"
        theirs = os.readlink(f"/proc/{other.pid()}/ns/net")
        box = self.container().shell(script)
        box.bundle.namespace("network", f"/proc/{other.pid()}/ns/net")
        self.assertEqual(self.succeed(box.run()).out.split()[0], theirs)

        cut = self.container().shell(script)
        cut.bundle.namespace("network", f"/proc/{other.pid()}/ns/net")
        cut.bundle.write()
        result = self.runtime.call("--network=none", "run", "--bundle", cut.bundle.path, cut.id)

        out = self.succeed(result).out.split()
        self.assertNotIn(out[0], (theirs, os.readlink("/proc/self/ns/net")))
        self.assertEqual(out[1:], ["1", "1"])

    @only_rung("do not have it")
    def test_ignored_cgroups_are_not_made(self):
        box = self.container().args("sleep", "100")
        box.config["linux"]["resources"]["memory"] = {"limit": 64 << 20}
        box.bundle.write()
        self.succeed(self.runtime.call("--ignore-cgroups", "run", "-d", "--bundle", box.bundle.path, box.id))

        self.assertEqual(host.cgroup_directories(box.id), [])
        out = self.succeed(box.exec("cat", "/proc/self/cgroup")).out
        self.assertNotIn(box.id, out)
        self.succeed(box.kill())

        neighbour = self.container().args("sleep", "100")
        self.succeed(neighbour.run_detached())
        self.assertNotEqual(host.cgroup_directories(neighbour.id), [])

    @differs(runc="does not have it", crun="1.8 makes the limits nothing")
    def test_disabled_cgroups_refuse_a_limit(self):
        box = self.container().args("true")
        box.bundle.write()
        call = ["--cgroup-manager=disabled", "run", "--bundle", box.bundle.path, box.id]
        self.succeed(self.runtime.call(*call))

        box.config["linux"]["resources"]["memory"] = {"limit": 64 << 20}
        box.bundle.write()
        self.fails(self.runtime.call(*call), "memory")

    @only_rung("do not have it")
    def test_a_grants_limits_need_cgroups(self):
        box = self.container().args("true")
        box.bundle.write()
        grant = os.path.join(self.work, "grant.json")
        with open(grant, "w", encoding="ascii") as file:
            json.dump({"grantVersion": "1", "tools": ["/"], "limits": {"memory": "64Mi"}}, file)

        for flag in ("--ignore-cgroups", "--cgroup-manager=disabled"):
            self.fails(self.runtime.call(flag, "--grant", grant, "run", "--bundle", box.bundle.path, box.id),
                       "grant_unenforceable")

    @only_rung("do not have it")
    def test_a_command_runs_beside_the_hosts_files(self):
        def do(*words):
            return self.runtime.call("do", *words)

        self.prints(do("sh", "-c", "echo $(( 1 + 2 )); grep -c : /proc/net/dev"), "3\n1")
        self.assertEqual(do("sh", "-c", "exit 7").code, 7)
        self.prints(do("--cwd", "/usr", "pwd"), "/usr")
        marker = f"/etc/{self.word}"
        self.assertNotEqual(do("touch", marker).code, 0)
        self.succeed(do("touch", "/tmp/x"))
        self.assertFalse(os.path.exists(marker))
        self.fails(do("/no/such/program"), "no such file")
        self.assertEqual(self.succeed(self.runtime.call("list", "-q")).out, "")

    @only_rung("do not have it")
    def test_wait_prints_the_exit_status(self):
        for script, code in (("read line < /go; exit 7", 7), ("read line < /go; kill -9 $$", 137)):
            box = self.container().shell(script)
            box.bundle.drop_namespace("pid")
            os.mkfifo(box.bundle.inside("/go"))
            self.succeed(box.run_detached())
            with subprocess.Popen(self.runtime.command("wait", box.id), stdout=subprocess.PIPE) as waiting:
                with open(box.bundle.inside("/go"), "w", encoding="ascii") as file:
                    file.write("go\n")
                out, _ = waiting.communicate(timeout=20)
            self.assertEqual(json.loads(out), {"id": box.id, "exitStatus": code})
        self.fails(self.runtime.call("wait", "nobody"), "does not exist")


class Many(Case):
    @differs(runc="does not have it")
    def test_a_regular_expression_names_several_containers(self):
        boxes = [self.container(name).args("sleep", "100") for name in ("-one", "-other", "-two")]
        for box in boxes:
            self.succeed(box.run_detached())

        self.succeed(self.runtime.call("kill", "--regex", f"^{self.word}-o", "KILL"))
        for box in boxes[:2]:
            box.wait_stopped()
        self.assertEqual(boxes[2].status(), "running")
        self.succeed(self.runtime.call("delete", "-f", "-r", f"^{self.word}-"))
        for box in boxes:
            self.is_gone(box)

    @only_rung("have other wordings")
    def test_a_bad_regular_expression_is_named(self):
        self.fails(self.runtime.call("delete", "--regex", "("), "--regex", "(")


class Logs(Case):
    def failing(self, *flags, **how):
        return self.runtime.call(*flags, "start", "nobody", **how)

    @differs(crun="has another wording")
    def test_a_json_log_is_one_line_that_engines_parse(self):
        path = os.path.join(self.work, "log.json")

        result = self.failing("--log", path, "--log-format", "json")

        self.assertEqual(result.code, 1)
        with open(path, encoding="utf-8") as file:
            line = json.loads(file.read())
        self.assertEqual(line["level"], "error")
        self.assertIn("does not exist", line["msg"])
        self.assertRegex(line["time"], r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(Z|[+-]\d\d:\d\d)$")
        self.assertIn("does not exist", result.err)

    def test_a_log_is_relative_to_the_caller(self):
        self.assertEqual(self.failing("--log", "here.log", cwd=self.work).code, 1)

        self.assertTrue(os.path.getsize(os.path.join(self.work, "here.log")) > 0)

    @differs(runc="does not have it")
    def test_a_log_may_be_named_as_crun_does(self):
        path = os.path.join(self.work, "log")
        self.assertEqual(self.failing(f"--log=file:{path}").code, 1)
        self.assertTrue(os.path.getsize(path) > 0)

        box = self.container().args("true")
        for target in ("syslog:rung-test", "journald:rung-test"):
            if self.kind == "rung" or target.startswith("syslog"):
                box.bundle.write()
                self.succeed(self.runtime.call(f"--log={target}", "run", "--bundle", box.bundle.path, box.id))

    def test_a_log_that_cannot_be_opened_is_an_error(self):
        for target in ("/no/such/directory/log", "invalid:/path"):
            self.assertEqual(self.runtime.call("--log", target, "list").code, 1)

    @only_rung("do not have it")
    def test_a_log_level_is_one_of_three(self):
        self.assertEqual(self.runtime.call("--log-level=debug", "--platform=kvm", "features").err.count("kvm"), 1)
        self.assertEqual(self.runtime.call("--log-level=error", "--platform=kvm", "features").err, "")
        self.fails(self.runtime.call("--log-level=loud", "features"), "loud")


class Documents(Case):
    @only_rung("wait for ever")
    def test_a_fifo_is_no_configuration(self):
        box = self.container()
        box.bundle.write()
        path = os.path.join(box.bundle.path, "config.json")
        os.unlink(path)
        os.mkfifo(path)

        self.fails(self.runtime.call("create", "--bundle", box.bundle.path, box.id, seconds=10), "config.json")

        self.is_gone(box)

    @only_rung("do not have grants")
    def test_a_grant_may_come_through_the_callers_pipe_and_no_other(self):
        box = self.container().args("true")
        box.bundle.write()
        fifo = os.path.join(self.work, "fifo")
        os.mkfifo(fifo)
        call = ["run", "--bundle", box.bundle.path, box.id]

        self.fails(self.runtime.call("--grant", fifo, *call, seconds=10), "grant_parse_error", "not a regular file")

        reading, writing = os.pipe()
        os.write(writing, b'{"grantVersion": "1", "nosuch": 1}')
        os.close(writing)
        self.fails(self.runtime.call("--grant", f"/dev/fd/{reading}", *call, pass_fds=(reading,)), "nosuch")
        os.close(reading)

    @only_rung("have it under another name")
    def test_another_configuration_may_be_named(self):
        box = self.container().args("echo", "first")
        box.bundle.write()
        box.args("echo", "second")
        with open(os.path.join(box.bundle.path, "other.json"), "w", encoding="utf-8") as file:
            json.dump(box.config, file)

        self.prints(self.runtime.call("run", "-b", box.bundle.path, "-f", "other.json", box.id), "second")


class Checkpoints(Case):
    def test_help_is_there_whether_criu_is_or_not(self):
        if self.kind == "crun":
            self.skipTest("crun: Debian's is built without CRIU")
        for verb in ("checkpoint", "restore"):
            self.assertIn("--image-path", self.succeed(self.runtime.call(verb, "--help")).out)

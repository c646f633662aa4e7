"""Hooks: order, environment, state, and what happens when one fails.

SPDX-License-Identifier: Apache-2.0
"""

import json
import os
import signal
import threading

from rungtest import Case, differs, host, only_rung

KINDS = ("prestart", "createRuntime", "createContainer", "startContainer", "poststart", "poststop")


class Hooks(Case):
    def hook(self, box, kind, script, **more):
        """Adds a hook that runs `script`. $LOG is a file that hooks inside and outside see."""
        inside = kind == "startContainer"
        log = "/log" if inside else box.bundle.inside("/log")
        box.config.setdefault("hooks", {}).setdefault(kind, []).append(
            {"path": "/bin/sh", "args": ["sh", "-c", f"LOG={log}; {script}"], "env": ["PATH=/usr/bin:/bin"], **more})
        return box

    def log(self, box):
        return box.bundle.read("/log").split()

    @differs(runc="1.1 runs poststart at create")
    def test_the_six_kinds_run_in_the_order_of_the_specification(self):
        box = self.container().shell("echo process >> /log; sleep 100")
        for kind in KINDS:
            self.hook(box, kind, f"echo {kind} >> $LOG")

        self.succeed(box.create())
        created = self.log(box)
        self.succeed(box.start())
        self.succeed(box.delete("--force"))

        self.assertEqual(created, ["prestart", "createRuntime", "createContainer"])
        order = self.log(box)
        self.assertEqual([one for one in order if one != "process"], list(KINDS))

    def test_two_hooks_of_a_kind_run_in_their_order(self):
        box = self.container().args("true")
        for number in ("one", "two", "three"):
            self.hook(box, "createRuntime", f"echo {number} >> $LOG")

        self.succeed(box.run())

        self.assertEqual(self.log(box), ["one", "two", "three"])

    @differs(runc="1.1 gives the process id inside", crun="1.8 gives another bundle inside")
    def test_a_hook_reads_the_state_on_its_standard_input(self):
        box = self.container().args("sleep", "100")
        box.config["annotations"] = {"org.example.path": "/a/b"}
        for kind in KINDS:
            self.hook(box, kind, f"cat > $LOG.{kind}")

        self.succeed(box.create())
        pid = box.pid()
        self.succeed(box.start())
        self.succeed(box.delete("--force"))

        for kind in KINDS:
            with self.subTest(kind):
                text = box.bundle.read(f"/log.{kind}")
                state = json.loads(text)
                self.assertEqual((state["id"], state["bundle"]), (box.id, box.bundle.path))
                self.assertEqual(state["annotations"]["org.example.path"], "/a/b")
                if kind in ("prestart", "createRuntime", "createContainer", "poststart"):
                    self.assertEqual(state["pid"], pid)
                self.assertEqual(len(text.strip().splitlines()), 1)

    @differs(runc="1.1 has wordings of its own", crun="1.8 has wordings of its own")
    def test_the_state_tells_how_far_the_container_is(self):
        box = self.container().args("sleep", "100")
        for kind in KINDS:
            self.hook(box, kind, f"cat > $LOG.{kind}")

        self.succeed(box.create())
        self.succeed(box.start())
        self.succeed(box.delete("--force"))

        told = {kind: json.loads(box.bundle.read(f"/log.{kind}"))["status"] for kind in KINDS}
        self.assertEqual(told, {"prestart": "creating", "createRuntime": "creating", "createContainer": "creating",
                                "startContainer": "created", "poststart": "running", "poststop": "stopped"})

    @differs(runc="1.1 hands on the container's environment", crun="1.8 hands on its caller's")
    def test_the_environment_of_a_hook_is_its_own_only(self):
        box = self.container().args("true")
        box.config["process"]["env"].append("LD_PRELOAD=/evil.so")
        for kind in ("prestart", "createRuntime", "createContainer", "poststart", "poststop"):
            box.config.setdefault("hooks", {})[kind] = [
                {"path": "/usr/bin/env", "args": ["env", "-0"], "env": [f"KIND={kind}"]},
                {"path": "/bin/sh", "args": ["sh", "-c", f"cat /proc/$$/environ > {box.bundle.rootfs}/env.{kind}; true"]}]

        self.succeed(box.create(env={"PATH": "/usr/bin:/bin", "FROM_CALLER": "1"}))
        self.succeed(box.start())
        box.wait_stopped()
        self.succeed(box.delete())

        for kind in ("prestart", "createRuntime", "createContainer", "poststart", "poststop"):
            with self.subTest(kind):
                environment = box.bundle.read(f"/env.{kind}")
                self.assertNotIn("LD_PRELOAD", environment)
                self.assertNotIn("FROM_CALLER", environment)

    @differs(runc="1.1 hands on what its caller passed", crun="1.8 hands on what its caller passed")
    def test_a_hook_has_nothing_open_that_the_caller_passed(self):
        box = self.container().args("true")
        passed = os.open(self.work, os.O_RDONLY)
        self.addCleanup(os.close, passed)
        for kind in ("createRuntime", "createContainer"):
            self.hook(box, kind, f"readlink /proc/self/fd/{passed} >> $LOG; echo {kind} >> $LOG")

        self.succeed(box.create(pass_fds=[passed]))

        self.assertEqual(self.log(box), ["createRuntime", "createContainer"])

    def test_hooks_run_where_memory_files_may_not_be_executable(self):
        if not os.path.exists("/proc/sys/vm/memfd_noexec"):
            self.skipTest("this kernel has no vm.memfd_noexec (Linux 6.3)")
        box = self.container().args("true")
        self.hook(box, "createRuntime", "cat > /dev/null; echo ran >> $LOG")
        # The setting is that of a pid namespace.
        strict = 'echo 2 > /proc/sys/vm/memfd_noexec && exec "$0" "$@"'

        self.succeed(box.run(through=("unshare", "--pid", "--fork", "--mount-proc", "sh", "-c", strict)))

        self.assertEqual(self.log(box), ["ran"])

    def test_hooks_run_for_a_caller_who_ignores_the_end_of_children(self):
        box = self.container().args("true")
        self.hook(box, "createRuntime", "echo one >> $LOG")
        self.hook(box, "createRuntime", "sleep 0.2; echo two >> $LOG")

        self.succeed(box.create(prepare=lambda: signal.signal(signal.SIGCHLD, signal.SIG_IGN)))

        self.assertEqual(self.log(box), ["one", "two"])

    @differs(crun="1.8 runs it in the caller's directory")
    def test_a_create_container_hook_runs_in_the_rootfs(self):
        box = self.container().args("true")
        self.hook(box, "createContainer", "pwd > $LOG")

        self.succeed(box.run())

        self.assertEqual(self.log(box), [box.bundle.rootfs])

    @differs(runc="1.1 does not name the kind", crun="1.8 says nothing")
    def test_what_a_failing_hook_of_the_container_prints_is_in_the_error(self):
        for kind in ("createContainer", "startContainer"):
            with self.subTest(kind):
                box = self.container(kind.lower())
                box.config["hooks"] = {kind: [{"path": "/bin/sh", "args": ["sh", "-c", "echo why >&2; exit 3"]}]}

                self.fails(box.run(), f"error running {kind} hook #0", "why")

                self.is_gone(box)

    def test_what_a_hook_of_the_container_prints_is_no_output_of_the_container(self):
        box = self.container().args("echo", "program")
        box.config["hooks"] = {"startContainer": [{"path": "/bin/sh", "args": ["sh", "-c", "echo hook"]}]}

        self.prints(box.run(), "program")

    def test_a_hook_of_the_container_sees_its_namespaces(self):
        box = self.container().args("true")
        outside = os.readlink("/proc/self/ns/mnt")
        self.hook(box, "createRuntime", "readlink /proc/self/ns/mnt > $LOG.runtime")
        self.hook(box, "createContainer", "readlink /proc/self/ns/mnt > $LOG.container")
        self.hook(box, "startContainer", "ls / > $LOG.start")

        self.succeed(box.run())

        self.assertEqual(box.bundle.read("/log.runtime").strip(), outside)
        self.assertNotEqual(box.bundle.read("/log.container").strip(), outside)
        self.assertIn("bin", box.bundle.read("/log.start").split())

    @differs(crun="1.8 gives 255")
    def test_a_failing_hook_of_create_fails_create_and_leaves_nothing(self):
        for kind in ("prestart", "createRuntime", "createContainer"):
            with self.subTest(kind):
                box = self.container(kind).args("sleep", "100")
                self.hook(box, kind, "echo reason >&2; exit 3")

                result = box.create()

                self.assertEqual(result.code, 1, repr(result))
                if self.kind == "rung":
                    self.fails(result, f"error running {kind} hook #0")
                self.is_gone(box)

    def until_it_is_known(self, box):
        """Until its first process exists: from then on there is something to enter or to delete."""
        host.wait_until(lambda: self.runtime.call("state", box.id).code == 0 and box.state()["pid"], 10,
                        "a first process")

    def held(self, box):
        """A createRuntime hook that waits for the function returned here."""
        go = os.path.join(self.work, "go")
        self.hook(box, "createRuntime", f"until [ -e {go} ]; do sleep 0.05; done")

        def let_go():
            with open(go, "w", encoding="ascii"):
                pass

        self.addCleanup(let_go)
        return let_go

    @only_rung("the others say that there is no such container")
    def test_nobody_enters_a_container_that_is_still_being_made(self):
        box = self.container().args("sleep", "100")
        go = self.held(box)
        making = threading.Thread(target=box.create)
        making.start()
        self.until_it_is_known(box)

        entered = box.exec("sh", "-c", "ls /")
        go()
        making.join()

        self.fails(entered, "still being created", code=255)
        self.succeed(box.exec("true"))

    @only_rung("the others have no state to delete by while they create")
    def test_a_forced_delete_does_not_wait_for_a_hook(self):
        box = self.container().args("sleep", "100")
        self.held(box)
        making = threading.Thread(target=box.create)
        making.start()
        self.until_it_is_known(box)

        self.succeed(box.delete("--force"))
        making.join()

        self.is_gone(box)

    def test_a_failing_start_container_hook_keeps_the_process_from_running(self):
        box = self.container().shell("echo ran > /ran")
        self.hook(box, "startContainer", "exit 3")

        self.assertEqual(self.succeed(box.create()).code, 0)
        box.start()
        box.wait_stopped()

        self.assertFalse(os.path.exists(box.bundle.inside("/ran")))

    # What follows of its life is the end: runtime-spec runtime.md, "Lifecycle".
    @differs(runc="1.1 runs poststart at create", crun="1.8 goes on")
    def test_a_failing_poststart_hook_ends_the_container(self):
        box = self.container().args("sleep", "100")
        self.hook(box, "poststart", "exit 3")
        self.hook(box, "poststop", "echo stopped >> $LOG")
        self.succeed(box.create())

        self.assertEqual(box.start().code, 1)

        box.reap()
        self.is_gone(box)
        self.assertEqual(self.log(box), ["stopped"])

    @differs(runc="1.1 leaves out those that follow")
    def test_a_failing_poststop_hook_does_not_fail_delete(self):
        box = self.container().args("true")
        self.hook(box, "poststop", "echo one >> $LOG; exit 3")
        self.hook(box, "poststop", "echo two >> $LOG")
        self.succeed(box.run_detached())
        box.wait_stopped()

        result = box.delete()

        self.assertEqual(result.code, 0)
        if self.kind == "rung":
            self.assertIn("poststop hook failed with exit code 3", result.err)
        self.assertEqual(self.log(box), ["one", "two"])
        self.is_gone(box)

    @only_rung("the others keep all that they know in one file")
    def test_a_delete_that_was_killed_half_way_can_be_repeated(self):
        box = self.container().args("true")
        self.hook(box, "poststop", "true")
        self.succeed(box.run_detached())
        box.wait_stopped()
        os.unlink(os.path.join(self.runtime.root, box.id, "config.json"))

        self.succeed(box.delete("--force"))

        self.is_gone(box)

    def test_a_hook_that_takes_too_long_is_ended_and_fails(self):
        box = self.container().args("true")
        self.hook(box, "createRuntime", "exec sleep 30", timeout=1)

        self.assertEqual(box.create(seconds=10).code, 1)

        self.is_gone(box)

    @differs(crun="1.8 gives 255")
    def test_a_hook_that_does_not_exist_is_an_error(self):
        box = self.container().args("true")
        box.config["hooks"] = {"createRuntime": [{"path": "/no/such/hook"}]}

        self.fails(box.create(), "/no/such/hook")

        self.is_gone(box)

    def test_a_hook_that_does_not_read_its_input_is_no_problem(self):
        box = self.container().args("true")
        box.config["annotations"] = {f"org.example.{number}": "x" * 1000 for number in range(100)}
        box.config["hooks"] = {"createRuntime": [{"path": "/bin/true"}]}

        self.succeed(box.run())

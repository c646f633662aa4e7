"""create, start, run, state, list, kill and delete: the life of a container as an engine sees it.

SPDX-License-Identifier: Apache-2.0
"""

import json
import os
import signal
import subprocess
import time

from rungtest import Case, differs, host
from rungtest.runtime import ENVIRONMENT


class Lifecycle(Case):
    def sleeper(self, name=None):
        """A container whose process only waits, running."""
        box = self.container(name).args("sleep", "100")
        self.succeed(box.run_detached())
        return box

    def ended(self):
        """A container whose process has ended."""
        box = self.container().args("true")
        self.succeed(box.run_detached())
        box.wait_stopped()
        return box

    def test_a_container_goes_from_created_to_running_to_stopped_to_gone(self):
        box = self.container().args("sleep", "100")

        self.succeed(box.create())
        created = box.status()
        self.succeed(box.start())
        running = box.status()
        self.succeed(box.kill("KILL"))
        box.wait_stopped()
        self.succeed(box.delete())

        self.assertEqual((created, running), ("created", "running"))
        self.assertNotEqual(self.runtime.call("state", box.id).code, 0)
        self.is_gone(box)

    def test_run_gives_the_exit_code_of_the_process(self):
        self.assertEqual(self.container().shell("exit 7").run().code, 7)

    def test_run_gives_128_plus_the_signal_that_ended_the_process(self):
        for number in (signal.SIGKILL, signal.SIGSEGV):
            with self.subTest(number):
                # The first process of a pid namespace ignores what it does not handle.
                box = self.container(f"c{int(number)}")
                box.bundle.drop_namespace("pid")
                self.assertEqual(box.shell(f"kill -{int(number)} $$").run().code, 128 + number)

    def test_a_foreground_run_removes_the_container_when_it_ends(self):
        box = self.container().args("true")

        self.succeed(box.run())

        self.is_gone(box)
        self.assertNotEqual(self.runtime.call("state", box.id).code, 0)

    def test_a_detached_run_leaves_the_container_running(self):
        box = self.sleeper()

        self.assertEqual(box.status(), "running")

    def test_a_detached_run_keeps_a_stopped_container_until_delete(self):
        box = self.ended()

        self.succeed(box.delete())

        self.is_gone(box)

    def test_the_process_does_not_run_before_start(self):
        box = self.container().shell("echo ran > /ran")

        self.succeed(box.create())
        before = os.path.exists(box.bundle.inside("/ran"))
        self.succeed(box.start())
        box.wait_stopped()

        self.assertFalse(before)
        self.assertEqual(box.bundle.read("/ran"), "ran\n")

    @differs(crun="1.8 has it protected by the kernel as process 1")
    def test_a_created_container_ends_when_it_is_asked_to(self):
        for signal in ("TERM", "INT", "HUP", "QUIT"):
            with self.subTest(signal):
                box = self.container(signal.lower()).args("sleep", "100")
                self.succeed(box.create())

                self.succeed(box.kill(signal))

                box.wait_stopped()

    def test_a_created_container_can_be_deleted_without_starting(self):
        box = self.container().args("sleep", "100")

        self.succeed(box.create())
        self.succeed(box.delete("--force"))

        self.is_gone(box)

    def test_state_names_what_engines_read(self):
        box = self.container().args("sleep", "100")
        box.config["annotations"] = {"org.example.note": "kept/as \"is\""}
        self.succeed(box.run_detached())

        state = box.state()

        self.assertEqual(state["id"], box.id)
        self.assertEqual(state["status"], "running")
        self.assertEqual(state["pid"], box.pid())
        self.assertEqual(state["bundle"], box.bundle.path)
        self.assertEqual(state["annotations"]["org.example.note"], "kept/as \"is\"")
        self.assertRegex(state["created"], r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$")
        self.assertRegex(state["ociVersion"], r"^1\.\d+\.\d+")

    @differs(crun="names the owner")
    def test_state_leaves_the_owner_to_list(self):
        box = self.sleeper()

        listed = json.loads(self.succeed(self.runtime.call("list", "--format", "json")).out)

        self.assertEqual((box.state()["owner"], listed[0]["owner"]), ("", "root"))

    def test_state_of_a_stopped_container_has_pid_zero(self):
        state = self.ended().state()

        self.assertEqual((state["status"], state["pid"]), ("stopped", 0))

    @differs(crun="calls a zombie running")
    def test_a_process_that_nobody_has_reaped_is_stopped(self):
        box = self.container().args("true")
        self.succeed(box.create())
        pid = box.pid()
        self.succeed(box.start())

        host.wait_until(lambda: host.process_state(pid) == "Z")

        self.assertEqual(box.status(), "stopped")
        self.succeed(box.delete())

    def test_the_pid_file_holds_the_process_id_and_nothing_else(self):
        box = self.sleeper()

        with open(box.pid_file, encoding="ascii") as file:
            self.assertEqual(file.read(), str(box.state()["pid"]))

    @differs(crun="takes a relative pid file as relative to the bundle")
    def test_a_pid_file_is_relative_to_the_caller_and_replaces_a_longer_one(self):
        box = self.container().args("sleep", "100")
        box.bundle.write()
        path = os.path.join(self.work, "pid")
        with open(path, "w", encoding="ascii") as file:
            file.write("1" * 100)

        self.succeed(self.runtime.call("create", "--bundle", box.bundle.path, "--pid-file", "pid", box.id,
                                       cwd=self.work))

        with open(path, encoding="ascii") as file:
            self.assertEqual(file.read(), str(box.state()["pid"]))

    def test_the_bundle_is_the_working_directory_by_default(self):
        box = self.container().args("true")
        box.bundle.write()

        self.succeed(self.runtime.call("run", box.id, cwd=box.bundle.path))

    def test_a_term_to_a_foreground_run_reaches_the_process(self):
        box = self.container().shell("trap 'exit 9' TERM; echo ready > /ready; while true; do sleep 0.1; done")
        box.bundle.write()
        process = subprocess.Popen(self.runtime.command("run", "--bundle", box.bundle.path, box.id), env=ENVIRONMENT,
                                   stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        host.wait_until(lambda: os.path.exists(box.bundle.inside("/ready")))

        process.terminate()

        self.assertEqual(process.wait(10 * host.PATIENCE), 9)

    def test_two_containers_live_side_by_side(self):
        first, second = self.sleeper("a"), self.sleeper("b")

        self.succeed(first.delete("--force"))

        self.assertEqual(second.status(), "running")

    def test_many_short_runs_all_end(self):
        box = self.container().args("true")
        box.bundle.write()

        codes = [self.runtime.call("run", "--bundle", box.bundle.path, box.id).code for _ in range(30)]

        self.assertEqual(codes, [0] * 30)


class Listing(Case):
    @differs(crun="names the first column NAME")
    def test_list_shows_the_id_pid_status_and_bundle(self):
        box = self.container().args("sleep", "100")
        self.succeed(box.run_detached())

        lines = self.succeed(self.runtime.call("list")).out.splitlines()

        self.assertEqual(lines[0].split()[:4], ["ID", "PID", "STATUS", "BUNDLE"])
        self.assertEqual(lines[1].split()[:4], [box.id, str(box.pid()), "running", box.bundle.path])

    def test_list_as_json_is_an_array_of_states(self):
        box = self.container().args("sleep", "100")
        self.succeed(box.run_detached())

        listed = json.loads(self.succeed(self.runtime.call("list", "--format", "json")).out)

        self.assertEqual([(entry["id"], entry["status"]) for entry in listed], [(box.id, "running")])

    def test_a_quiet_list_shows_ids_alone(self):
        first, second = self.container("a").args("sleep", "100"), self.container("b").args("sleep", "100")
        self.succeed(first.create())
        self.succeed(second.create())

        listed = self.succeed(self.runtime.call("list", "--quiet")).out

        self.assertEqual(sorted(listed.splitlines()), [first.id, second.id])

    @differs(runc="1.1 takes it for an empty one", crun="takes it for an empty one")
    def test_a_root_that_was_given_and_does_not_exist_cannot_be_listed(self):
        self.fails(self.runtime.call("list"), "no such file or directory")


class WrongState(Case):
    """What engines match by text when a verb does not fit the container's state."""

    def sleeper(self):
        box = self.container().args("sleep", "100")
        self.succeed(box.run_detached())
        return box

    def ended(self):
        box = self.container().args("true")
        self.succeed(box.run_detached())
        box.wait_stopped()
        return box

    @differs(runc="has no such file")
    def test_the_status_file_that_scripts_of_crun_read_is_there_until_delete(self):
        for verb in ("create", "run_detached"):
            box = self.container(verb.replace("_", "-")).args("sleep", "100")
            self.succeed(getattr(box, verb)())
            directory = os.path.join(self.runtime.root, box.id)
            with open(os.path.join(directory, "status"), encoding="utf-8") as file:
                status = json.load(file)

            self.assertEqual(status["pid"], box.pid())
            self.assertEqual(status["bundle"], box.bundle.path)
            self.assertEqual(status["cgroup-path"], box.cgroup)
            self.assertEqual(json.loads(status["external_descriptors"])[0], "/dev/null")
            self.succeed(box.delete("--force"))
            self.assertFalse(os.path.exists(directory))

    @differs(runc="1.1 shows it half-made", crun="1.8 shows it half-made")
    def test_the_state_of_a_container_that_is_being_created_is_what_becomes_of_it(self):
        for number in range(20):
            box = self.container(f"box{number}").args("true")
            box.bundle.write()
            with subprocess.Popen(self.runtime.command("create", "--bundle", box.bundle.path, box.id), env=ENVIRONMENT,
                                  stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL) as create:
                result = self.runtime.call("state", box.id)
                while result.code != 0:
                    self.assertIn("container does not exist", result.err)
                    result = self.runtime.call("state", box.id)

                self.assertEqual(json.loads(result.out)["status"], "created")
                self.assertEqual(create.wait(20), 0)
            self.succeed(box.delete("--force"))

    @differs(runc="returns before", crun="returns before")
    def test_after_start_the_program_runs(self):
        box = self.container().args("sleep", "100")
        self.succeed(box.create())
        pid = box.state()["pid"]

        self.succeed(box.start())

        with open(f"/proc/{pid}/cmdline", "rb") as file:
            self.assertIn(b"sleep\x00100", file.read())

    @differs(runc="1.1 gives up", crun="1.8 gives up")
    def test_delete_force_reaches_a_process_that_another_cgroup_keeps_frozen(self):
        if host.cgroup_is_v2():
            self.skipTest("a frozen process of cgroup v2 can be killed")
        box = self.sleeper()
        frozen = host.cgroup_file(f"/{box.id}-frozen", "freezer", "")
        os.mkdir(frozen)
        self.addCleanup(os.rmdir, frozen)
        for name, value in (("cgroup.procs", box.pid()), ("freezer.state", "FROZEN")):
            with open(os.path.join(frozen, name), "w", encoding="ascii") as file:
                file.write(str(value))

        self.succeed(box.delete("--force"))

        box.reap()
        with open(os.path.join(frozen, "freezer.state"), encoding="ascii") as file:
            self.assertEqual(file.read(), "FROZEN\n")

    def test_start_of_a_running_container_is_refused(self):
        text = "" if self.kind == "crun" else "cannot start an already running container"
        self.fails(self.sleeper().start(), text)

    def test_start_of_a_stopped_container_is_refused(self):
        text = "" if self.kind == "crun" else "cannot start a container that has stopped"
        self.fails(self.ended().start(), text)

    def test_delete_of_a_running_container_is_refused(self):
        box = self.sleeper()

        text = "" if self.kind == "crun" else "that is not stopped"
        self.fails(box.delete(), text)

        self.assertEqual(box.status(), "running")

    @differs(crun="has a wording of its own")
    def test_kill_of_a_stopped_container_says_that_it_is_not_running(self):
        self.fails(self.ended().kill("TERM"), "container not running")

    def test_kill_all_of_a_stopped_container_succeeds(self):
        self.succeed(self.ended().kill("KILL", "--all"))

    @differs(crun="has a wording of its own")
    def test_verbs_on_an_unknown_container_say_that_it_does_not_exist(self):
        for verb in (["state"], ["start"], ["delete"], ["kill"]):
            with self.subTest(verb[0]):
                tail = ["KILL"] if verb == ["kill"] else []
                self.fails(self.runtime.call(*verb, "nobody", *tail), "does not exist")

    def test_a_forced_delete_of_an_unknown_container_succeeds(self):
        self.succeed(self.runtime.call("delete", "--force", "nobody"))

    def test_a_forced_delete_can_be_repeated(self):
        box = self.sleeper()

        self.succeed(box.delete("--force"))
        self.succeed(box.delete("--force"))

        self.is_gone(box)

    def test_an_id_cannot_be_used_twice(self):
        box = self.sleeper()

        text = "" if self.kind == "crun" else "container with given ID already exists"
        self.fails(self.runtime.call("create", "--bundle", box.bundle.path, box.id), text)

        self.assertEqual(box.status(), "running")


class Killing(Case):
    def test_signals_have_names_and_numbers(self):
        script = "trap 'exit 41' USR1; echo > /ready; while true; do sleep 0.05; done"
        for number, name in enumerate(("USR1", "SIGUSR1", "10", "usr1")):
            with self.subTest(name):
                if name == "usr1" and self.kind == "crun":
                    continue
                box = self.container(f"c{number}").shell(script)
                self.succeed(box.run_detached())
                host.wait_until(lambda box=box: os.path.exists(box.bundle.inside("/ready")))

                self.succeed(box.kill(name))

                self.assertEqual(os.waitstatus_to_exitcode(box.reap()), 41)

    def test_kill_sends_term_by_default(self):
        box = self.container().shell("trap 'exit 42' TERM; echo > /ready; while true; do sleep 0.05; done")
        self.succeed(box.run_detached())
        host.wait_until(lambda: os.path.exists(box.bundle.inside("/ready")))

        self.succeed(self.runtime.call("kill", box.id))

        self.assertEqual(os.waitstatus_to_exitcode(box.reap()), 42)

    @differs(crun="takes an unknown signal for none")
    def test_an_unknown_signal_is_refused(self):
        box = self.container().args("sleep", "100")
        self.succeed(box.run_detached())

        self.fails(box.kill("NOPE"), "unknown signal")

        self.assertEqual(box.status(), "running")

    @differs(runc="1.1 leaves exec'd processes alive", crun="leaves exec'd processes alive")
    def test_killing_a_container_without_a_pid_namespace_ends_all_of_its_processes(self):
        box = self.container().args("sleep", "100")
        box.bundle.drop_namespace("pid")
        self.succeed(box.run_detached())
        pid_file = os.path.join(self.work, "exec.pid")
        self.succeed(box.exec("sleep", "777", options=["--detach", "--pid-file", pid_file]))
        with open(pid_file, encoding="ascii") as file:
            second = int(file.read())

        self.succeed(box.kill("KILL"))

        host.wait_until(lambda: not host.is_alive(second), 5, "the end of the second process")

    @differs(runc="1.1 leaves exec'd processes alive", crun="leaves exec'd processes alive")
    def test_killing_a_container_in_anothers_pid_namespace_ends_its_own_processes_alone(self):
        first, second = self.container("a").args("sleep", "100"), self.container("b").args("sleep", "100")
        self.succeed(first.run_detached())
        second.bundle.namespace("pid", f"/proc/{first.pid()}/ns/pid")
        self.succeed(second.run_detached())
        pid_file = os.path.join(self.work, "exec.pid")
        self.succeed(second.exec("sleep", "777", options=["--detach", "--pid-file", pid_file]))
        with open(pid_file, encoding="ascii") as file:
            executed = int(file.read())

        self.succeed(second.kill("KILL"))

        host.wait_until(lambda: not host.is_alive(executed), 10, "the end of the second process")
        second.wait_stopped()
        self.assertEqual(first.status(), "running")

    @differs(runc="1.1 leaves the cgroups behind", crun="1.8 leaves exec'd processes alive")
    def test_what_a_dead_init_left_behind_is_ended_by_delete_and_by_kill(self):
        for number, verb in enumerate((["delete"], ["delete", "--force"], ["kill"])):
            with self.subTest(verb):
                box = self.container(f"c{number}").args("sleep", "100")
                box.bundle.drop_namespace("pid")
                self.succeed(box.run_detached())
                pid_file = os.path.join(self.work, f"exec{number}.pid")
                self.succeed(box.exec("sleep", "777", options=["--detach", "--pid-file", pid_file]))
                with open(pid_file, encoding="ascii") as file:
                    left = int(file.read())
                os.kill(box.pid(), signal.SIGKILL)
                box.reap()

                self.succeed(self.runtime.call(*verb, box.id, *(["KILL"] if verb == ["kill"] else [])))

                host.wait_until(lambda left=left: not host.is_alive(left), 10, "the end of what was left")

    def test_deleting_a_container_without_a_pid_namespace_ends_all_of_its_processes(self):
        box = self.container().args("sleep", "100")
        box.bundle.drop_namespace("pid")
        self.succeed(box.run_detached())
        self.succeed(box.exec("sleep", "777", options=["--detach"]))

        self.succeed(box.delete("--force"))

        self.is_gone(box)

    def test_a_forced_delete_ends_a_process_that_ignores_signals(self):
        box = self.container().shell("trap '' TERM INT HUP; while true; do sleep 0.05; done")
        self.succeed(box.run_detached())

        self.succeed(box.delete("--force"))

        self.is_gone(box)


class Interrupted(Case):
    @differs(runc="1.1 runs it before create returns")
    def test_a_forced_delete_does_not_wait_for_a_poststart_hook(self):
        box = self.container().args("sleep", "100")
        started, go = os.path.join(self.work, "started"), os.path.join(self.work, "go")
        box.config["hooks"] = {"poststart": [{"path": "/bin/sh", "args": [
            "sh", "-c", f"echo > {started}; until [ -e {go} ]; do sleep 0.05; done"], "env": ["PATH=/usr/bin:/bin"]}]}
        self.succeed(box.create())
        process = subprocess.Popen(self.runtime.command("start", box.id), env=ENVIRONMENT, stdin=subprocess.DEVNULL,
                                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        host.wait_until(lambda: os.path.exists(started))

        self.succeed(box.delete("--force"))
        is_waiting = process.poll() is None
        with open(go, "w", encoding="ascii"):
            pass

        self.assertTrue(is_waiting)
        process.wait(10 * host.PATIENCE)
        self.is_gone(box)

    @differs(runc="1.1 leaves the cgroups behind", crun="1.8 leaves the cgroups behind")
    def test_a_create_killed_half_way_is_cleaned_by_a_forced_delete(self):
        for milliseconds in range(0, 20, 2):
            with self.subTest(milliseconds):
                box = self.container().args("sleep", "100")
                box.bundle.write()
                process = subprocess.Popen(self.runtime.command("create", "--bundle", box.bundle.path, box.id),
                                           env=ENVIRONMENT, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                           stderr=subprocess.DEVNULL)

                time.sleep(milliseconds / 1000)
                process.kill()
                process.wait()

                self.succeed(self.runtime.call("delete", "--force", box.id, seconds=5))
                host.reap_ended()
                self.is_gone(box)

"""checkpoint and restore: a container's processes become files and processes again; and what is said where CRIU cannot do that.

SPDX-License-Identifier: Apache-2.0
"""

import json
import os
import select
import shutil
import signal
import subprocess
import time

from rungtest import Case, host, only_rung
from rungtest.runtime import ENVIRONMENT, Finished, why_no_checkpoint
from rungtest.terminal import ConsoleSocket

SLOW = 60  # seconds for one verb: CRIU looks at the whole kernel first


class Checkpointed(Case):
    seconds = 180

    def setUp(self):
        super().setUp()
        self.images = os.path.join(self.work, "images")

    def counter(self, name=None):
        """A container that counts, in its memory and in a file."""
        return self.container(name).shell("n=0; while true; do n=$((n + 1)); echo $n > /new; mv /new /n; sleep 0.05; done")

    def run_detached(self, box, *options):
        """With standard streams that CRIU can save: a file of ours is not in the container."""
        box.bundle.write()
        command = self.runtime.command("run", "--detach", "--bundle", box.bundle.path, "--pid-file", box.pid_file, *options,
                                       box.id)
        self.assertEqual(subprocess.run(command, env=ENVIRONMENT, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                        stderr=subprocess.DEVNULL, check=False).returncode, 0)
        box.remember_pid()

    def started(self, box):
        self.run_detached(box)
        host.wait_until(lambda: os.path.exists(box.bundle.inside("/n")), 10, "the first number")
        return box

    def count(self, box):
        return int(box.bundle.read("/n"))

    def goes_on_from(self, box, before):
        """Counts on, and did not begin again."""
        host.wait_until(lambda: self.count(box) > before, 10, "a further number")

    def checkpoint(self, box, *options, images=None):
        return self.runtime.call("checkpoint", "--image-path", images or self.images, "--work-path", self.work, *options,
                                 box.id, seconds=SLOW)

    def restore(self, box, *options):
        box.bundle.write()
        result = self.runtime.call("restore", "--detach", "--image-path", self.images, "--work-path", self.work, "--bundle",
                                   box.bundle.path, "--pid-file", box.pid_file, *options, box.id, seconds=SLOW)
        box.remember_pid()
        return result

    def saved(self, box, *options):
        self.succeed(self.checkpoint(box, *options))
        box.reap()


class Checkpoints(Checkpointed):
    def setUp(self):
        super().setUp()
        reason = why_no_checkpoint(self.runtime_path)
        if reason:
            self.skipTest(reason)

    def test_a_restored_container_goes_on_where_it_was(self):
        box = self.started(self.counter())

        self.saved(box)
        self.assertEqual(self.runtime.call("state", box.id).code, 1)
        before = self.count(box)
        self.is_gone(box)
        self.succeed(self.restore(box))

        self.goes_on_from(box, before)
        state = box.state()
        self.assertEqual((state["status"], state["pid"]), ("running", box.pid()))
        self.assertNotEqual(os.stat(f"/proc/{box.pid()}/ns/pid").st_ino, os.stat("/proc/self/ns/pid").st_ino)
        self.prints(box.exec("cat", "/proc/1/comm"), "sh")
        self.fails(box.delete(), "that is not stopped: running")

    def test_the_descriptors_of_the_images_are_runcs(self):
        self.saved(self.started(self.counter()))

        with open(os.path.join(self.images, "descriptors.json"), encoding="ascii") as file:
            streams = json.load(file)
        self.assertEqual((streams[0], len(streams)), ("/dev/null", 3))

    def test_a_container_that_is_left_running_goes_on_and_its_images_are_good(self):
        box = self.started(self.counter())

        self.succeed(self.checkpoint(box, "--leave-running"))

        self.assertEqual(box.status(), "running")
        self.goes_on_from(box, self.count(box))
        self.succeed(box.kill("KILL"))
        box.reap()
        self.succeed(box.delete())
        self.succeed(self.restore(box))
        self.assertEqual(box.status(), "running")

    def test_a_checkpoint_builds_on_an_earlier_one_of_the_memory(self):
        box = self.started(self.counter())
        first = os.path.join(self.work, "first")
        if not _kernel_can("mem_dirty_track"):
            self.fails(self.checkpoint(box, "--pre-dump", images=first), "pre-dump" if self.kind == "rung" else "")
            self.assertEqual(box.status(), "running")
            return

        self.succeed(self.checkpoint(box, "--pre-dump", images=first))
        running = box.status()
        self.fails(self.checkpoint(box, "--parent-path", first), "--parent-path", "relative")
        self.fails(self.checkpoint(box, "--parent-path", "../nowhere"), "--parent-path")
        self.saved(box, "--parent-path", "../first")
        before = self.count(box)
        self.succeed(self.restore(box))

        self.assertEqual(running, "running")
        self.assertTrue(os.path.lexists(os.path.join(self.images, "parent")))
        self.goes_on_from(box, before)

    def test_it_may_have_another_name_and_another_cgroup_afterwards(self):
        box = self.started(self.counter())
        self.saved(box)
        before = self.count(box)

        other = self.container("other")
        other.config.update(box.config, linux={**box.config["linux"], "cgroupsPath": other.cgroup})
        shutil.rmtree(other.bundle.rootfs)
        shutil.move(box.bundle.rootfs, other.bundle.rootfs)
        self.succeed(self.restore(other, "--manage-cgroups-mode", "ignore"))

        self.goes_on_from(other, before)
        self.fails(self.runtime.call("state", box.id), "does not exist")
        with open(f"/proc/{other.pid()}/cgroup", encoding="ascii") as file:
            self.assertIn(other.cgroup, file.read())
        self.assertEqual([path for path in host.cgroup_directories(box.id)], [])

    def test_the_limits_of_its_cgroup_hold_again(self):
        box = self.counter()
        box.config["linux"]["resources"]["pids"] = {"limit": 50}
        self.started(box)

        self.saved(box)
        self.succeed(self.restore(box))

        self.assertEqual(box.cgroup_file("pids", "pids.max"), "50")
        with open(host.cgroup_file(box.cgroup, "pids", "cgroup.procs"), encoding="ascii") as file:
            self.assertIn(str(box.pid()), file.read().split())

    def test_binds_show_the_host_again_and_masks_hide_again(self):
        box = self.counter()
        shared = os.path.join(self.work, "shared")
        nested = os.path.join(self.work, "nested")
        os.mkdir(shared)
        os.mkdir(nested)
        os.makedirs(box.bundle.inside("/real"))
        os.symlink("/real", box.bundle.inside("/link"))
        box.bundle.add_mount("/shared", shared, options=["bind", "ro"])
        box.bundle.add_mount("/link/deep", nested, options=["bind"])
        box.bundle.add_mount("/real/deep/er", shared, options=["bind"])
        self.started(box)
        look = "cat /shared/word /link/deep/er/word; touch /shared/new; cat /proc/timer_list | wc -c; ls /sys/firmware | wc -l; touch /proc/sys/x"
        with open(os.path.join(shared, "word"), "w", encoding="ascii") as file:
            file.write("before\n")
        earlier = box.exec("sh", "-c", look)
        mounts = self.mounts(box)

        self.saved(box)
        # The mount point in the bind is made again, as create makes it.
        os.rmdir(os.path.join(nested, "er"))
        self.succeed(self.restore(box))
        later = box.exec("sh", "-c", look)

        self.assertEqual((later.out, later.err), (earlier.out, earlier.err))
        self.assertEqual(later.out.splitlines()[:2], ["before", "before"])
        self.assertIn("/shared/new: Read-only file system", later.err)
        self.assertEqual(self.mounts(box), mounts)

    def mounts(self, box):
        """Where, and with which attributes."""
        lines = self.succeed(box.exec("cat", "/proc/self/mountinfo")).out.splitlines()
        return sorted((line.split()[4], line.split()[5]) for line in lines)

    def test_a_read_only_root_is_read_only_again(self):
        box = self.container().args("sleep", "100")
        box.config["root"]["readonly"] = True
        self.run_detached(box)

        self.saved(box)
        self.succeed(self.restore(box))

        self.assertIn("Read-only file system", box.exec("touch", "/x").err)

    def test_what_confines_its_process_confines_it_again(self):
        box = self.counter()
        box.config["linux"]["seccomp"] = {
            "defaultAction": "SCMP_ACT_ALLOW", "architectures": ["SCMP_ARCH_X86_64"],
            "syscalls": [{"names": ["sethostname"], "action": "SCMP_ACT_ERRNO"}]}
        self.started(box)
        facts = ("CapEff", "CapBnd", "CapPrm", "NoNewPrivs", "Seccomp:")
        earlier = _lines_of(box.pid(), facts)

        self.saved(box)
        result = self.succeed(self.restore(box))

        self.assertEqual(len(earlier), len(facts))
        later = _lines_of(box.pid(), facts)
        if self.kind == "rung" and "NoNewPrivs:\t0" in later:
            # Debian 12's criu forgets it: rung says so.
            self.assertIn("process.noNewPrivileges", result.err)
            later[later.index("NoNewPrivs:\t0")] = "NoNewPrivs:\t1"
        self.assertEqual(later, earlier)

    def test_the_foreground_ends_with_the_exit_code_of_its_process(self):
        box = self.container().shell("trap 'exit 7' TERM; echo > /n; while true; do sleep 0.05; done")
        self.started(box)
        self.saved(box)
        box.bundle.write()
        process = subprocess.Popen(
            self.runtime.command("restore", "--image-path", self.images, "--work-path", self.work, "--bundle",
                                 box.bundle.path, box.id),
            env=ENVIRONMENT, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        host.wait_until(lambda: _status(self.runtime, box) == "running", SLOW, "the restored container")

        process.send_signal(signal.SIGTERM)

        self.assertEqual(process.wait(30 * host.PATIENCE), 7)
        self.is_gone(box)

    def test_the_callers_pipes_take_the_place_of_those_before(self):
        box = self.container().shell("echo > /n; while read word; do echo got $word; done; exit 3")
        box.bundle.write()
        with _Pipes() as first:
            self.succeed(_call_with(first, self.runtime.command("run", "--detach", "--bundle", box.bundle.path, "--pid-file",
                                                            box.pid_file, box.id)))
            box.remember_pid()
            first.write("one\n")
            self.assertEqual(first.read(), "got one\n")
            self.saved(box)
        with _Pipes() as second:
            self.succeed(_call_with(second, self.runtime.command(
                "restore", "--detach", "--image-path", self.images, "--work-path", self.work, "--bundle", box.bundle.path,
                "--pid-file", box.pid_file, box.id)))
            box.remember_pid()

            second.write("two\n")

            self.assertEqual(second.read(), "got two\n")

    def test_a_terminal_is_handed_over_again(self):
        box = self.container().shell("while read word; do echo got $word; done")
        box.config["process"]["terminal"] = True
        box.config["process"]["cwd"] = "/"
        sockets = [ConsoleSocket(os.path.join(self.work, name)) for name in ("one", "two")]
        self.run_detached(box, "--console-socket", sockets[0].path)
        before = sockets[0].receive()
        before.write("one\n")
        before.read_until("got one")

        self.saved(box)
        before.close()
        self.succeed(self.restore(box, "--console-socket", sockets[1].path))

        after = sockets[1].receive()
        after.write("two\n")
        self.assertIn("got two", after.read_until("got two"))
        after.close()
        for one in sockets:
            one.close()

    def test_hooks_run_around_a_restored_container(self):
        box = self.counter()
        log = os.path.join(self.work, "hooks")
        box.config["hooks"] = {
            kind: [{"path": "/bin/sh", "args": ["sh", "-c", f"echo {kind} $(cat | grep -c '\"pid\":[1-9]') >> {log}"]}]
            for kind in ("prestart", "createRuntime", "createContainer", "poststart", "poststop")}
        self.started(box)
        self.saved(box)
        os.unlink(log)

        self.succeed(self.restore(box))
        with open(log, encoding="ascii") as file:
            after_restore = file.read().split("\n")
        self.succeed(box.delete("--force"))

        self.assertEqual(after_restore[:2], ["prestart 1", "createRuntime 1"])
        with open(log, encoding="ascii") as file:
            self.assertIn("poststop", file.read())

    def test_a_network_namespace_by_path_is_the_same_again(self):
        box = self.counter()
        holder = subprocess.Popen(["unshare", "--net", "sleep", "1000"])
        self.addCleanup(holder.wait)
        self.addCleanup(holder.kill)
        path = f"/proc/{holder.pid}/ns/net"
        host.wait_until(lambda: os.stat(path).st_ino != os.stat("/proc/self/ns/net").st_ino)
        box.bundle.namespace("network", path)
        self.started(box)

        self.saved(box)
        self.succeed(self.restore(box))

        self.assertEqual(os.stat(f"/proc/{box.pid()}/ns/net").st_ino, os.stat(path).st_ino)

    def test_a_name_in_use_is_not_restored_over(self):
        box = self.started(self.counter())
        self.succeed(self.checkpoint(box, "--leave-running"))

        self.fails(self.restore(box), "container with given ID already exists")

        self.assertEqual(box.status(), "running")

    def test_a_stopped_and_a_created_container_have_nothing_to_save(self):
        box = self.container().args("true")
        self.succeed(box.create())
        self.fails(self.checkpoint(box), "Container cannot be checkpointed in created state")
        self.succeed(box.start())
        box.wait_stopped()
        self.fails(self.checkpoint(box), "Container cannot be checkpointed in stopped state")

        self.assertFalse(os.path.exists(os.path.join(self.images, "inventory.img")))

    def test_a_checkpoint_that_fails_leaves_it_running_and_says_why(self):
        box = self.container().args("sleep", "100")
        # A file of the host that no path inside leads to.
        with open(os.path.join(self.work, "outside"), "w", encoding="ascii") as file:
            box.bundle.write()
            process = subprocess.run(self.runtime.command("run", "--detach", "--bundle", box.bundle.path, "--pid-file",
                                                          box.pid_file, box.id), env=ENVIRONMENT, check=True,
                                     stdin=subprocess.DEVNULL, stdout=file, stderr=file)
        self.assertEqual(process.returncode, 0)
        box.remember_pid()

        result = self.checkpoint(box)

        self.fails(result, "criu failed")
        if self.kind == "rung":
            self.fails(result, "outside", os.path.join(self.work, "dump.log"))
        self.assertEqual(box.status(), "running")
        self.succeed(box.exec("true"))

    @only_rung("freeze what they find frozen, or not")
    def test_a_paused_container_can_be_saved_and_stays_paused_when_it_is_left(self):
        box = self.started(self.counter())
        self.succeed(self.runtime.call("pause", box.id))

        self.succeed(self.checkpoint(box, "--leave-running"))
        status = box.status()
        self.succeed(self.runtime.call("resume", box.id))

        self.assertEqual(status, "paused")
        self.goes_on_from(box, self.count(box))

    @only_rung("leave a mount, or a directory")
    def test_a_restore_that_is_killed_leaves_what_delete_can_take_away(self):
        box = self.started(self.counter())
        self.saved(box)
        for delay in (0.0, 0.02, 0.05, 0.1, 0.2, 0.4):
            process = subprocess.Popen(
                self.runtime.command("restore", "--detach", "--image-path", self.images, "--work-path", self.work, "--bundle",
                                     box.bundle.path, box.id),
                env=ENVIRONMENT, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            time.sleep(delay * host.PATIENCE)
            process.kill()
            process.wait()

            self.succeed(box.delete("--force"))

            self.is_gone(box)



class Refusals(Checkpointed):
    """Wherever, with a CRIU that works or without."""

    @only_rung("word it otherwise")
    def test_a_criu_that_is_not_there_is_said_before_anything_is_made(self):
        box = self.started(self.counter())
        other = self.container("other")

        self.runtime.options = ["--criu", "/no/such/criu"]
        self.fails(self.checkpoint(box), "checkpoint needs CRIU", '"/no/such/criu": executable file not found')
        self.fails(self.restore(other), "restore needs CRIU", '"/no/such/criu": executable file not found')
        self.runtime.options = []

        self.goes_on_untouched(box)
        self.is_gone(other)

    @only_rung("word it otherwise")
    def test_a_program_that_is_no_criu_is_said(self):
        box = self.started(self.counter())

        self.runtime.options = ["--criu", "/bin/true"]
        self.fails(self.checkpoint(box), "checkpoint needs CRIU", "without an answer")
        self.runtime.options = []

        self.goes_on_untouched(box)

    @only_rung("have other words")
    def test_flags_are_checked_before_anything_is_made(self):
        box = self.started(self.counter())

        for options, words in ((["--manage-cgroups-mode", "some"], '"some" is not soft, full, strict or ignore'),
                               (["--empty-ns", "mount"], 'namespace "mount" is not supported'),
                               (["--page-server", "nowhere"], '"nowhere" is not ADDRESS:PORT'),
                               (["--page-server", "here:0"], '"0" is not a port'),
                               (["--parent-path", "/parent"], "--parent-path must be relative"),
                               (["--status-fd", "77"], "--status-fd: 77: bad file descriptor")):
            with self.subTest(options):
                self.fails(self.checkpoint(box, *options), words)

        self.goes_on_untouched(box)

    def test_an_unknown_container_cannot_be_saved(self):
        self.fails(self.runtime.call("checkpoint", "nobody"), "container does not exist")

    def goes_on_untouched(self, box):
        self.assertFalse(os.path.exists(self.images))
        self.assertEqual(box.status(), "running")
        self.goes_on_from(box, self.count(box))

    def test_images_that_are_not_there_leave_nothing(self):
        box = self.counter()

        self.fails(self.restore(box), "no such file or directory")

        self.is_gone(box)

    @only_rung("know no grants")
    def test_a_container_under_a_grant_is_neither_saved_nor_restored(self):
        grant = os.path.join(self.work, "grant.json")
        with open(grant, "w", encoding="utf-8") as file:
            json.dump({"grantVersion": "1", "filesystem": {"rootfs": "readOnly"}, "tools": ["/"]}, file)
        box = self.container().args("sleep", "100")
        self.succeed(box.run_detached("--grant", grant))
        other = self.counter("other")

        self.fails(self.checkpoint(box), "grant_unenforceable: checkpoint", "Landlock")
        self.runtime.options = ["--grant", grant]
        self.fails(self.restore(other), "grant_unenforceable: restore", "Landlock")
        self.runtime.options = []

        self.assertFalse(os.path.exists(self.images))
        self.assertEqual(box.status(), "running")
        self.is_gone(other)

    @only_rung("word it otherwise")
    def test_what_criu_would_change_is_not_saved(self):
        box = self.container().args("sleep", "100")
        box.bundle.drop_namespace("mount")
        box.config["mounts"] = []
        box.config["linux"].update(maskedPaths=[], readonlyPaths=[])
        self.succeed(box.run_detached())

        self.fails(self.checkpoint(box), "without a mount namespace")

        self.assertEqual(box.status(), "running")


class _Pipes:
    """Standard streams: a pipe to write to, one to read from."""

    def __enter__(self):
        self.input, self._writer = os.pipe()
        self._reader, self.output = os.pipe()
        return self

    def __exit__(self, *_):
        for descriptor in (self.input, self._writer, self._reader, self.output):
            os.close(descriptor)

    def write(self, text):
        os.write(self._writer, text.encode())

    def read(self):
        """The next line, for which there is time."""
        if not select.select([self._reader], [], [], 20 * host.PATIENCE)[0]:
            raise AssertionError("nothing came through the pipe")
        return os.read(self._reader, 4096).decode()


def _call_with(pipes, command):
    done = subprocess.run(command, env=ENVIRONMENT, stdin=pipes.input, stdout=pipes.output, stderr=pipes.output, check=False,
                          timeout=SLOW * host.PATIENCE)
    return Finished(command, done.returncode, "", "")


def _kernel_can(feature):
    return subprocess.run(["criu", "check", "--feature", feature], capture_output=True, check=False).returncode == 0


def _lines_of(pid, names):
    with open(f"/proc/{pid}/status", encoding="ascii") as file:
        return [line.strip() for line in file if line.startswith(names)]


def _status(runtime, box):
    result = runtime.call("state", box.id)
    return json.loads(result.out)["status"] if result.code == 0 else None

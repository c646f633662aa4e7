"""The foreground of `run` and `exec`: signals, terminals and pipes as a person or a script has them, and who owns the streams.

SPDX-License-Identifier: Apache-2.0
"""

import os
import resource
import signal
import subprocess

from rungtest import Case, differs, host
from rungtest.runtime import ENVIRONMENT
from rungtest.terminal import ConsoleSocket


class UserNamespaceStreams(Case):
    """Root's containers whose root is somebody else outside, as with Docker's userns-remap."""

    @differs(runc="1.1 leaves them to the host's root when detached", crun="1.8 leaves them to the host's root")
    def test_the_process_can_open_the_streams_that_it_was_given(self):
        box = self.container().shell("echo out > /dev/stdout; echo err > /dev/stderr; stat -L -c %u:%g /dev/stdout")
        box.bundle.map_users()
        box.config["process"]["user"] = {"uid": 1000, "gid": 1000}
        box.bundle.write()

        with subprocess.Popen(self.runtime.command("run", "--detach", "--bundle", box.bundle.path, box.id),
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              env=ENVIRONMENT) as process:
            self.assertEqual(process.stdout.read(), b"out\nerr\n1000:1000\n")

    @differs(runc="1.1 leaves them to the host's root when detached", crun="1.8 leaves them to the host's root")
    def test_so_can_one_that_exec_brings_in(self):
        box = self.container().args("sleep", "100")
        box.bundle.map_users()
        self.succeed(box.run_detached())

        done = subprocess.run(self.runtime.command("exec", "--user", "5:6", box.id, "sh", "-c", "echo err > /dev/stderr"),
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=ENVIRONMENT,
                              timeout=20, check=False)

        self.assertEqual((done.returncode, done.stderr), (0, b"err\n"))

    @differs(runc="1.1 refuses a tty group that is not mapped", crun="1.8 fails")
    def test_a_terminal_works_where_only_one_id_is_mapped(self):
        box = self.container().shell("tty; stat -c %u $(tty); echo done > $(tty)")
        box.bundle.map_users(size=1)
        box.config["process"]["terminal"] = True
        socket = ConsoleSocket(os.path.join(self.work, "console.sock"))
        self.addCleanup(socket.close)

        self.succeed(box.create("--console-socket", socket.path))
        terminal = socket.receive()
        self.addCleanup(terminal.close)
        self.succeed(box.start())

        self.assertIn("/dev/pts/0\r\n0\r\n", terminal.read_until("done"))


class UserNamespaceLimits(Case):
    @differs(runc="1.1 is given the room by its engine", crun="1.8 is given the room by its engine")
    def test_a_limit_above_the_callers_is_possible_where_the_host_lets_root_raise_it(self):
        box = self.container().args("sh", "-c", "ulimit -Hn")
        box.bundle.map_users()

        result = box.run(prepare=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (500, 500)))

        if _may_raise_limits():
            self.prints(result, "1024")
        else:
            self.fails(result, "error setting rlimit type 7", "operation not permitted")


def _may_raise_limits():
    def attempt():
        resource.setrlimit(resource.RLIMIT_NOFILE, (500, 500))
        resource.setrlimit(resource.RLIMIT_NOFILE, (500, 1024))

    try:
        subprocess.run(["true"], preexec_fn=attempt, check=True)
    except subprocess.SubprocessError:
        return False
    return True


class Foregrounds(Case):
    """What a person or a script in front of `run` and `exec` sees."""

    def started(self, box, *command, **how):
        box.bundle.write()
        process = subprocess.Popen(self.runtime.command(*command), env=ENVIRONMENT, **how)
        self.addCleanup(lambda: process.poll() is None and process.kill())
        return process

    def trapping(self, signals):
        """A script that prints the name of each signal it gets."""
        traps = "".join(f"trap 'echo {name}' {name}; " for name in signals)
        return traps + "trap 'exit 9' TERM; echo ready; while true; do sleep 0.05; done"

    def forwards(self, process, signals):
        self.assertEqual(process.stdout.readline(), b"ready\n")
        for name in signals:
            process.send_signal(getattr(signal, f"SIG{name}"))
            self.assertEqual(process.stdout.readline(), f"{name}\n".encode())
        process.send_signal(signal.SIGTERM)
        self.assertEqual(process.wait(10), 9)

    SIGNALS = ("HUP", "INT", "QUIT", "USR1", "USR2", "ALRM", "VTALRM", "IO", "PWR")

    def test_run_forwards_signals(self):
        box = self.container().args("sh", "-c", self.trapping(self.SIGNALS))

        self.forwards(self.started(box, "run", "--bundle", box.bundle.path, box.id, stdin=subprocess.DEVNULL,
                                   stdout=subprocess.PIPE), self.SIGNALS)

    @differs(runc="1.1 removes whatever has the name", crun="1.8 removes whatever has the name")
    def test_a_run_leaves_another_container_that_has_got_the_name_since(self):
        box = self.container().args("sleep", "100")
        process = self.started(box, "run", "--bundle", box.bundle.path, box.id, stdin=subprocess.DEVNULL)
        host.wait_until(lambda: self.runtime.call("state", box.id).code == 0 and box.status() == "running")
        process.send_signal(signal.SIGSTOP)
        self.succeed(box.delete("--force"))
        self.succeed(box.create())

        process.send_signal(signal.SIGCONT)
        process.wait(10 * host.PATIENCE)

        self.assertEqual(box.status(), "created")

    def test_exec_forwards_signals(self):
        box = self.container().args("sleep", "100")
        self.succeed(box.run_detached())

        self.forwards(self.started(box, "exec", box.id, "sh", "-c", self.trapping(self.SIGNALS),
                                   stdin=subprocess.DEVNULL, stdout=subprocess.PIPE), self.SIGNALS)

    @differs(crun="1.8 passes it on")
    def test_a_window_change_without_a_terminal_is_not_the_processs_business(self):
        box = self.container().args("sh", "-c", self.trapping(("WINCH", "USR1")))
        process = self.started(box, "run", "--bundle", box.bundle.path, box.id, stdin=subprocess.DEVNULL,
                               stdout=subprocess.PIPE)
        self.assertEqual(process.stdout.readline(), b"ready\n")

        process.send_signal(signal.SIGWINCH)
        process.send_signal(signal.SIGUSR1)

        self.assertEqual(process.stdout.readline(), b"USR1\n")
        process.send_signal(signal.SIGTERM)
        self.assertEqual(process.wait(10), 9)

    def test_a_waiting_foreground_uses_no_processor_time(self):
        box = self.container().shell("echo ready; sleep 100")
        process = self.started(box, "run", "--bundle", box.bundle.path, box.id, stdin=subprocess.DEVNULL,
                               stdout=subprocess.PIPE)
        self.assertEqual(process.stdout.readline(), b"ready\n")
        before = _processor_ticks(process.pid)

        for _ in range(20):  # as long as the container is up, whatever the load
            self.succeed(self.runtime.call("state", box.id))

        self.assertLessEqual(_processor_ticks(process.pid) - before, 3)
        process.kill()
        process.wait()

    @differs(crun="1.8 uses it up when its input is closed")
    def test_nor_does_one_on_a_terminal_whose_input_has_ended(self):
        box = self.container().shell("echo ready; exec sleep 100")
        box.config["process"]["terminal"] = True
        master, slave = os.openpty()
        self.addCleanup(os.close, master)
        process = self.started(box, "run", "--bundle", box.bundle.path, box.id, stdin=subprocess.DEVNULL, stdout=slave,
                               stderr=slave, start_new_session=True)
        os.close(slave)
        self.assertIn(b"ready", os.read(master, 100))
        before = _processor_ticks(process.pid)

        for _ in range(20):
            self.succeed(self.runtime.call("state", box.id))

        self.assertLessEqual(_processor_ticks(process.pid) - before, 3)
        process.kill()
        process.wait()

    @differs(crun="1.8 loses the end of it")
    def test_all_that_a_terminal_showed_arrives_though_the_reader_is_slow(self):
        box = self.container().shell("seq 1 40000; exit 4")
        box.config["process"]["terminal"] = True
        read_end, write_end = os.pipe()
        self.addCleanup(os.close, read_end)
        master, slave = os.openpty()
        self.addCleanup(os.close, master)
        process = self.started(box, "run", "--bundle", box.bundle.path, box.id, stdin=slave, stdout=write_end, stderr=slave,
                               start_new_session=True)
        os.close(slave)
        os.close(write_end)

        data = b""
        while piece := os.read(read_end, 3000):
            data += piece

        self.assertEqual(process.wait(20), 4)
        self.assertEqual(data.split(), [str(number).encode() for number in range(1, 40001)])

    @differs(runc="needs a terminal of its own", crun="1.8 fails with an obscure text")
    def test_a_terminal_inside_needs_none_outside(self):
        box = self.container().shell("tty; read line; echo got $line; exit 5")
        box.config["process"]["terminal"] = True
        process = self.started(box, "run", "--bundle", box.bundle.path, box.id, stdin=subprocess.PIPE,
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True)

        out, err = process.communicate(b"hello\n", timeout=20)

        self.assertEqual((process.returncode, err), (5, b""))
        self.assertIn(b"/dev/pts/0", out)
        self.assertIn(b"got hello", out)

    @differs(crun="1.8 leaves it two characters")
    def test_in_the_foreground_the_newline_of_a_terminal_stays_alone(self):
        box = self.container().shell("printf 'a\\nb\\n'")
        box.config["process"]["terminal"] = True
        master, slave = os.openpty()
        self.addCleanup(os.close, master)
        process = self.started(box, "run", "--bundle", box.bundle.path, box.id, stdin=slave, stdout=subprocess.PIPE,
                               stderr=slave, start_new_session=True)
        os.close(slave)

        self.assertEqual(process.communicate(timeout=20)[0], b"a\nb\n")

    def test_through_a_console_socket_the_terminal_is_as_the_kernel_makes_it(self):
        box = self.container().shell("printf 'a\\nb\\n'; read wait")
        box.config["process"]["terminal"] = True
        socket = ConsoleSocket(os.path.join(self.work, "console.sock"))
        self.addCleanup(socket.close)

        self.succeed(box.create("--console-socket", socket.path))
        terminal = socket.receive()
        self.addCleanup(terminal.close)
        self.succeed(box.start())

        # An engine's client is in raw mode and needs both characters.
        self.assertEqual(terminal.read_until("b\r\n"), "a\r\nb\r\n")

    @differs(runc="1.1 goes on", crun="1.8 goes on")
    def test_when_the_reader_of_a_terminal_goes_the_process_ends(self):
        box = self.container().shell("while echo line; do :; done")
        box.config["process"]["terminal"] = True
        read_end, write_end = os.pipe()
        process = self.started(box, "run", "--bundle", box.bundle.path, box.id, stdin=subprocess.DEVNULL, stdout=write_end,
                               stderr=subprocess.DEVNULL, start_new_session=True)
        os.close(write_end)
        os.read(read_end, 10)

        os.close(read_end)

        process.wait(20)


class ShortLived(Case):
    seconds = 600

    def test_a_process_that_ends_at_once_is_never_missed(self):
        box = self.container().args("sleep", "600")
        self.succeed(box.run_detached())
        times = 1000 if os.environ.get("RUNG_LONG") else 100

        for number in range(times):
            result = self.runtime.call("exec", box.id, "sh", "-c", f"echo {number}; exit {number % 7}")
            self.assertEqual((result.code, result.out, result.err), (number % 7, f"{number}\n", ""))


def _processor_ticks(pid):
    with open(f"/proc/{pid}/stat", encoding="ascii") as file:
        fields = file.read().rsplit(")", 1)[1].split()
    return int(fields[11]) + int(fields[12])

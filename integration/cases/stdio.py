"""Standard streams and terminals: passed through untouched, or a terminal of the container's own.

SPDX-License-Identifier: Apache-2.0
"""

import os
import signal
import subprocess
import termios

from rungtest import Case, differs, host
from rungtest.runtime import ENVIRONMENT
from rungtest.terminal import ConsoleSocket, Foreground


class Streams(Case):
    def test_standard_input_reaches_the_process(self):
        self.prints(self.container().args("cat").run(stdin="line one\nline two\n"), "line one\nline two")

    def test_the_two_outputs_stay_apart(self):
        result = self.container().shell("echo to-out; echo to-err >&2").run()

        self.assertEqual((result.out, result.err), ("to-out\n", "to-err\n"))

    def test_a_pipe_carries_a_megabyte_unchanged(self):
        box = self.container().args("cat")
        box.bundle.write()
        data = os.urandom(1 << 20)

        done = subprocess.run(self.runtime.command("run", "--bundle", box.bundle.path, box.id), input=data,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=ENVIRONMENT, timeout=30, check=False)

        self.assertEqual((done.returncode, done.stderr), (0, b""))
        self.assertTrue(done.stdout == data)

    def test_the_reader_sees_the_end_when_the_process_closes_its_output(self):
        box = self.container().shell("echo last; exec >&- 2>&-; sleep 100")
        box.bundle.write()

        with subprocess.Popen(self.runtime.command("run", "--detach", "--bundle", box.bundle.path, box.id),
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                              env=ENVIRONMENT) as process:
            self.assertEqual(process.stdout.read(), b"last\n")

        self.assertEqual(box.status(), "running")

    @differs(crun="1.8 fails when a standard stream is closed")
    def test_closed_standard_streams_are_no_obstacle(self):
        def close_all():
            for descriptor in (0, 1, 2):
                os.close(descriptor)

        self.assertEqual(self.container().shell("exit 7").run(prepare=close_all).code, 7)

    def test_a_user_without_rights_can_open_its_standard_error(self):
        box = self.container().shell("echo again > /dev/stderr")
        box.config["process"]["user"] = {"uid": 1000, "gid": 1000}
        box.bundle.write()

        done = subprocess.run(self.runtime.command("run", "--bundle", box.bundle.path, box.id), env=ENVIRONMENT,
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=20,
                              check=False)

        self.assertEqual((done.returncode, done.stderr), (0, b"again\n"))

    @differs(crun="1.8 hands the file to the user")
    def test_a_file_of_the_host_that_is_only_read_keeps_its_owner(self):
        path = os.path.join(self.work, "script")
        with open(path, "w", encoding="ascii") as file:
            file.write("cat; echo taken 2>/dev/null >/proc/self/fd/0; true\n")
        box = self.container().args("sh", "-c", "head -c 3; echo taken 2>/dev/null >/proc/self/fd/0; true")
        box.config["process"]["user"] = {"uid": 1000, "gid": 1000}
        box.bundle.write()

        with open(path, "rb") as source:
            done = subprocess.run(self.runtime.command("run", "--bundle", box.bundle.path, box.id), env=ENVIRONMENT,
                                  stdin=source, stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=20, check=False)

        self.assertEqual((done.returncode, done.stdout), (0, b"cat"))
        self.assertEqual(os.stat(path).st_uid, 0)
        with open(path, encoding="ascii") as file:
            self.assertTrue(file.read().startswith("cat;"))

    @differs(crun="1.8 hands the host's /dev/null to the user")
    def test_the_null_device_of_the_host_keeps_its_owner(self):
        before = os.stat("/dev/null")
        box = self.container().args("sleep", "100")
        self.succeed(box.run_detached())

        self.succeed(box.exec("id", options=["--detach", "--user", "4321:4321"]))

        self.assertEqual(os.stat("/dev/null").st_uid, before.st_uid)

    @differs(runc="1.1 passes the mask on")
    def test_ignored_and_blocked_signals_of_the_caller_are_not_inherited(self):
        def deaf():
            signal.signal(signal.SIGPIPE, signal.SIG_IGN)
            signal.signal(signal.SIGUSR2, signal.SIG_IGN)
            for reserved in host.RESERVED_SIGNALS:
                host.set_reserved_signal(reserved, signal.SIG_IGN)
            signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGUSR1, signal.SIGTERM])

        result = self.container().args("grep", "-E", "SigBlk|SigIgn", "/proc/self/status").run(prepare=deaf)

        self.prints(result, "SigBlk:\t0000000000000000\nSigIgn:\t0000000000000000")

    def test_only_the_standard_descriptors_reach_the_process(self):
        read_end, write_end = os.pipe()
        self.addCleanup(os.close, read_end)
        self.addCleanup(os.close, write_end)
        os.dup2(read_end, 9)
        self.addCleanup(os.close, 9)

        result = self.container().args("ls", "/proc/self/fd").run(pass_fds=(3, 9, write_end) if _is_open(3) else (9, write_end))

        # ls itself holds descriptor 3: the directory it lists.
        self.prints(result, "0\n1\n2\n3")

    def test_preserved_descriptors_reach_the_process_and_no_other(self):
        for number in (3, 4, 5):
            os.dup2(os.open("/dev/null", os.O_RDONLY), number + 20)
        self.addCleanup(lambda: [os.close(number + 20) for number in (3, 4, 5)])

        def place():
            for number in (3, 4, 5):
                os.dup2(number + 20, number, inheritable=True)

        box = self.container().shell("for n in 3 4 5 6 7 8 9; do [ -e /proc/self/fd/$n ] && echo $n; done; true")
        box.bundle.write()
        process = subprocess.Popen(
            self.runtime.command("run", "--preserve-fds", "2", "--bundle", box.bundle.path, box.id), env=ENVIRONMENT,
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, close_fds=False, preexec_fn=place)
        out, err = process.communicate(timeout=20)

        self.assertEqual((process.returncode, out, err), (0, b"3\n4\n", b""))


    def with_activation_sockets(self, **environment):
        """What the process finds when its runtime was called with LISTEN_FDS=1 and descriptor 3."""
        box = self.container().shell("[ -e /proc/self/fd/3 ] && echo 3; echo $LISTEN_FDS $LISTEN_PID")
        box.bundle.write()
        source = os.open("/dev/null", os.O_RDONLY)
        self.addCleanup(os.close, source)

        def place():
            os.dup2(source, 30)  # it may be 3 already, and dup2 onto itself changes nothing
            os.dup2(30, 3, inheritable=True)

        process = subprocess.Popen(
            self.runtime.command("run", "--bundle", box.bundle.path, box.id), env={**ENVIRONMENT, **environment},
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, close_fds=False, preexec_fn=place)
        out, err = process.communicate(timeout=20)
        self.assertEqual((process.returncode, err), (0, b""))
        return out.decode()

    @differs(runc="1.1 wants LISTEN_PID as well", crun="1.8 sets one of the two variables only")
    def test_activation_sockets_are_passed_on(self):
        self.assertEqual(self.with_activation_sockets(LISTEN_FDS="1"), "3\n1 1\n")

    @differs(crun="1.8 passes them on")
    def test_activation_sockets_of_another_process_are_not_passed_on(self):
        self.assertEqual(self.with_activation_sockets(LISTEN_FDS="1", LISTEN_PID="1"), "\n")


def _is_open(descriptor):
    return os.path.exists(f"/proc/self/fd/{descriptor}")


class Terminals(Case):
    def console(self):
        socket = ConsoleSocket(os.path.join(self.work, "console.sock"))
        self.addCleanup(socket.close)
        return socket

    def test_a_console_socket_gets_the_master_of_the_terminal(self):
        box = self.container().shell("tty; read line; echo got $line")
        box.config["process"]["terminal"] = True
        socket = self.console()

        self.succeed(box.create("--console-socket", socket.path))
        terminal = socket.receive()
        self.addCleanup(terminal.close)
        self.succeed(box.start())
        terminal.read_until("/dev/pts/0")
        terminal.write("hello\n")

        self.assertIn("got hello", terminal.read_until("got hello"))

    def test_the_terminal_has_the_size_of_the_config(self):
        box = self.container().args("stty", "size")
        box.config["process"]["terminal"] = True
        box.config["process"]["consoleSize"] = {"height": 33, "width": 111}
        socket = self.console()

        self.succeed(box.create("--console-socket", socket.path))
        terminal = socket.receive()
        self.addCleanup(terminal.close)
        self.succeed(box.start())

        self.assertIn("33 111", terminal.read_until("33 111"))

    def test_dev_console_is_the_terminal(self):
        box = self.container().shell("echo through > /dev/console")
        box.config["process"]["terminal"] = True
        socket = self.console()

        self.succeed(box.create("--console-socket", socket.path))
        terminal = socket.receive()
        self.addCleanup(terminal.close)
        self.succeed(box.start())

        self.assertIn("through", terminal.read_until("through"))

    def test_the_terminal_belongs_to_the_user_of_the_process(self):
        box = self.container().shell("stat -c %u $(tty); echo ok > $(tty)")
        box.config["process"]["terminal"] = True
        box.config["process"]["user"] = {"uid": 1000, "gid": 1000}
        socket = self.console()

        self.succeed(box.create("--console-socket", socket.path))
        terminal = socket.receive()
        self.addCleanup(terminal.close)
        self.succeed(box.start())

        self.assertIn("1000", terminal.read_until("ok"))

    def test_a_terminal_and_a_detached_create_need_a_console_socket(self):
        box = self.container().args("sh")
        box.config["process"]["terminal"] = True

        self.fails(box.create(), "console" if self.kind != "crun" else "")

        self.is_gone(box)

    def test_a_foreground_terminal_passes_keys_output_and_the_exit_code(self):
        box = self.container().shell("read line; echo got $line; exit 5")
        box.config["process"]["terminal"] = True
        box.bundle.write()

        person = Foreground(self.runtime.command("run", "--bundle", box.bundle.path, box.id))
        self.addCleanup(person.terminal.close)
        person.terminal.write("hello\n")
        text = person.terminal.read_until("got hello")

        self.assertIn("got hello", text)
        self.assertEqual(person.wait(), 5)

    @differs(crun="1.8 loses the resize")
    def test_a_foreground_terminal_follows_a_resize(self):
        box = self.container().shell("stty size; while [ \"$(stty size)\" != '50 132' ]; do sleep 0.05; done; stty size")
        box.config["process"]["terminal"] = True
        box.bundle.write()

        person = Foreground(self.runtime.command("run", "--bundle", box.bundle.path, box.id), rows=30, columns=90)
        self.addCleanup(person.terminal.close)
        first = person.terminal.read_until("30 90")
        person.terminal.resize(50, 132)
        second = person.terminal.read_until("50 132")

        self.assertIn("30 90", first)
        self.assertIn("50 132", second)
        self.assertEqual(person.wait(), 0)

    def test_ctrl_c_on_a_foreground_terminal_interrupts_the_process(self):
        box = self.container().shell("trap 'echo caught; exit 3' INT; echo ready; while true; do sleep 0.05; done")
        box.config["process"]["terminal"] = True
        box.bundle.write()

        person = Foreground(self.runtime.command("run", "--bundle", box.bundle.path, box.id))
        self.addCleanup(person.terminal.close)
        person.terminal.read_until("ready")
        person.terminal.write("\x03")
        text = person.terminal.read_until("caught")

        self.assertIn("caught", text)
        self.assertEqual(person.wait(), 3)

    def test_a_foreground_terminal_is_restored_at_the_end(self):
        box = self.container().args("true")
        box.config["process"]["terminal"] = True
        box.bundle.write()

        person = Foreground(self.runtime.command("run", "--bundle", box.bundle.path, box.id))
        self.addCleanup(person.terminal.close)
        before = termios.tcgetattr(person.terminal.master)
        self.assertEqual(person.wait(), 0)

        self.assertTrue(before[3] & termios.ECHO)

    @differs(crun="1.8 may leave a process of its own behind")
    def test_exec_gets_a_terminal_of_its_own(self):
        box = self.container().args("sleep", "100")
        self.succeed(box.run_detached())
        socket = self.console()

        self.succeed(box.exec("sh", "-c", "tty; exit 0",
                              options=["--tty", "--detach", "--console-socket", socket.path]))
        terminal = socket.receive()
        self.addCleanup(terminal.close)

        self.assertIn("/dev/pts/", terminal.read_until("/dev/pts/"))

    def test_a_foreground_exec_on_a_terminal_gives_the_exit_code(self):
        box = self.container().args("sleep", "100")
        self.succeed(box.run_detached())

        person = Foreground(self.runtime.command("exec", "--tty", box.id, "sh", "-c", "stty size; exit 6"), 31, 91)
        self.addCleanup(person.terminal.close)
        text = person.terminal.read_until("31 91")

        self.assertIn("31 91", text)
        self.assertEqual(person.wait(), 6)

"""Standard streams and terminals: what arrives, who owns it, and how it ends.

SPDX-License-Identifier: Apache-2.0
"""

import os
import signal
import subprocess
import termios

from rungtest import host
from rungtest.runtime import ENVIRONMENT
from rungtest.terminal import ConsoleSocket, Foreground

from conformance import facts


def _on_terminal(t, rows=24, columns=80):
    t.box.bundle.write()
    return Foreground(t.runtime.command("run", "--bundle", t.box.bundle.path, t.box.id), rows, columns)


def _console(t):
    console = ConsoleSocket(os.path.join(t.work, "console"))
    t.consoles.append(console)
    return console


def input_reaches_the_process(t):
    t.shell("read a; echo got $a; cat", stdin="one\ntwo\nthree\n")


def the_outputs_stay_apart(t):
    result = t.shell("echo out; echo err >&2; echo out2")
    t.note("errors", result.err)


def a_large_input_and_output(t):
    t.shell("wc -c", stdin="x" * 1000000)
    t.box.shell("yes 0123456789abcde | head -c 1000000")
    t.note("bytes", len(t.box.run().out))


def closed_streams(t):
    for closed in ((0,), (1,), (2,), (0, 1, 2)):
        def _close(closed=closed):
            for number in closed:
                os.close(number)
        t.box.shell("exit 7")
        t.step(f"run without {closed}", t.box.run(prepare=_close))


def what_is_behind_closed_streams(t):
    def _close():
        os.close(0)
    t.inside(prepare=_close)


def a_user_can_open_its_error_stream_again(t):
    t.process["user"] = {"uid": 1000, "gid": 1000}
    result = t.shell("echo again >/dev/stderr; echo once more >/proc/self/fd/1")
    t.note("errors", result.err)


def the_owner_of_files_that_are_streams(t):
    t.process["user"] = {"uid": 1000, "gid": 1001}
    out = t.file("out")
    t.box.bundle.write()
    with open(out, "wb") as file:
        code = subprocess.run(t.runtime.command("run", "--detach", "--pid-file", t.box.pid_file, "--bundle", t.box.bundle.path, t.box.id), env=ENVIRONMENT,
                              stdin=subprocess.DEVNULL, stdout=file, stderr=file, check=False).returncode
    t.box.remember_pid()
    t.note("exit code", code)
    t.note("owner", f"{os.stat(out).st_uid}:{os.stat(out).st_gid}")


def the_hosts_null_device_keeps_its_owner(t):
    before = os.stat("/dev/null")
    t.process["user"] = {"uid": 1000, "gid": 1000}
    t.detach()
    t.box.exec("true", options=["--user", "1000:1000"])
    after = os.stat("/dev/null")
    t.must((before.st_uid, before.st_gid) == (after.st_uid, after.st_gid) or after.st_uid != 1000, "the host's /dev/null has another owner")
    t.note("owner", "looked at")


def the_end_of_a_stream_is_seen(t):
    t.box.shell("echo last; exec sleep 0.3 >/dev/null 2>&1 </dev/null")
    t.run()


def a_process_that_outlives_the_first_one(t):
    t.box.bundle.drop_namespace("pid")
    t.shell("sleep 3 >/dev/null 2>&1 & echo started")
    t.left("after run")


def a_signal_to_a_foreground_run(t):
    for name in ("TERM", "INT", "HUP", "USR1"):
        t.box.shell(f"trap 'echo got {name}; exit 9' {name}; : >/ready; while :; do sleep 0.02; done")
        t.box.bundle.write()
        process = subprocess.Popen(t.runtime.command("run", "--bundle", t.box.bundle.path, t.box.id), env=ENVIRONMENT, stdin=subprocess.DEVNULL,
                                   stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        host.wait_until(lambda: os.path.exists(t.box.bundle.inside("/ready")), 10)
        process.send_signal(getattr(signal, f"SIG{name}"))
        out, _ = process.communicate(timeout=20)
        t.note(name, f"{process.returncode} {out.decode().strip()}")
        os.unlink(t.box.bundle.inside("/ready"))


def a_terminal_through_a_console_socket(t):
    t.process["terminal"] = True
    t.process["args"] = ["/bin/probe"]
    console = _console(t)
    t.create("--console-socket", console.path)
    terminal = console.receive()
    t.start()
    t.note_all("inside", facts.of_probe(terminal.read_all().replace("\r", "")))
    terminal.close()


def a_terminal_of_a_user(t):
    t.process["terminal"] = True
    t.process["user"] = {"uid": 1000, "gid": 1000}
    t.process["args"] = ["/bin/probe"]
    console = _console(t)
    t.create("--console-socket", console.path)
    terminal = console.receive()
    t.start()
    t.note_all("inside", facts.of_probe(terminal.read_all().replace("\r", "")))
    terminal.close()


def the_size_of_a_terminal(t):
    t.process["terminal"] = True
    t.process["consoleSize"] = {"height": 33, "width": 111}
    t.process["args"] = ["stty", "size"]
    console = _console(t)
    t.create("--console-socket", console.path)
    terminal = console.receive()
    t.start()
    t.note("size", terminal.read_all().strip())
    terminal.close()


def a_terminal_without_a_console_socket(t):
    t.process["terminal"] = True
    t.create()
    t.left("after create")
    t.box.args("true")
    t.detach()
    t.left("after run")


def a_console_socket_without_a_terminal(t):
    console = _console(t)
    t.create("--console-socket", console.path)
    t.left("after create")


def a_console_socket_that_does_not_exist(t):
    t.process["terminal"] = True
    t.create("--console-socket", os.path.join(t.work, "missing"))
    t.left("after create")


def a_terminal_of_exec(t):
    t.detach()
    console = _console(t)
    if t.exec("/bin/probe", options=["--tty", "--detach", "--console-socket", console.path]).code == 0:
        terminal = console.receive()
        t.note_all("exec", facts.of_probe(terminal.read_all().replace("\r", "")))
        terminal.close()


def a_terminal_of_exec_without_a_console_socket(t):
    t.detach()
    t.exec("true", options=["--tty", "--detach"])


def a_foreground_terminal(t):
    t.process["terminal"] = True
    t.box.shell("read line; echo got $line; tty; stty size; exit 5")
    foreground = _on_terminal(t, 30, 90)
    foreground.terminal.write("typed\n")
    t.note("exit code", foreground.wait())
    t.note("output", foreground.terminal.read_all().replace("\r", ""))
    foreground.terminal.close()


def a_foreground_terminal_is_resized(t):
    t.process["terminal"] = True
    t.box.shell("trap 'stty size; exit 0' WINCH; echo ready; while :; do sleep 0.02; done")
    foreground = _on_terminal(t)
    foreground.terminal.read_until("ready")
    foreground.terminal.resize(40, 100)
    t.note("output", foreground.terminal.read_until("40 100").count("40 100"))
    t.note("exit code", foreground.wait())
    foreground.terminal.close()


def keys_that_interrupt(t):
    t.process["terminal"] = True
    t.box.shell("trap 'echo interrupted; exit 3' INT; echo ready; while :; do sleep 0.02; done")
    foreground = _on_terminal(t)
    foreground.terminal.read_until("ready")
    foreground.terminal.write("\x03")
    t.note("interrupted", "interrupted" in foreground.terminal.read_until("interrupted"))
    t.note("exit code", foreground.wait())
    foreground.terminal.close()


def the_callers_terminal_is_as_before(t):
    t.process["terminal"] = True
    t.box.args("true")
    t.box.bundle.write()
    foreground = Foreground(["/bin/sh", "-c", f"stty -a >{t.work}/before; {' '.join(t.runtime.command('run', '--bundle', t.box.bundle.path, t.box.id))}; "
                                              f"stty -a >{t.work}/after"])
    foreground.terminal.read_all()
    foreground.wait()
    foreground.terminal.close()
    same = open(os.path.join(t.work, "before"), encoding="ascii").read() == open(os.path.join(t.work, "after"), encoding="ascii").read()
    t.note("terminal", "as before" if same else "changed")


def a_large_output_on_a_terminal(t):
    t.process["terminal"] = True
    t.box.shell("stty raw; yes 0123456789abcde | head -c 200000; echo; echo end")
    foreground = _on_terminal(t)
    text = foreground.terminal.read_all().replace("\r", "")
    t.note("exit code", foreground.wait())
    t.note("the last line", text.strip().splitlines()[-1])
    t.note("bytes", text.count("0123456789abcde"))
    foreground.terminal.close()


def a_hang_up_of_the_terminal(t):
    t.process["terminal"] = True
    t.box.shell("trap 'exit 1' HUP; echo ready; while :; do sleep 0.05; done")
    console = _console(t)
    t.create("--console-socket", console.path)
    terminal = console.receive()
    t.start()
    terminal.read_until("ready")
    terminal.close()
    t.box.wait_stopped()
    t.state()


def echo_and_line_modes_of_a_terminal(t):
    t.process["terminal"] = True
    t.box.args("sleep", "100")
    console = _console(t)
    t.create("--console-socket", console.path)
    terminal = console.receive()
    modes = termios.tcgetattr(terminal.master)
    t.note("echo", bool(modes[3] & termios.ECHO))
    t.note("canonical", bool(modes[3] & termios.ICANON))
    terminal.close()


def an_error_text_of_a_hundred_kilobytes(t):
    """The caller reads only after the end; the text has to fit into a pipe or be cut (runc#2530)."""
    t.box.args("x" * 100000)
    reading, writing = os.pipe()
    t.box.bundle.write()
    child = t.background(*t.runtime.command("run", "--bundle", t.box.bundle.path, t.box.id), stdout=writing, stderr=writing)
    os.close(writing)
    try:
        t.note("exit code", child.wait(8 * host.PATIENCE))
    except subprocess.TimeoutExpired:
        t.note("exit code", "none: it hangs")
        t.must(False, "run ends although nobody reads its error")
    os.close(reading)


def a_window_signal_without_a_terminal(t):
    t.box.shell("trap 'echo resized' WINCH; : >/ready; for i in 1 2 3 4 5; do sleep 0.1; done; echo done")
    t.box.bundle.write()
    child = t.background(*t.runtime.command("run", "--bundle", t.box.bundle.path, t.box.id), stdout=subprocess.PIPE)
    host.wait_until(lambda: os.path.exists(t.box.bundle.inside("/ready")), 10, "the script's /ready")
    child.send_signal(signal.SIGWINCH)
    t.note("output", child.stdout.read().decode())
    t.note("exit code", child.wait())


def a_foreground_terminal_without_a_terminal_of_the_caller(t):
    t.process["terminal"] = True
    t.box.args("sh", "-c", "test -t 0 && echo a terminal")
    result = t.box.run(prepare=os.setsid)
    t.must(result.code == 0 and "a terminal" in result.out or result.code == 1 and len(result.err.strip().splitlines()) == 1,
           f"a terminal or one clear error: {result}")

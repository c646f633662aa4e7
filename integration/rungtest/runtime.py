"""The runtime under test: which program, how it is called, what it answered.

SPDX-License-Identifier: Apache-2.0
"""

import os
import shutil
import subprocess
import tempfile
import time

from rungtest import host

PROJECT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
DEFAULT_RUNTIME = os.path.join(PROJECT, "build", "rung")
SECONDS = 20

# What a runtime is given; nothing of the tester's environment gets in.
ENVIRONMENT = {"PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "HOME": "/root", "LANG": "C.UTF-8"}


class Finished:
    """How a call ended. Output went through files: a detached container keeps its standard streams open."""

    def __init__(self, args, code, out, err):
        self.args, self.code, self.out, self.err = args, code, out, err

    def __repr__(self):
        return f"{' '.join(self.args)}: exit {self.code}\n  out: {self.out[-1500:]!r}\n  err: {self.err[-1500:]!r}"


class Runtime:
    def __init__(self, path, root):
        self.path = path
        self.root = root  # its --root
        self.options = []  # further global options

    def command(self, *args):
        return [self.path, "--root", self.root, *self.options, *args]

    def call(self, *args, cwd=None, stdin=None, seconds=SECONDS, pass_fds=(), env=None, prepare=None, through=()):
        """Runs one verb to its end. `stdin` is text; without it standard input is /dev/null. `through` is a command to call it with."""
        return run([*through, *self.command(*args)], cwd=cwd, stdin=stdin, seconds=seconds, pass_fds=pass_fds, env=env,
                   prepare=prepare)


def run(command, *, cwd=None, stdin=None, seconds=SECONDS, pass_fds=(), env=None, prepare=None):
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err, tempfile.TemporaryFile() as source:
        if stdin is not None:
            source.write(stdin.encode())
            source.seek(0)
        process = subprocess.Popen(
            command, cwd=cwd, env=env if env is not None else ENVIRONMENT, pass_fds=pass_fds, preexec_fn=prepare,
            stdin=source if stdin is not None else subprocess.DEVNULL, stdout=out, stderr=err)
        code = _wait(process, seconds)
        if code is None:
            raise AssertionError(f"no end after {seconds * host.PATIENCE} s: {' '.join(command)}\n{_text(out)}{_text(err)}")
        return Finished(command[:1] + command[3:], code, _text(out), _text(err))


def _wait(process, seconds):
    """Its exit code, or None when it had to be killed. Reaps orphans of containers meanwhile, as a shim does."""
    deadline = time.monotonic() + seconds * host.PATIENCE
    while time.monotonic() < deadline:
        try:
            return process.wait(0.05)
        except subprocess.TimeoutExpired:
            host.reap_orphans()
    process.kill()
    process.wait()
    return None


def _text(file):
    file.seek(0)
    return file.read().decode(errors="replace")


def kind_of(path):
    """Which dialect the program speaks; a build of rung may have any path."""
    name = os.path.basename(path)
    return name if name in ("runc", "crun") else "rung"


def why_no_checkpoint(path):
    """Why this runtime cannot checkpoint on this machine; None when it can."""
    if shutil.which("criu") is None:
        return "there is no criu on this machine"
    if subprocess.run(["criu", "check"], capture_output=True, check=False).returncode != 0:
        return "this criu does not work on this kernel"
    if subprocess.run([path, "checkpoint", "--help"], capture_output=True, check=False).returncode != 0:
        return "the runtime does not checkpoint"
    return None


def find_runtime():
    """RUNTIME names the program: rung (the build), runc or crun of the system, or a path."""
    wanted = os.environ.get("RUNTIME", "rung")
    if wanted == "rung":
        wanted = DEFAULT_RUNTIME
    path = shutil.which(wanted)
    if path is None:
        raise SystemExit(f"there is no runtime at {wanted}; build it with `make`, or set RUNTIME")
    return os.path.abspath(path)

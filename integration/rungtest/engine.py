"""A daemon of an engine for the length of the tests: its own directories, network namespace and mount namespace.

In a network namespace of its own a daemon's bridge and firewall rules are nobody else's, and end with it. A /run of its
own does the same for locks, plugin sockets, shims' sockets and the runtime's state.
SPDX-License-Identifier: Apache-2.0
"""

import ctypes
import os
import secrets
import shutil
import signal
import subprocess
import tempfile
import time

from rungtest import host, runtime

CLONE_NEWNS, CLONE_NEWNET = 0x00020000, 0x40000000
MS_BIND, MS_REC, MS_PRIVATE = 0x1000, 0x4000, 0x40000


def enter_own_namespaces(keep=()):
    """`keep` are directories below /run that stay in sight."""
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.unshare(CLONE_NEWNS | CLONE_NEWNET) != 0 or libc.mount(b"", b"/", None, MS_REC | MS_PRIVATE, None) != 0:
        raise OSError(ctypes.get_errno(), "namespaces for a daemon")
    subprocess.run(["ip", "link", "set", "lo", "up"], check=True)
    kept = {path: os.open(path, os.O_PATH) for path in keep}
    if libc.mount(b"tmpfs", b"/run", b"tmpfs", 0, b"mode=755") != 0:
        raise OSError(ctypes.get_errno(), "a /run for a daemon")
    for path, descriptor in kept.items():
        os.mkdir(path)
        if libc.mount(f"/proc/self/fd/{descriptor}".encode(), path.encode(), None, MS_BIND | MS_REC, None) != 0:
            raise OSError(ctypes.get_errno(), f"{path} for a daemon")
        os.close(descriptor)


class Engine:
    def __init__(self, name):
        host.become_subreaper()
        self.name = name
        # No underscore: containerd takes no namespace that has one beside a hyphen or at its end.
        self.work = os.path.join(os.path.realpath(tempfile.gettempdir()), f"rung-{name}-{secrets.token_hex(4)}")
        os.mkdir(self.work, 0o700)
        self.word = os.path.basename(self.work)  # in the name of everything that the engine makes
        self.log = self.path("log")
        self.process = None
        os.mkdir(self.path("home"))

    def path(self, *names):
        return os.path.join(self.work, *names)

    def write(self, name, text, mode=0o644):
        path = self.path(name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        os.chmod(path, mode)
        return path

    def environment(self):
        return {**runtime.ENVIRONMENT, "HOME": self.path("home")}

    def start(self, command, is_up, seconds=60, prepare=enter_own_namespaces):
        self._started = command, is_up
        with open(self.log, "ab") as log:
            self.process = subprocess.Popen(command, env=self.environment(), stdin=subprocess.DEVNULL, stdout=log,
                                            stderr=log, start_new_session=True, preexec_fn=prepare)
        deadline = time.monotonic() + seconds * host.PATIENCE
        while not is_up():
            if self.process.poll() is not None or time.monotonic() > deadline:
                raise SystemExit(f"{command[0]} does not come up:\n{self.complaints()}")
            time.sleep(0.2)

    def restart(self, how=signal.SIGKILL):
        """Ends the daemon, and starts it again in the same namespaces."""
        command, is_up = self._started
        namespaces = [os.open(f"/proc/{self.process.pid}/ns/{name}", os.O_RDONLY) for name in ("mnt", "net")]
        mount, network = (f"/proc/{os.getpid()}/fd/{namespace}" for namespace in namespaces)
        self.process.send_signal(how)
        self.process.wait(60)
        self.start(["nsenter", f"--mount={mount}", f"--net={network}", *command], is_up, prepare=None)
        self._started = command, is_up
        for namespace in namespaces:
            os.close(namespace)

    def inside(self, *command):
        """The command as one that runs where the daemon lives."""
        return ["nsenter", "--target", str(self.process.pid), "--mount", "--net", *command]

    def complaints(self):
        """The last lines of the daemon's log, and of those that are errors."""
        with open(self.log, encoding="utf-8", errors="replace") as file:
            lines = [line[:400] for line in file]
        errors = [line for line in lines[:-2] if "level=error" in line or "level=fatal" in line]
        return "".join(errors[-4:] + lines[-2:])

    def stop(self):
        """Ends the daemon and whatever it left; returns what had to be ended or removed by force."""
        if self.process and self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
            try:
                self.process.wait(30)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()
        left = [pid for pid in host.processes_of(self.word) if host.is_alive(pid)]
        cgroups = [path for path in host.cgroup_directories(self.word) if not path.endswith(self.word)]
        host.sweep(self.word, self.work)
        shutil.rmtree(self.work, ignore_errors=True)
        return [f"process {pid}" for pid in left] + [f"cgroup {path}" for path in cgroups]

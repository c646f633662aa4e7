"""A dockerd of our own, for the length of the tests: its own directories, network namespace and mount namespace.

In a network namespace of its own the daemon's bridge and firewall rules are nobody else's, and end with it.
SPDX-License-Identifier: Apache-2.0
"""

import ctypes
import json
import os
import shutil
import signal
import subprocess
import tempfile
import time

from rungtest import host, runtime
from rungtest.bundle import make_rootfs

BRIDGE = "10.92.0.1/16"
CLONE_NEWNS, CLONE_NEWNET = 0x00020000, 0x40000000
MS_REC, MS_PRIVATE = 0x4000, 0x40000


class Daemon:
    """`runtimes` maps a name to {"path": ..., "runtimeArgs": [...]}, as in daemon.json."""

    def __init__(self, runtimes):
        self.work = os.path.realpath(tempfile.mkdtemp(prefix="rung-docker-"))
        self.socket = os.path.join(self.work, "docker.sock")
        self.log = os.path.join(self.work, "log")
        self.cgroup_parent = f"/{os.path.basename(self.work)}"
        self._write("daemon.json", json.dumps({"runtimes": runtimes}))
        os.mkdir(os.path.join(self.work, "home"))
        self.process = None

    def __enter__(self):
        try:
            self._start()
            self._import_image()
        except BaseException:
            self.stop()
            raise
        return self

    def __exit__(self, *_):
        self.stop()

    def call(self, *arguments, stdin=None, seconds=60):
        """The docker client."""
        return runtime.run(self.command(*arguments), stdin=stdin, seconds=seconds, env=self._environment())

    def command(self, *arguments):
        return ["docker", "--host", f"unix://{self.socket}", *arguments]

    def log_end(self):
        with open(self.log, encoding="utf-8", errors="replace") as file:
            return file.read()[-3000:]

    def _environment(self):
        return {**runtime.ENVIRONMENT, "HOME": os.path.join(self.work, "home")}

    def _write(self, name, text):
        path = os.path.join(self.work, name)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        return path

    def _start(self):
        host.become_subreaper()
        paths = {name: os.path.join(self.work, name) for name in ("data", "exec", "pid", "daemon.json")}
        with open(self.log, "wb") as log:
            self.process = subprocess.Popen(
                ["dockerd", "--config-file", paths["daemon.json"], "--data-root", paths["data"], "--exec-root",
                 paths["exec"], "--pidfile", paths["pid"], "--host", f"unix://{self.socket}", "--bip", BRIDGE,
                 "--cgroup-parent", self.cgroup_parent],
                env=self._environment(), stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True,
                preexec_fn=self._enter_own_namespaces)
        deadline = time.monotonic() + 60
        while self.call("version").code != 0:
            if self.process.poll() is not None or time.monotonic() > deadline:
                raise SystemExit(f"dockerd does not come up:\n{self.log_end()}")
            time.sleep(0.2)

    @staticmethod
    def _enter_own_namespaces():
        libc = ctypes.CDLL(None, use_errno=True)
        if libc.unshare(CLONE_NEWNS | CLONE_NEWNET) != 0 or libc.mount(b"", b"/", None, MS_REC | MS_PRIVATE, None) != 0:
            raise OSError(ctypes.get_errno(), "namespaces for dockerd")
        subprocess.run(["ip", "link", "set", "lo", "up"], check=True)
        # A /run of its own: the firewall tools' lock, plugin sockets and the runtime's state touch nobody else's.
        if libc.mount(b"tmpfs", b"/run", b"tmpfs", 0, b"mode=755") != 0:
            raise OSError(ctypes.get_errno(), "a /run for dockerd")

    def _import_image(self):
        root = os.path.join(self.work, "image", "box", "rootfs")
        make_rootfs(root)
        archive = os.path.join(self.work, "image.tar")
        subprocess.run(["tar", "-C", root, "-cf", archive, "."], check=True)
        done = self.call("import", "--change", "CMD [\"sh\"]", "--change",
                         "ENV PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", archive, "box")
        if done.code != 0:
            raise SystemExit(f"no image: {done}\n{self.log_end()}")

    def stop(self):
        """Ends the daemon and whatever it left; returns what had to be ended or removed by force."""
        if self.process and self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
            try:
                self.process.wait(30)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()
        word = os.path.basename(self.work)
        left = [pid for pid in host.processes_of(word) if host.is_alive(pid)]
        cgroups = [path for path in host.cgroup_directories(word) if not path.endswith(word)]
        host.sweep(word, self.work)
        shutil.rmtree(self.work, ignore_errors=True)
        return [f"process {pid}" for pid in left] + [f"cgroup {path}" for path in cgroups]

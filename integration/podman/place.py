"""A place where podman keeps everything to itself: a mount namespace with its own /run, and users of our own making.

podman has no daemon; a process that only sleeps holds the namespaces. The ordinary user and its ranges of subordinate ids
exist in this mount namespace only.
SPDX-License-Identifier: Apache-2.0
"""

import contextlib
import os
import subprocess

from rungtest import host, runtime
from rungtest.engine import Engine, enter_own_namespaces
from rungtest.image import write_archive

BOX, PAUSE = "test.example/box:1", "test.example/pause:1"
PARENT = "/libpod_parent"
USER, FIRST, COUNT = 23456, 2000000, 65536

# No network by default: that would take a program more. An empty list of limits: podman's own are above what root has here.
CONFIGURATION = """[containers]
netns = "none"
default_ulimits = ["nofile=1024:1024", "nproc=4096:4096"]
[engine]
events_logger = "file"
lock_type = "file"
infra_image = "{pause}"
runtime_supports_json = ["{name}"]
runtime_supports_nocgroup = ["{name}"]
"""
STORAGE = """[storage]
driver = "overlay"
graphroot = "{work}/root"
runroot = "{work}/run"
"""


class Place(Engine):
    """`rootless` says whether podman's commands run as root or as the user, `manager` who makes the cgroups."""

    def __init__(self, runtime_path, rootless, manager="cgroupfs"):
        super().__init__("podman")
        self.runtime_path, self.rootless, self.manager = runtime_path, rootless, manager
        os.chmod(self.work, 0o755)
        self.others = host.cgroup_directories(PARENT)
        self.home = self.path("user")
        for directory in (self.home, self.path("root"), self.path("run"), self.path("tmp")):
            os.mkdir(directory)
            if rootless:
                os.chown(directory, USER, USER)
        self.write("containers.conf", CONFIGURATION.format(pause=PAUSE, name=os.path.basename(runtime_path)))
        self.write("storage.conf", STORAGE.format(work=self.work))
        for name, line in (("passwd", f"tester:x:{USER}:{USER}::{self.home}:/bin/sh"), ("group", f"tester:x:{USER}:"),
                           ("subuid", f"tester:{FIRST}:{COUNT}"), ("subgid", f"tester:{FIRST}:{COUNT}")):
            self.write(f"etc/upper/{name}", self._host_text(f"/etc/{name}") + line + "\n")
        os.mkdir(self.path("etc", "work"))

    @staticmethod
    def _host_text(path):
        try:
            with open(path, encoding="utf-8") as file:
                return file.read()
        except FileNotFoundError:
            return ""

    def __enter__(self):
        try:
            kept = ("/run/systemd", "/run/dbus") if self.manager == "systemd" else ()
            self.start(["sleep", "infinity"], self._prepare, prepare=lambda: enter_own_namespaces(kept))
            archive = self.path("images.tar")
            write_archive(archive, self.work, {BOX: ["sh"], PAUSE: ["sleep", "100000"]})
            for name in (BOX, PAUSE):
                done = self.podman("pull", "--quiet", f"oci-archive:{archive}:{name}")
                if done.code != 0:
                    raise SystemExit(f"no image: {done}")
        except BaseException:
            self.stop()
            raise
        return self

    def _prepare(self):
        """The user's names, and its /run/user; these end with the namespace."""
        if os.readlink(f"/proc/{self.process.pid}/ns/mnt") == os.readlink("/proc/self/ns/mnt"):
            return False
        script = f"""mkdir -p /run/user/{USER} && chown {USER}:{USER} /run/user/{USER} &&
mount -t overlay -o lowerdir=/etc,upperdir={self.path("etc/upper")},workdir={self.path("etc/work")} etc /etc"""
        return subprocess.run(self.inside("sh", "-c", script), check=False).returncode == 0

    def environment(self):
        return {**super().environment(), "CONTAINERS_CONF": self.path("containers.conf"),
                "CONTAINERS_STORAGE_CONF": self.path("storage.conf"),
                **({"HOME": self.home, "XDG_RUNTIME_DIR": f"/run/user/{USER}"} if self.rootless else {})}

    def stop(self):
        # A monitor ends a moment after its container.
        with contextlib.suppress(AssertionError):  # then it is among what is left
            host.wait_until(self._is_quiet if self.manager == "systemd" else self._remove_cgroups_of_podman, 10)
        return super().stop()

    def _is_quiet(self):
        # Scopes go with their processes.
        return not [pid for pid in host.processes_of(self.word) if pid != self.process.pid and host.is_alive(pid)]

    def _remove_cgroups_of_podman(self):
        """podman 4.3 leaves the cgroups that it makes itself, for its monitors and on v1 for pods; a container's has libpod-
        in its name. Those of `play kube` have a parent that cannot be chosen, and others may use it."""
        for cgroup in host.cgroup_directories(f"{self.word}/") + host.cgroup_directories(PARENT):
            if "libpod-" not in cgroup and cgroup not in self.others:
                with contextlib.suppress(OSError):
                    os.rmdir(cgroup)
        return not host.cgroup_directories(f"{self.word}/")

    def podman(self, *arguments, stdin=None, seconds=60):
        return runtime.run(self.command(*arguments), stdin=stdin, seconds=seconds, env=self.environment())

    def podman_with(self, descriptor, *arguments):
        """With a descriptor of ours as its descriptor 3."""
        return runtime.run(["sh", "-c", f'exec 3<&{descriptor}; exec "$@"', "sh", *self.command(*arguments)],
                           env=self.environment(), pass_fds=[descriptor])

    def command(self, *arguments):
        user = ["setpriv", "--reuid", str(USER), "--regid", str(USER), "--clear-groups"] if self.rootless else []
        return self.inside(*user, "podman", "--root", self.path("root"), "--runroot", self.path("run"), "--tmpdir",
                           self.path("tmp"), "--cgroup-manager", self.manager, "--runtime", self.runtime_path, *arguments)

"""A dockerd of our own, for the length of the tests.

SPDX-License-Identifier: Apache-2.0
"""

import json
import subprocess

from rungtest import runtime
from rungtest.bundle import make_rootfs
from rungtest.engine import Engine

BRIDGE = "10.92.0.1/16"


class Daemon(Engine):
    """`runtimes` maps a name to {"path": ..., "runtimeArgs": [...]}, as in daemon.json."""

    def __init__(self, runtimes):
        super().__init__("docker")
        self.socket = self.path("docker.sock")
        self.write("daemon.json", json.dumps({"runtimes": runtimes, "live-restore": True}))

    def __enter__(self):
        try:
            self.start(["dockerd", "--config-file", self.path("daemon.json"), "--data-root", self.path("data"),
                        "--exec-root", self.path("exec"), "--pidfile", self.path("pid"), "--host",
                        f"unix://{self.socket}", "--bip", BRIDGE, "--cgroup-parent", f"/{self.word}"],
                       lambda: self.call("version").code == 0)
            self._import_image()
        except BaseException:
            self.stop()
            raise
        return self

    def __exit__(self, *_):
        self.stop()

    def call(self, *arguments, stdin=None, seconds=60):
        """The docker client."""
        return runtime.run(self.command(*arguments), stdin=stdin, seconds=seconds, env=self.environment())

    def command(self, *arguments):
        return ["docker", "--host", f"unix://{self.socket}", *arguments]

    def _import_image(self):
        root = self.path("image", "box", "rootfs")
        make_rootfs(root)
        archive = self.path("image.tar")
        subprocess.run(["tar", "-C", root, "-cf", archive, "."], check=True)
        done = self.call("import", "--change", "CMD [\"sh\"]", "--change",
                         "ENV PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", archive, "box")
        if done.code != 0:
            raise SystemExit(f"no image: {done}\n{self.complaints()}")

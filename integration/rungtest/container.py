"""One container of a test: its bundle, its id, and the verbs of the runtime applied to it.

SPDX-License-Identifier: Apache-2.0
"""

import json
import os

from rungtest import host
from rungtest.bundle import Bundle


class Container:
    def __init__(self, runtime, work, identifier, cgroup_parent):
        self.runtime = runtime
        self.id = identifier
        self.cgroup = f"{cgroup_parent}/{identifier}"
        self.bundle = Bundle(os.path.join(work, identifier), self.cgroup)
        self.config = self.bundle.config
        self.pid_file = os.path.join(self.bundle.path, "pid")
        self.created_pid = None

    def shell(self, script):
        self.config["process"]["args"] = ["sh", "-c", script]
        return self

    def args(self, *args):
        self.config["process"]["args"] = list(args)
        return self

    def create(self, *options, **how):
        self.bundle.write()
        result = self.runtime.call("create", "--bundle", self.bundle.path, "--pid-file", self.pid_file, *options,
                                   self.id, **how)
        self.remember_pid()
        return result

    def run(self, *options, **how):
        self.bundle.write()
        result = self.runtime.call("run", "--bundle", self.bundle.path, "--pid-file", self.pid_file, *options, self.id,
                                   **how)
        self.remember_pid()
        return result

    def run_detached(self, *options, **how):
        return self.run("--detach", *options, **how)

    def start(self, **how):
        return self.runtime.call("start", self.id, **how)

    def exec(self, *args, options=(), **how):
        return self.runtime.call("exec", *options, self.id, *args, **how)

    def kill(self, signal="KILL", *options):
        return self.runtime.call("kill", *options, self.id, signal)

    def delete(self, *options):
        return self.runtime.call("delete", *options, self.id)

    def state(self):
        result = self.runtime.call("state", self.id)
        if result.code != 0:
            raise AssertionError(f"no state: {result}")
        return json.loads(result.out)

    def status(self):
        return self.state()["status"]

    def pid(self):
        with open(self.pid_file, encoding="ascii") as file:
            return int(file.read())

    def remember_pid(self):
        if os.path.exists(self.pid_file):
            with open(self.pid_file, encoding="ascii") as file:
                text = file.read()
            self.created_pid = int(text) if text else None

    def wait_stopped(self, seconds=10):
        """Until the runtime calls it stopped. Its init may stay a zombie of ours, as with a shim that is slow to reap."""
        host.wait_until(lambda: self.status() == "stopped", seconds, f"the end of {self.id}")

    def reap(self):
        """Collects the container's init, which is re-parented to us, and returns its wait status."""
        pid = self.created_pid
        host.wait_until(lambda: not host.is_alive(pid), 10, f"the end of process {pid}")
        try:
            return os.waitpid(pid, 0)[1]
        except ChildProcessError:
            return None

    def cgroup_file(self, controller, name):
        with open(host.cgroup_file(self.cgroup, controller, name), encoding="ascii") as file:
            return file.read().strip()

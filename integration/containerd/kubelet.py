"""What a kubelet does, for the batteries of containerd's plugin for Kubernetes: pods, containers, and what they say.

SPDX-License-Identifier: Apache-2.0
"""

import itertools
import os
import subprocess
import unittest

import grpc

from rungtest import host
from rungtest.runtime import find_runtime, kind_of

from containerd.cri import Client
from containerd.daemon import BOX, Daemon

POD, CONTAINER, NODE, TARGET = 0, 1, 2, 3  # whose namespace
EXITED = 2


class Kubelet(unittest.TestCase):
    maxDiff = None

    @classmethod
    def setUpClass(cls):
        path = find_runtime()
        cls.kind = kind_of(path)
        # As a kubelet does: with systemd where there is one.
        cls.daemon = Daemon(path, systemd=os.path.isdir("/run/systemd/system")).__enter__()
        cls.client = Client(cls.daemon.path("socket"))
        cls.addClassCleanup(cls._stop_daemon)
        cls.numbers = itertools.count(1)
        host.wait_until(cls._is_ready, 20, "a plugin that is ready")

    @classmethod
    def _is_ready(cls):
        try:
            conditions = cls.client.call("Status")["status"]["conditions"]
        except grpc.RpcError:
            return False
        return conditions and all(condition["status"] for condition in conditions)

    @classmethod
    def _stop_daemon(cls):
        cls.client.close()
        left = cls.daemon.stop()
        if left:
            raise AssertionError(f"left after the daemon: {left}")

    def setUp(self):
        self.addCleanup(self._remove_pods)

    def _remove_pods(self):
        for pod in self.call("ListPodSandbox")["items"]:
            try:
                self.call("StopPodSandbox", pod_sandbox_id=pod["id"])
            except grpc.RpcError as error:
                # The shim of a container that ends by itself just now is gone ("ttrpc: closed"); kubelet asks again as well.
                self.assertIn("ttrpc: closed", str(error))
                self.call("StopPodSandbox", pod_sandbox_id=pod["id"])
            self.call("RemovePodSandbox", pod_sandbox_id=pod["id"])
        # A kubelet makes the pods' cgroups, and removes them.
        if self.daemon.systemd:
            subprocess.run(["systemctl", "stop", f"{self.daemon.word}.slice"], check=True)
        for cgroup in host.cgroup_directories(f"{self.daemon.word}/"):
            os.rmdir(cgroup)

    def call(self, method, **fields):
        return self.client.call(method, **fields)

    def refused(self, method, **fields):
        """The words with which the engine refuses a call."""
        with self.assertRaises(grpc.RpcError) as caught:
            self.call(method, **fields)
        return caught.exception.details()

    def pod(self, annotations=None, dns_config=None, **linux):
        """A pod that runs; its id, and its configuration, which is needed again for each container."""
        name = f"pod{next(self.numbers)}"
        own_name = linux.get("security_context", {}).get("namespace_options", {}).get("network") != NODE
        config = {"metadata": {"name": name, "uid": name, "namespace": "tests"}, "hostname": name if own_name else "",
                  "log_directory": self.daemon.path("logs", name), "annotations": annotations or {},
                  "dns_config": dns_config or {}, "linux": {"cgroup_parent": self.parent_cgroup(name), **linux}}
        identifier = self.call("RunPodSandbox", config=config, runtime_handler="tested")["pod_sandbox_id"]
        return identifier, config

    def parent_cgroup(self, name):
        return f"{self.daemon.word}-{name}.slice" if self.daemon.systemd else f"/{self.daemon.word}/{name}"

    def create(self, pod, *command, linux=None, **fields):
        identifier, pod_config = pod
        name = f"c{next(self.numbers)}"
        options = {"namespace_options": {"pid": CONTAINER}, **(linux or {}).pop("security_context", {})}
        config = {"metadata": {"name": name}, "image": {"image": BOX}, "command": list(command), "log_path": f"{name}.log",
                  "linux": {"security_context": options, **(linux or {})}, **fields}
        container = self.call("CreateContainer", pod_sandbox_id=identifier, config=config,
                              sandbox_config=pod_config)["container_id"]
        return container, os.path.join(pod_config["log_directory"], f"{name}.log")

    def started(self, pod, *command, **how):
        container, log = self.create(pod, *(command or ("sleep", "100")), **how)
        self.call("StartContainer", container_id=container)
        return container, log

    def status(self, container):
        return self.call("ContainerStatus", container_id=container)["status"]

    def ended(self, container):
        host.wait_until(lambda: self.status(container)["state"] == EXITED, 10, "the end of the container")
        return self.status(container)

    def exec(self, container, *command, timeout=10):
        answer = self.call("ExecSync", container_id=container, cmd=list(command), timeout=timeout)
        return answer["exit_code"], answer["stdout"].decode(), answer["stderr"].decode()

    def lines_of(self, log):
        """(stream, text) of each line: a line of such a log is TIME STREAM F TEXT."""
        with open(log, encoding="utf-8") as file:
            return [tuple(line.rstrip("\n").split(" ", 3)[1::2]) for line in file]

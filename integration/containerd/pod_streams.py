"""Streams and logs of a pod's containers, as kubectl exec, attach, port-forward and a log's rotation need them.

SPDX-License-Identifier: Apache-2.0
"""

import json
import os
import struct
import urllib.parse

from rungtest import host

from containerd.kubelet import Kubelet
from containerd.websocket import WebSocket

IN, OUT, ERR, STATUS, SIZE = range(5)  # channels, remotecommand v4


class Streams(Kubelet):
    def stream(self, method, query="", protocol="v4.channel.k8s.io", **fields):
        url = urllib.parse.urlsplit(self.call(method, **fields)["url"])
        return WebSocket(self.daemon.inside("busybox", "nc"), url.netloc, url.path + query, protocol)

    def test_exec_keeps_the_outputs_apart_and_tells_the_exit_code(self):
        container, _ = self.started(self.pod())

        with self.stream("Exec", container_id=container, cmd=["sh", "-c", "echo out; echo err >&2; exit 4"], stdout=True,
                         stderr=True) as stream:
            channels = stream.everything()

        self.assertEqual((channels[OUT], channels[ERR]), (b"out\n", b"err\n"))
        status = json.loads(channels[STATUS])
        self.assertEqual((status["status"], status["details"]["causes"][0]["message"]), ("Failure", "4"))

    def test_exec_on_a_terminal_passes_keys_and_follows_a_resize(self):
        container, _ = self.started(self.pod())

        with self.stream("Exec", container_id=container, cmd=["sh"], tty=True, stdin=True, stdout=True) as stream:
            stream.send(IN, b"tty\n")
            self.assertIn("/dev/pts/", stream.text_until(OUT, "/dev/pts/"))
            stream.send(SIZE, b'{"Width": 101, "Height": 43}')
            stream.send(IN, b"until stty size | grep -q '43 101'; do sleep 0.1; done; echo re''sized; exit\n")
            stream.text_until(OUT, "resized")

            self.assertEqual(json.loads(stream.everything()[STATUS])["status"], "Success")

    def test_attach_reaches_the_first_process(self):
        container, log = self.started(self.pod(), "cat", stdin=True)

        with self.stream("Attach", container_id=container, stdin=True, stdout=True, stderr=True) as stream:
            stream.send(IN, b"hello\n")
            self.assertEqual(stream.text_until(OUT, "\n"), "hello\n")

        host.wait_until(lambda: self.lines_of(log) == [("stdout", "hello")], 10, "the line in the log")

    def test_attach_reaches_a_terminal(self):
        container, _ = self.started(self.pod(), "sh", stdin=True, tty=True)

        with self.stream("Attach", container_id=container, stdin=True, stdout=True, tty=True) as stream:
            stream.send(IN, b"echo at''tached; exit 6\n")
            stream.text_until(OUT, "attached")

        self.assertEqual(self.ended(container)["exit_code"], 6)

    def test_a_port_of_the_pod_is_reached(self):
        pod = self.pod()
        container, _ = self.started(pod, "nc", "-l", "-p", "8080", "-e", "echo", "served")
        host.wait_until(lambda: "8080" in self.exec(container, "netstat", "-lnt")[1], 10, "the listener")

        with self.stream("PortForward", "?port=8080", pod_sandbox_id=pod[0], port=[8080]) as stream:
            first = [stream.receive() for _ in range(2)]
            self.assertEqual(sorted(first), [(channel, struct.pack("<H", 8080)) for channel in (0, 1)])
            stream.text_until(0, "served")

    def test_after_a_rotation_the_log_goes_on_in_a_new_file(self):
        container, log = self.started(self.pod(), "sh", "-c", "echo one; while ! [ -e /go ]; do sleep 0.1; done; echo two")
        host.wait_until(lambda: self.lines_of(log) == [("stdout", "one")], 10, "the first line")

        os.rename(log, log + ".1")
        self.call("ReopenContainerLog", container_id=container)
        self.exec(container, "touch", "/go")

        host.wait_until(lambda: self.lines_of(log) == [("stdout", "two")], 10, "the second line")
        self.assertEqual(self.lines_of(log + ".1"), [("stdout", "one")])

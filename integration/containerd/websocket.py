"""The client's end of a WebSocket (RFC 6455), through a program that connects where the server can be reached.

SPDX-License-Identifier: Apache-2.0
"""

import os
import selectors
import struct
import subprocess
import time

from rungtest import host

BINARY, CLOSE, PING = 2, 8, 9


class WebSocket:
    """Messages of the protocol that kubelets speak: the first byte of each is its channel."""

    def __init__(self, connect, address, path, protocol):
        self._process = subprocess.Popen([*connect, *address.split(":")], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                         bufsize=0)
        self._data = b""
        self._send(f"GET {path} HTTP/1.1\r\nHost: {address}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
                   f"Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\nSec-WebSocket-Version: 13\r\n"
                   f"Origin: http://{address}\r\nSec-WebSocket-Protocol: {protocol}\r\n\r\n".encode())
        answer = self._until(lambda: b"\r\n\r\n" in self._data and self._data.index(b"\r\n\r\n") + 4)
        if not answer.startswith(b"HTTP/1.1 101 "):
            raise AssertionError(f"no WebSocket: {answer}")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._process.kill()
        self._process.wait()
        self._process.stdin.close()
        self._process.stdout.close()

    def send(self, channel, data):
        body = bytes([channel]) + data
        key = os.urandom(4)
        masked = bytes(byte ^ key[index % 4] for index, byte in enumerate(body))
        length = bytes([0x80 | len(body)]) if len(body) < 126 else struct.pack("!BH", 0x80 | 126, len(body))
        self._send(bytes([0x80 | BINARY]) + length + key + masked)

    def receive(self):
        """(channel, data) of the next message; None after the last one."""
        while True:
            head = self._take(2)
            length = head[1] & 0x7f
            if length > 125:
                length = int.from_bytes(self._take(2 if length == 126 else 8), "big")
            body = self._take(length)
            if head[0] & 0xf == CLOSE:
                return None
            if head[0] & 0xf != PING and body:
                return body[0], body[1:]

    def everything(self):
        """What each channel carried until the end."""
        channels = {}
        for channel, data in iter(self.receive, None):
            channels[channel] = channels.get(channel, b"") + data
        return channels

    def text_until(self, channel, words):
        """What the channel carries up to these words."""
        text = ""
        while words not in text:
            message = self.receive()
            if message is None:
                raise AssertionError(f"the end before {words!r}: {text!r}")
            if message[0] == channel:
                text += message[1].decode(errors="replace")
        return text

    def _send(self, data):
        self._process.stdin.write(data)

    def _take(self, count):
        return self._until(lambda: len(self._data) >= count and count) if count else b""

    def _until(self, found):
        """The first bytes, as many as `found` says; it is asked again after each piece."""
        deadline = time.monotonic() + 10 * host.PATIENCE
        with selectors.DefaultSelector() as selector:
            selector.register(self._process.stdout, selectors.EVENT_READ)
            while not found():
                if not selector.select(max(0, deadline - time.monotonic())):
                    raise AssertionError(f"nothing more after {self._data!r}")
                piece = os.read(self._process.stdout.fileno(), 65536)
                if not piece:
                    raise AssertionError(f"the connection ended after {self._data!r}")
                self._data += piece
        count = found()
        taken, self._data = self._data[:count], self._data[count:]
        return taken

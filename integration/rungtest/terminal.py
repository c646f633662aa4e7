"""Terminals: the engine's side of a console socket, and a foreground terminal as a person has it.

SPDX-License-Identifier: Apache-2.0
"""

import array
import fcntl
import os
import pty
import select
import socket
import struct
import subprocess
import termios
import time

from rungtest.host import PATIENCE
from rungtest.runtime import ENVIRONMENT


class ConsoleSocket:
    """Listens where a runtime sends the master of the container's terminal."""

    def __init__(self, path):
        self.path = path
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self._socket.bind(path)
        self._socket.listen(1)
        self._socket.settimeout(10 * PATIENCE)

    def receive(self):
        connection, _ = self._socket.accept()
        with connection:
            connection.settimeout(10 * PATIENCE)
            _, ancillary, _, _ = connection.recvmsg(4096, socket.CMSG_SPACE(4))
        descriptors = array.array("i")
        for _level, _kind, data in ancillary:
            descriptors.frombytes(data[:4])
        return Terminal(descriptors[0])

    def close(self):
        self._socket.close()


class Terminal:
    """The master side of a pseudo-terminal."""

    def __init__(self, master):
        self.master = master
        self.text = ""

    def write(self, text):
        os.write(self.master, text.encode())

    def resize(self, rows, columns):
        fcntl.ioctl(self.master, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    def read_until(self, word, seconds=10):
        """Reads until `word` was seen, or the end; returns everything read so far."""
        deadline = time.monotonic() + seconds * PATIENCE
        while word is None or word not in self.text:
            left = deadline - time.monotonic()
            if left <= 0:
                raise AssertionError(f"{word!r} did not come within {seconds * PATIENCE} s: {self.text!r}")
            if not select.select([self.master], [], [], min(left, 0.2))[0]:
                continue
            try:
                data = os.read(self.master, 4096)
            except OSError:  # EIO: the last slave is closed
                data = b""
            if not data:
                break
            self.text += data.decode(errors="replace")
        return self.text

    def read_all(self):
        return self.read_until(None)

    def close(self):
        os.close(self.master)


class Foreground:
    """A command on a terminal of its own, as its controlling terminal."""

    def __init__(self, command, rows=24, columns=80, environment=None):
        master, slave = pty.openpty()
        self.terminal = Terminal(master)
        self.terminal.resize(rows, columns)
        self.process = subprocess.Popen(command, stdin=slave, stdout=slave, stderr=slave, env=environment or ENVIRONMENT,
                                        start_new_session=True, preexec_fn=self._own_terminal)
        os.close(slave)

    @staticmethod
    def _own_terminal():
        fcntl.ioctl(0, termios.TIOCSCTTY, 0)

    def wait(self, seconds=10):
        try:
            return self.process.wait(seconds * PATIENCE)
        finally:
            if self.process.poll() is None:
                self.process.kill()
                self.process.wait()

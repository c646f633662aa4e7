"""A seccomp agent: takes the listener of a filter and answers the system calls that the filter leaves open.

SPDX-License-Identifier: Apache-2.0
"""

import array
import errno
import fcntl
import json
import os
import select
import socket
import struct
import threading

RECEIVE, SEND = 0xC0502100, 0xC0182101  # SECCOMP_IOCTL_NOTIF_RECV and _SEND, linux/seccomp.h
CONTINUE = 1  # SECCOMP_USER_NOTIF_FLAG_CONTINUE
REQUEST_BYTES = 80


class Agent:
    """Answers with the errno that `errnos` has for the call's number, and lets every other call go on."""

    def __init__(self, path, errnos=None, hangs_up=False):
        self.messages = []
        self.errnos = errnos or {}
        self.hangs_up = hangs_up  # closes each listener as soon as it has it
        self.path = path
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.socket.bind(path)
        self.socket.listen(8)
        self.wake, self.woken = os.pipe()
        self.thread = threading.Thread(target=self._serve, daemon=True)
        self.thread.start()

    def close(self):
        os.write(self.woken, b"x")
        self.thread.join(10)
        self.socket.close()
        for descriptor in (self.wake, self.woken):
            os.close(descriptor)

    def _serve(self):
        poll = select.poll()
        listeners = set()
        for descriptor in (self.socket.fileno(), self.wake):
            poll.register(descriptor, select.POLLIN)
        while True:
            for descriptor, events in poll.poll():
                if descriptor == self.wake:
                    for listener in listeners:
                        os.close(listener)
                    return
                if descriptor == self.socket.fileno():
                    for listener in self._accept():
                        poll.register(listener, select.POLLIN)
                        listeners.add(listener)
                elif not events & select.POLLIN or not self._answer(descriptor):
                    # Nobody is left that the filter holds, or it was no listener.
                    poll.unregister(descriptor)
                    listeners.discard(descriptor)
                    os.close(descriptor)

    def _accept(self):
        connection, _ = self.socket.accept()
        descriptors = array.array("i")
        with connection:
            # Once, as agents do: the container waits meanwhile.
            text, control, _, _ = connection.recvmsg(65536, socket.CMSG_LEN(4 * descriptors.itemsize))
        if not text:
            return []  # whoever it was hung up without a word
        for _, kind, data in control:
            if kind == socket.SCM_RIGHTS:
                descriptors.frombytes(data)
        if self.hangs_up:
            for descriptor in descriptors:
                os.close(descriptor)
            descriptors = array.array("i")
        self.messages.append((json.loads(text), len(descriptors)))
        return list(descriptors)

    def _answer(self, listener):
        request = bytearray(REQUEST_BYTES)
        try:
            fcntl.ioctl(listener, RECEIVE, request)
            identifier, _, _, number = struct.unpack_from("=QIIi", request)
            error = self.errnos.get(number, 0)
            answer = bytearray(struct.pack("=QqiI", identifier, 0, -error, 0 if error else CONTINUE))
            fcntl.ioctl(listener, SEND, answer)
        except OSError as problem:
            if problem.errno == errno.ENOTTY:
                return False
            # The caller was killed meanwhile.
            if problem.errno not in (errno.ENOENT, errno.EINTR):
                raise
        return True

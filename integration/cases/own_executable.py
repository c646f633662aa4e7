"""The runtime's own executable stays out of a container's reach (CVE-2019-5736).

SPDX-License-Identifier: Apache-2.0
"""

import hashlib
import os
import shutil

from rungtest import Case
from rungtest.runtime import Runtime


class OwnExecutable(Case):
    def setUp(self):
        super().setUp()
        # A copy, in case the attack succeeds.
        self.copy = os.path.join(self.work, os.path.basename(self.runtime_path))
        shutil.copy2(self.runtime_path, self.copy)
        self.runtime = Runtime(self.copy, self.runtime.root)

    def digest(self):
        with open(self.copy, "rb") as file:
            return hashlib.sha256(file.read()).hexdigest()

    def write_through(self, descriptor):
        """Writes as an attacker does who kept /proc/PID/exe until nobody executed it any more."""
        with open(f"/proc/self/fd/{descriptor}", "r+b", buffering=0) as file:
            file.write(b"#!/bin/false\n")

    def test_the_executable_of_a_waiting_container_cannot_be_written_to_by_root(self):
        box = self.container().args("true")
        self.succeed(box.create())
        before = self.digest()

        executable = os.open(f"/proc/{box.pid()}/exe", os.O_PATH)
        self.addCleanup(os.close, executable)
        self.succeed(box.delete("--force"))
        box.reap()

        # EROFS, or EPERM from a sealed memory file.
        with self.assertRaises(OSError):
            self.write_through(executable)
        self.assertEqual(self.digest(), before)

"""podman as root with systemd's cgroups: each container is a scope. Skipped where systemd is not PID 1.

SPDX-License-Identifier: Apache-2.0
"""

import os
import subprocess
import unittest

from rungtest import host

from podman import as_root


class Scopes(as_root.Root):
    manager = "systemd"

    @classmethod
    def setUpClass(cls):
        if not os.path.isdir("/run/systemd/system"):
            raise unittest.SkipTest("systemd is not PID 1 here; integration/vm/check runs these")
        super().setUpClass()

    def parent(self):
        # A dash would be a slice within a slice.
        return self.place.word.replace("-", "_") + ".slice"

    def test_the_container_is_a_scope_in_its_slice(self):
        name = self.background()

        shown = subprocess.run(["systemctl", "show", "-pSlice", "-pActiveState", f"libpod-{name}.scope"], check=True,
                               capture_output=True, text=True).stdout.split()

        self.assertEqual(sorted(shown), ["ActiveState=active", f"Slice={self.parent()}"])
        self.assertIn(f"/{self.parent()}/libpod-{name}.scope", host.cgroup_directories(name)[-1])

"""create, start, run, state, list, kill and delete: the life of a container as an engine sees it.

SPDX-License-Identifier: Apache-2.0
"""

import json
import os
import signal

from rungtest import Case, differs, host


class Lifecycle(Case):
    def test_a_container_goes_from_created_to_running_to_stopped_to_gone(self):
        box = self.container().args("sleep", "100")

        self.succeed(box.create())
        created = box.status()
        self.succeed(box.start())
        running = box.status()
        self.succeed(box.kill("KILL"))
        box.wait_stopped()
        self.succeed(box.delete())

        self.assertEqual((created, running), ("created", "running"))
        self.assertNotEqual(self.runtime.call("state", box.id).code, 0)
        self.is_gone(box)

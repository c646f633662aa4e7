"""podman as an ordinary user, whose containers live in a user namespace with subordinate ids.

SPDX-License-Identifier: Apache-2.0
"""

import os

from podman import common
from podman.place import FIRST, USER


class Rootless(common.Common, common.Podman):
    rootless = True

    def test_root_inside_is_the_user_outside(self):
        name = self.background()

        self.assertEqual(os.stat(f"/proc/{self.pid(name)}").st_uid, USER)

    def test_other_users_inside_are_subordinate_ids_outside(self):
        name = self.background("--user", "1000")

        self.assertEqual(os.stat(f"/proc/{self.pid(name)}").st_uid, FIRST + 999)

    def test_the_ids_of_the_caller_can_be_kept(self):
        self.assertEqual(self.ok(self.run_it("--userns", "keep-id", command=["id", "-u"])).out.strip(), str(USER))

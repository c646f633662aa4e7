"""An ordinary user: a number with a name and subordinate ids that only the runtime's own mount namespace knows of.

SPDX-License-Identifier: Apache-2.0
"""

import os
import shutil
import stat
import tempfile

from rungtest import host
from rungtest.case import Case
from rungtest.runtime import ENVIRONMENT, Runtime

NAME = "rungtester"
UID = 63001
GID = 63002  # another number: a group map made from the uid would be wrong
FIRST_SUBORDINATE = 700000
SUBORDINATES = 65536

# $1 is the directory with the user's /etc, $2 says which groups; the rest is the command.
SCRIPT = """set -e
mount --bind "$1/etc" /etc; groups=$2; shift 2
exec setpriv --reuid %d --regid %d "$groups" --inh-caps=-all "$@"
""" % (UID, GID)


class UserRuntime(Runtime):
    """The runtime as the user calls it."""

    def __init__(self, path, root, files):
        super().__init__(path, root)
        self.files = files
        self.groups = "--clear-groups"

    def prefix(self):
        return ["unshare", "--mount", "--propagation", "private", "sh", "-c", SCRIPT, "as-user", self.files, self.groups]

    def command(self, *args):
        return [*self.prefix(), self.path, "--root", self.root, *self.options, *args]

    def call(self, *args, env=None, **how):
        return super().call(*args, env=env or self.environment(), **how)

    def environment(self, **more):
        return {**ENVIRONMENT, "HOME": self.files, "XDG_RUNTIME_DIR": os.path.join(self.files, "run"), **more}


class UserCase(Case):
    """Every container is the user's: one id is mapped, and there is no cgroup of its own."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.files = tempfile.mkdtemp(prefix="rung-user-")
        cls.addClassCleanup(shutil.rmtree, cls.files)
        os.chmod(cls.files, 0o755)
        write_account(os.path.join(cls.files, "etc"))
        os.mkdir(os.path.join(cls.files, "run"), 0o700)
        os.chown(os.path.join(cls.files, "run"), UID, GID)
        # The tree that is tested may lie where the user has no access.
        place = os.path.join(cls.files, os.path.basename(cls.runtime_path))
        shutil.copy(cls.runtime_path, place)
        helper = os.path.join(os.path.dirname(cls.runtime_path), "rung-systemd")
        if cls.kind == "rung" and os.path.exists(helper):
            shutil.copy(helper, cls.files)
        cls.runtime_path = place

    def setUp(self):
        super().setUp()
        os.chown(self.work, UID, GID)
        self.runtime = UserRuntime(self.runtime_path, os.path.join(self.work, "state"), self.files)

    def container(self, name=None, cgroup_parent=None):
        made = super().container(name, cgroup_parent)
        del made.config["linux"]["cgroupsPath"]
        for mount in made.config["mounts"]:
            mount["options"] = [one for one in mount.get("options", []) if one != "gid=5"]
        made.bundle.namespace("user")
        map_ids(made)
        give_to_user(made.bundle)
        return made

    def mounted(self, name, options):
        """A tmpfs of the host, with the user as its owner."""
        place = os.path.join(self.work, name)
        os.mkdir(place)
        host.mount("tmpfs", place, "tmpfs", options, f"mode=755,uid={UID},gid={GID}")
        return place


def map_ids(box, root=0, subordinates=False, groups_only=False):
    """Maps `root` inside to the user; with `subordinates` the user's other ids after it."""
    more = [{"containerID": root + 1, "hostID": FIRST_SUBORDINATE, "size": SUBORDINATES}] if subordinates else []
    box.config["linux"]["uidMappings"] = [{"containerID": root, "hostID": UID, "size": 1}]
    box.config["linux"]["uidMappings"] += [] if groups_only else more
    box.config["linux"]["gidMappings"] = [{"containerID": root, "hostID": GID, "size": 1}] + more


def give_to_user(bundle):
    os.chown(bundle.path, UID, GID)
    for directory, names, files in os.walk(bundle.rootfs):
        os.chown(directory, UID, GID)
        for name in names + files:
            path = os.path.join(directory, name)
            # The busybox of all bundles is one file.
            if os.path.islink(path) or os.stat(path).st_nlink == 1 or stat.S_ISDIR(os.stat(path).st_mode):
                os.lchown(path, UID, GID)


def write_account(directory):
    """An /etc that knows of nobody else."""
    os.mkdir(directory)
    accounts = {
        "passwd": f"root:x:0:0:root:/root:/bin/sh\n{NAME}:x:{UID}:{GID}::/nonexistent:/bin/sh\n",
        "group": f"root:x:0:\n{NAME}:x:{GID}:\n",
        "subuid": f"{NAME}:{FIRST_SUBORDINATE}:{SUBORDINATES}\n",
        "nsswitch.conf": "passwd: files\ngroup: files\n",
        "subgid": f"{NAME}:{FIRST_SUBORDINATE}:{SUBORDINATES}\n",
    }
    for name, text in accounts.items():
        with open(os.path.join(directory, name), "w", encoding="ascii") as file:
            file.write(text)

"""What the whole run starts from: a mount namespace with a view of the cgroup hierarchies that suits every runtime.

What other runs mount and unmount meanwhile is not seen here, and nothing that a wrong runtime mounts gets out.
SPDX-License-Identifier: Apache-2.0
"""

import ctypes
import os
import signal
import stat
import tempfile

from rungtest import host

CLONE_NEWNS, MS_PRIVATE, MS_REC, MS_BIND, MNT_DETACH = 0x20000, 1 << 18, 1 << 14, 1 << 12, 2
_libc = ctypes.CDLL(None, use_errno=True)


def make_private():
    # runc and crun hand on what their caller ignores, and whoever called this may ignore these.
    for number in host.RESERVED_SIGNALS:
        host.set_reserved_signal(number, signal.SIG_DFL)
    if _libc.unshare(CLONE_NEWNS) != 0:
        raise SystemExit(f"no mount namespace for the run: {os.strerror(ctypes.get_errno())}")
    _mount(None, "/", None, MS_PRIVATE | MS_REC)
    _cover_null()
    if not host.cgroup_is_v2():
        _mount_hierarchies()


def _cover_null():
    """crun 1.8 gives the /dev/null that it was called with to the container's user: let that not be the host's."""
    with tempfile.TemporaryDirectory() as directory:
        # A file that has been removed could not be bound again; one of an unmounted file system can.
        _mount("tmpfs", directory, "tmpfs", 0)
        null = os.path.join(directory, "null")
        os.mknod(null, 0o666 | stat.S_IFCHR, os.makedev(1, 3))
        os.chmod(null, 0o666)
        _mount(null, "/dev/null", None, MS_BIND)
        _libc.umount2(directory.encode(), MNT_DETACH)


def _mount_hierarchies():
    """As they are, and hugetlb: crun 1.8 refuses a hybrid host while a controller is left on the unified mount."""
    wanted, links = [], []
    with open("/proc/self/mountinfo", encoding="utf-8") as file:
        for line in file:
            fields = line.split()
            kind, options = fields[fields.index("-") + 1], fields[-1]
            if kind in ("cgroup", "cgroup2") and fields[4] not in [name for name, _, _ in wanted]:
                wanted.append((fields[4], kind, options.removeprefix("rw").lstrip(",") or None))
    for name in os.listdir(host.CGROUP_ROOT):
        path = os.path.join(host.CGROUP_ROOT, name)
        if os.path.islink(path):
            links.append((path, os.readlink(path)))
    huge = os.path.join(host.CGROUP_ROOT, "hugetlb")
    with open("/proc/cgroups", encoding="ascii") as file:
        if any(line.startswith("hugetlb") for line in file) and huge not in [name for name, _, _ in wanted]:
            wanted.append((huge, "cgroup", "hugetlb"))
    _libc.umount2(host.CGROUP_ROOT.encode(), MNT_DETACH)
    _mount("tmpfs", host.CGROUP_ROOT, "tmpfs", 0, "mode=755")
    for path, kind, options in wanted:
        os.makedirs(path, exist_ok=True)
        if options and options.startswith("name="):
            options = f"none,{options}"
        _mount("cgroup", path, kind, 0, options)
    for path, target in links:
        os.symlink(target, path)


def _mount(source, target, kind, flags, options=None):
    words = [word.encode() if word else None for word in (source, target, kind)]
    if _libc.mount(*words, flags, options.encode() if options else None) != 0:
        raise SystemExit(f"mount {kind} at {target}: {os.strerror(ctypes.get_errno())}")

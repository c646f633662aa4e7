"""What Debian 12's own runtimes need before they can serve as oracles.

SPDX-License-Identifier: Apache-2.0
"""

import contextlib
import ctypes
import os
import signal
import sys

HUGETLB = "/sys/fs/cgroup/hugetlb"


@contextlib.contextmanager
def ready_for(kind):
    """crun 1.8 refuses a hybrid host while a controller is left on the unified mount: mount the last one meanwhile."""
    # A terminated run must still undo what it made.
    signal.signal(signal.SIGTERM, lambda number, _frame: sys.exit(128 + number))
    if kind != "crun" or not _hybrid_without_hugetlb():
        yield
        return
    libc = ctypes.CDLL(None, use_errno=True)
    made = not os.path.isdir(HUGETLB)
    if made:
        os.mkdir(HUGETLB)
    try:
        if libc.mount(b"cgroup", HUGETLB.encode(), b"cgroup", 0, b"hugetlb") != 0:
            raise SystemExit(f"crun needs a hugetlb hierarchy at {HUGETLB}: {os.strerror(ctypes.get_errno())}")
        yield
    finally:
        libc.umount2(HUGETLB.encode(), 0)
        if made:
            os.rmdir(HUGETLB)


def _hybrid_without_hugetlb():
    if os.path.exists("/sys/fs/cgroup/cgroup.controllers") or os.path.ismount(HUGETLB):
        return False
    with open("/proc/cgroups", encoding="ascii") as file:
        return any(line.startswith("hugetlb") for line in file)

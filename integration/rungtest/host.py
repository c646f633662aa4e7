"""What the tests look at on the host, and how they prove that a container left nothing there.

SPDX-License-Identifier: Apache-2.0
"""

import ctypes
import os
import platform
import signal
import time

CGROUP_ROOT = "/sys/fs/cgroup"
PR_SET_CHILD_SUBREAPER = 36

# How many times longer everything may take than on a machine of its own: an emulated one is slow.
PATIENCE = int(os.environ.get("PATIENCE", "1"))


def become_subreaper():
    """Orphans of this process are re-parented to it, as a container's init is to an engine's shim."""
    ctypes.CDLL(None, use_errno=True).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


RESERVED_SIGNALS = (32, 33)


def set_reserved_signal(number, action):
    """SIG_IGN or SIG_DFL for a signal that libc keeps to itself, which only a caller without libc can set."""
    rt_sigaction = {"x86_64": 13, "aarch64": 134}[platform.machine()]
    new = (ctypes.c_ulong * 4)(int(action), 0, 0, 0)
    if ctypes.CDLL(None, use_errno=True).syscall(rt_sigaction, number, ctypes.byref(new), None, 8) != 0:
        raise OSError(ctypes.get_errno(), f"rt_sigaction of {number}")


def mount(source, target, kind, flags=0, data=""):
    """mount(2)."""
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.mount(source.encode(), target.encode(), kind.encode(), flags, data.encode()) != 0:
        raise OSError(ctypes.get_errno(), f"mount {source} at {target}")


def cgroup_is_v2():
    return os.path.exists(os.path.join(CGROUP_ROOT, "cgroup.controllers"))


def cgroup_mounts():
    """Mount points of every cgroup hierarchy, the unified one included."""
    mounts = []
    with open("/proc/self/mountinfo", encoding="utf-8") as file:
        for line in file:
            fields = line.split()
            if fields[fields.index("-") + 1] in ("cgroup", "cgroup2"):
                mounts.append(fields[4])
    return mounts


def cgroup_file(cgroups_path, controller, name):
    """The host's name of a control file; `controller` matters on v1 only."""
    middle = "" if cgroup_is_v2() else controller
    return os.path.join(CGROUP_ROOT, middle, cgroups_path.lstrip("/"), name)


def cgroup_directories(word):
    """Every cgroup whose path has `word` in it, deepest first."""
    found = []
    for mount in cgroup_mounts():
        for directory, names, _ in os.walk(mount, topdown=False):
            found.extend(os.path.join(directory, name) for name in names
                         if word in os.path.join(directory, name))
    return found


def mounts_below(path):
    """Mount points at or below `path`, the newest first."""
    with open("/proc/self/mountinfo", encoding="utf-8") as file:
        points = [line.split()[4].encode().decode("unicode_escape") for line in file]
    return [point for point in reversed(points) if point == path or point.startswith(path + "/")]


def processes_of(word):
    """Processes whose cgroup, command line, root or working directory has `word` in it."""
    found = []
    for entry in os.listdir("/proc"):
        if entry.isdigit() and int(entry) != os.getpid() and word in _facts_of(entry):
            found.append(int(entry))
    return found


def _facts_of(pid):
    facts = []
    for name in ("cgroup", "cmdline"):
        try:
            with open(f"/proc/{pid}/{name}", encoding="utf-8", errors="replace") as file:
                facts.append(file.read())
        except OSError:
            pass
    for name in ("root", "cwd"):
        try:
            facts.append(os.readlink(f"/proc/{pid}/{name}"))
        except OSError:
            pass
    return "\n".join(facts)


def process_state(pid):
    """The letter of /proc/PID/stat ("Z" for a zombie), or None when there is no such process."""
    try:
        with open(f"/proc/{pid}/stat", encoding="utf-8", errors="replace") as file:
            return file.read().rsplit(")", 1)[1].split()[0]
    except OSError:
        return None


def is_alive(pid):
    return process_state(pid) not in (None, "Z", "X")


def wait_until(condition, seconds=10, what="the condition"):
    """Polls; used where the kernel or another process decides when."""
    deadline = time.monotonic() + seconds * PATIENCE
    while True:
        value = condition()
        if value:
            return value
        if time.monotonic() > deadline:
            raise AssertionError(f"{what} did not come within {seconds * PATIENCE} s")
        time.sleep(0.01)


def reap(pid):
    """Collects one of our children, if it is one and has ended."""
    try:
        return os.waitpid(pid, os.WNOHANG)[0] == pid
    except ChildProcessError:
        return False


def reap_ended():
    """Collects every child that has ended."""
    try:
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass
    except ChildProcessError:
        pass


def reap_orphans():
    """Collects ended members of pid namespaces that were re-parented to us; an init stays, for the test to look at.

    Until this is done the kernel does not let the namespace's init end.
    """
    with open(f"/proc/self/task/{os.getpid()}/children", encoding="ascii") as file:
        children = [int(word) for word in file.read().split()]
    for pid in children:
        if process_state(pid) == "Z" and _id_inside(pid) not in (None, 1):
            reap(pid)


def _id_inside(pid):
    """Its process id in the innermost pid namespace; None when that is ours."""
    try:
        with open(f"/proc/{pid}/status", encoding="utf-8", errors="replace") as file:
            identifiers = next(line for line in file if line.startswith("NSpid:")).split()[1:]
    except (OSError, StopIteration):
        return None
    return int(identifiers[-1]) if len(identifiers) > 1 else None


def sweep(word, directory):
    """Ends and removes by force whatever one test made: `word` is in all of its names."""
    for cgroup in cgroup_directories(word):
        _thaw(cgroup)
    for pid in processes_of(word):
        try:
            os.kill(pid, signal.SIGKILL)
        except ProcessLookupError:
            continue
        try:
            wait_until(lambda pid=pid: not is_alive(pid), 5)
        except AssertionError:
            pass
        reap(pid)
    for point in mounts_below(directory):
        ctypes.CDLL(None).umount2(point.encode(), 2)  # MNT_DETACH
    for cgroup in cgroup_directories(word):
        try:
            os.rmdir(cgroup)
        except OSError:
            pass


def _thaw(cgroup):
    # A frozen v1 task does not even die of SIGKILL.
    for name, value in (("freezer.state", "THAWED"), ("cgroup.freeze", "0")):
        path = os.path.join(cgroup, name)
        if os.path.exists(path):
            try:
                with open(path, "w", encoding="ascii") as file:
                    file.write(value)
            except OSError:
                pass

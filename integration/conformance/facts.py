"""Facts of a container, each a short name with a plain text: what its processes see, and what the host sees of them.

SPDX-License-Identifier: Apache-2.0
"""

import os
import re

from rungtest import host

# Lines of /proc/PID/status that a runtime decides.
STATUS = ("Umask", "Uid", "Gid", "Groups", "CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb", "NoNewPrivs", "Seccomp",
          "Seccomp_filters", "SigBlk", "SigIgn", "Cpus_allowed_list", "Mems_allowed_list")

# What the base config and the engines' samples mask.
MASKED = re.compile(r"/proc/(acpi|asound|interrupts|kcore|keys|latency_stats|timer_list|timer_stats|sched_debug|scsi)$|/sys/firmware$"
                    "|/sys/fs/selinux$|/sys/dev/block$|/sys/devices/virtual/powercap$|/masked")

CONTROL_FILES = {
    "memory": ("limit_in_bytes", "memsw.limit_in_bytes", "soft_limit_in_bytes", "swappiness", "oom_control", "use_hierarchy",
               "kmem.limit_in_bytes", "kmem.tcp.limit_in_bytes"),
    "cpu": ("shares", "cfs_period_us", "cfs_quota_us", "cfs_burst_us", "rt_period_us", "rt_runtime_us", "idle"),
    "cpuset": ("cpus", "mems"),
    "pids": ("max",),
    "devices": ("list",),
    "freezer": ("state",),
    "blkio": ("weight", "bfq.weight", "leaf_weight", "throttle.read_bps_device", "throttle.write_bps_device", "throttle.read_iops_device",
              "throttle.write_iops_device"),
    "hugetlb": ("2MB.limit_in_bytes", "1GB.limit_in_bytes"),
    "net_cls": ("classid",),
    "net_prio": ("ifpriomap",),
}
CONTROL_FILES_V2 = (
    "cgroup.freeze", "cgroup.type", "cpu.idle", "cpu.max", "cpu.max.burst", "cpu.weight", "cpuset.cpus", "cpuset.mems", "io.bfq.weight",
    "io.max", "io.weight", "memory.high", "memory.low", "memory.max", "memory.min", "memory.oom.group", "memory.swap.max", "pids.max",
    "hugetlb.1GB.max", "hugetlb.2MB.max")


def of_probe(text):
    """What conformance/probe.c printed, as facts."""
    facts, environment, mounts = {}, [], []
    for line in text.splitlines():
        name, tab, value = line.partition("\t")
        value = value.replace("\\t", " ")
        if not tab:
            facts["unexpected output"] = line
        elif name == "mount":
            mounts.append(value)
        elif name == "environment":
            environment.append(value)
        elif name == "status":
            word, _, rest = value.partition(":")
            if word in STATUS:
                facts[word] = " ".join(rest.split())
        elif name == "limit":
            match = re.match(r"(Max .*?)  +(\S+) +(\S+)", value)
            if match:
                facts[f"limit {match[1]}"] = f"{match[2]} {match[3]}"
        elif name == "interface":
            if ":" in value:
                facts[f"interface {value.partition(':')[0].strip()}"] = "there"
        elif name == "cgroup":
            _, controller, path = value.split(":", 2)
            facts[f"cgroup {controller or 'unified'}"] = path
        elif name.startswith("ns "):
            facts[name] = _whose_namespace(name[3:], value)
        elif name.startswith("fd "):
            facts[name] = _plain_target(value)
        elif name in ("pid", "parent"):
            facts[name] = value if value in ("0", "1") else "another"
        elif name in ("argument", "uid_map", "gid_map"):
            facts[name] = f"{facts[name]} / {value}" if name in facts else " ".join(value.split()) or value
        else:
            facts[name] = value
    facts["environment order"] = " ".join(entry.partition("=")[0] for entry in environment)
    for entry in environment:
        facts[f"environment {entry.partition('=')[0]}"] = entry.partition("=")[2]
    _add_mounts(facts, mounts)
    return facts


def _plain_target(target):
    if target.startswith(("pipe:", "socket:")):
        return target.partition(":")[0]
    return "a file without a name" if target.startswith("/tmp/#") else target


def _whose_namespace(kind, link):
    try:
        ours = os.readlink(f"/proc/self/ns/{kind}")
    except OSError:
        ours = None
    return "the host's" if link == ours else "its own"


def _add_mounts(facts, lines):
    # Of two mounts at one place the upper one has the lower one as its parent; the order of the table says nothing.
    points = {line.split()[0]: line.split()[4] for line in lines}
    parents = {line.split()[0]: line.split()[1] for line in lines}
    for line in lines:
        before, after = line.split(" - ", 1)
        fields = before.split()
        point, options, propagation = fields[4], fields[5], " ".join(word.split(":")[0] for word in fields[6:])
        kind, source, superblock = after.split(" ", 2)
        if MASKED.match(point):
            # With what a path is covered is the runtime's own affair; what can be read and written there is a fact of its own.
            facts[f"mask {point}"] = "there"
            continue
        depth, parent = 1, parents[fields[0]]
        while points.get(parent) == point and parent != parents.get(parent):
            depth, parent = depth + 1, parents[parent]
        name = f"mount {point}" + (f" #{depth}" if depth > 1 else "")
        facts[name] = f"{kind} {options} root={fields[3]}" + (f" {propagation}" if propagation else "")
        # The superblock belongs to whoever made the file system first, and devtmpfs and sysfs are the host's.
        if kind in ("tmpfs", "devpts", "overlay"):
            facts[f"{name} source"] = source
            facts[f"{name} superblock"] = ",".join(sorted(superblock.split(",")))


def of_process(pid):
    """What the host's /proc says of a container's process."""
    facts = {}
    for line in _lines(f"/proc/{pid}/status"):
        word, _, rest = line.partition(":")
        if word in STATUS:
            facts[word] = " ".join(rest.split())
        elif word == "NSpid":
            facts["pid inside"] = rest.split()[-1] if rest.split()[-1] == "1" else "another"
        elif word == "State":
            facts["state"] = "waits" if rest.split()[0] in "SDRt" else rest.split()[0]
    for kind in ("cgroup", "ipc", "mnt", "net", "pid", "time", "user", "uts"):
        try:
            facts[f"ns {kind}"] = _whose_namespace(kind, os.readlink(f"/proc/{pid}/ns/{kind}"))
        except OSError as error:
            facts[f"ns {kind}"] = os.strerror(error.errno)
    for line in _lines(f"/proc/{pid}/cgroup"):
        _, controller, path = line.split(":", 2)
        facts[f"cgroup {controller or 'unified'}"] = path
    for name in ("oom_score_adj", "uid_map", "gid_map", "setgroups", "personality"):
        facts[name] = " / ".join(" ".join(line.split()) for line in _lines(f"/proc/{pid}/{name}"))
    for name in ("cwd", "root"):  # not exe: runc's start returns a moment before the program is executed
        try:
            facts[name] = os.readlink(f"/proc/{pid}/{name}")
        except OSError as error:
            facts[name] = os.strerror(error.errno)
    return facts


def of_descriptors(pid):
    facts = {}
    for name in sorted(os.listdir(f"/proc/{pid}/fd"), key=int):
        target = os.readlink(f"/proc/{pid}/fd/{name}")
        facts[f"fd {name}"] = _plain_target(target)
    return facts


def of_cgroup(pid):
    """The control files of the cgroups that a process is in."""
    facts = {}
    for line in _lines(f"/proc/{pid}/cgroup"):
        _, controllers, path = line.split(":", 2)
        if not controllers and host.cgroup_is_v2():
            for name in CONTROL_FILES_V2:
                _add_file(facts, f"control {name}", os.path.join(host.CGROUP_ROOT, path.lstrip("/"), name))
        for controller in controllers.split(","):
            for name in CONTROL_FILES.get(controller, ()):
                file = f"{controller}.{name}"
                _add_file(facts, f"control {file}", os.path.join(host.CGROUP_ROOT, controllers, path.lstrip("/"), file))
    return facts


def _add_file(facts, name, path):
    lines = _lines(path)
    if lines:
        facts[name] = " / ".join(sorted(lines))


def _lines(path):
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            return file.read().splitlines()
    except OSError:
        return []

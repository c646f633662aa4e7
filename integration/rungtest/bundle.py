"""A bundle: a busybox root file system and a config.json that a test edits.

SPDX-License-Identifier: Apache-2.0
"""

import json
import os
import shutil

BUSYBOX = "/bin/busybox"
APPLETS = """ash awk basename cat chgrp chmod chown cp cut date dd df dirname dmesg echo env false find free getopt grep
 head hostname id ifconfig install ip kill killall less ln ls md5sum mkdir mkfifo mknod mktemp more mount mountpoint mv
 nc netstat nice nproc od pgrep pidof ping printenv printf ps pwd readlink realpath renice reset rm rmdir route sed seq
 setsid sh sha256sum sleep sort stat stty sync sysctl tail tar tee test timeout top touch tr true tty umount uname uniq
 unshare usleep vi wc wget which xargs yes""".split()

PASSWD = """root:x:0:0:root:/root:/bin/sh
worker:x:1000:1000:worker:/home/worker:/bin/sh
"""
GROUP = """root:x:0:
worker:x:1000:
"""

CAPABILITIES = ["CAP_AUDIT_WRITE", "CAP_KILL", "CAP_NET_BIND_SERVICE"]


def base_config(cgroups_path):
    """The config that engines start from: five namespaces, three capabilities, the usual mounts and masks."""
    return {
        "ociVersion": "1.0.2",
        "process": {
            "terminal": False,
            "user": {"uid": 0, "gid": 0},
            "args": ["true"],
            "env": ["PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "TERM=xterm"],
            "cwd": "/",
            "capabilities": {
                name: list(CAPABILITIES) for name in ("bounding", "effective", "permitted")
            },
            "rlimits": [{"type": "RLIMIT_NOFILE", "hard": 1024, "soft": 1024}],
            "noNewPrivileges": True,
        },
        "root": {"path": "rootfs", "readonly": False},
        "hostname": "box",
        "mounts": [
            _mount("/proc", "proc", "proc"),
            _mount("/dev", "tmpfs", "tmpfs", "nosuid", "strictatime", "mode=755", "size=65536k"),
            _mount("/dev/pts", "devpts", "devpts", "nosuid", "noexec", "newinstance", "ptmxmode=0666", "mode=0620",
                   "gid=5"),
            _mount("/dev/shm", "tmpfs", "shm", "nosuid", "noexec", "nodev", "mode=1777", "size=65536k"),
            _mount("/dev/mqueue", "mqueue", "mqueue", "nosuid", "noexec", "nodev"),
            _mount("/sys", "sysfs", "sysfs", "nosuid", "noexec", "nodev", "ro"),
            _mount("/sys/fs/cgroup", "cgroup", "cgroup", "nosuid", "noexec", "nodev", "relatime", "ro"),
        ],
        "linux": {
            "cgroupsPath": cgroups_path,
            "resources": {"devices": [{"allow": False, "access": "rwm"}]},
            "namespaces": [{"type": name} for name in ("pid", "network", "ipc", "uts", "mount")],
            "maskedPaths": [
                "/proc/acpi", "/proc/asound", "/proc/kcore", "/proc/keys", "/proc/latency_stats", "/proc/timer_list",
                "/proc/timer_stats", "/proc/sched_debug", "/sys/firmware", "/proc/scsi",
            ],
            "readonlyPaths": ["/proc/bus", "/proc/fs", "/proc/irq", "/proc/sys", "/proc/sysrq-trigger"],
        },
    }


def _mount(destination, kind, source, *options):
    mount = {"destination": destination, "type": kind, "source": source}
    if options:
        mount["options"] = list(options)
    return mount


def make_rootfs(path):
    """A root file system with busybox and nothing else; every bundle gets its own, with the program hard-linked."""
    for directory in ("bin", "dev", "etc", "home/worker", "proc", "root", "sys", "tmp", "usr/bin", "var"):
        os.makedirs(os.path.join(path, directory))
    os.chmod(os.path.join(path, "tmp"), 0o1777)
    _link_or_copy(_master_busybox(os.path.dirname(os.path.dirname(path))), os.path.join(path, "bin/busybox"))
    for applet in APPLETS:
        os.symlink("busybox", os.path.join(path, "bin", applet))
    for name, text in (("passwd", PASSWD), ("group", GROUP)):
        with open(os.path.join(path, "etc", name), "w", encoding="ascii") as file:
            file.write(text)


def _master_busybox(directory):
    # One copy for the whole run: what a container could do to its busybox must never reach the host's.
    master = os.path.join(directory, "busybox")
    if not os.path.exists(master):
        temporary = f"{master}.{os.getpid()}"
        shutil.copyfile(BUSYBOX, temporary)
        os.chmod(temporary, 0o755)
        os.rename(temporary, master)
    return master


def _link_or_copy(source, target):
    try:
        os.link(source, target)
    except OSError:
        shutil.copy(source, target)


class Bundle:
    """A directory with rootfs/ and config.json; `config` is edited freely until write()."""

    def __init__(self, path, cgroups_path):
        self.path = path
        self.rootfs = os.path.join(path, "rootfs")
        self.config = base_config(cgroups_path)
        os.makedirs(path)
        make_rootfs(self.rootfs)

    def write(self):
        with open(os.path.join(self.path, "config.json"), "w", encoding="utf-8") as file:
            json.dump(self.config, file)

    def inside(self, path):
        """The host's name of a container path."""
        return os.path.join(self.rootfs, path.lstrip("/"))

    def put(self, path, text, mode=0o644):
        """Writes a file of the root file system."""
        name = self.inside(path)
        os.makedirs(os.path.dirname(name), exist_ok=True)
        with open(name, "w", encoding="utf-8") as file:
            file.write(text)
        os.chmod(name, mode)
        return name

    def read(self, path):
        with open(self.inside(path), encoding="utf-8") as file:
            return file.read()

    def add_mount(self, destination, source, kind="bind", options=()):
        self.config["mounts"].append(
            {"destination": destination, "source": source, "type": kind, "options": list(options)})

    def namespace(self, kind, path=None):
        """Adds a namespace, or replaces the one that is listed."""
        self.drop_namespace(kind)
        self.config["linux"]["namespaces"].append({"type": kind, **({"path": path} if path else {})})

    def open_cgroup_mount(self):
        """The container may write to its own cgroup."""
        for mount in self.config["mounts"]:
            if mount["destination"] == "/sys/fs/cgroup":
                mount["options"].remove("ro")

    def drop_namespace(self, kind):
        self.config["linux"]["namespaces"] = [
            entry for entry in self.config["linux"]["namespaces"] if entry["type"] != kind]

    def grant_capabilities(self, *names):
        for held in self.config["process"]["capabilities"].values():
            held.extend(names)

    def map_users(self, host=100000, size=65536):
        """A user namespace whose root is `host` outside, with the root file system handed over to it."""
        self.namespace("user")
        mapping = [{"containerID": 0, "hostID": host, "size": size}]
        self.config["linux"]["uidMappings"] = mapping
        self.config["linux"]["gidMappings"] = mapping
        for directory, names, files in os.walk(self.rootfs):
            for name in names + files:
                os.lchown(os.path.join(directory, name), host, host)
        os.chown(self.rootfs, host, host)

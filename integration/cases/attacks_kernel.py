"""Attacks through system calls: networks, namespaces, capabilities and whatever else a filter closes.

SPDX-License-Identifier: Apache-2.0
"""

import os
import shutil
import struct

from rungtest import only_rung
from rungtest.attacks import GRANT, Attacked, grant_with

DENIED = "EPERM"
NOWHERE = "ENETUNREACH"
NO_GRANTS = "has no grants"
NAMESPACES = ("user", "mnt", "pid", "net", "ipc", "uts", "cgroup", "time")


class Network(Attacked):
    @only_rung(NO_GRANTS)
    def test_there_is_no_way_out_and_loopback_works(self):
        self.becomes({"serve 127.0.0.1 8080": "ok", "serve ::1 8080": "ok", "serve 127.0.0.1 80": "EACCES",
                      "connect 127.0.0.1 9": "ECONNREFUSED", "connect 93.184.216.34 443": NOWHERE,
                      "connect 10.0.0.1 80": NOWHERE, "connect 172.17.0.1 80": NOWHERE, "connect 169.254.169.254 80": NOWHERE,
                      "connect 198.18.0.1 443": NOWHERE, "connect 255.255.255.255 80": NOWHERE,
                      "connect 2606:4700::1111 443": NOWHERE, "connect fd00:ec2::254 80": NOWHERE,
                      "connect fe80::1 80": {NOWHERE, "EINVAL"}, "connect ::ffff:10.0.0.1 80": NOWHERE,
                      "connect ::ffff:169.254.169.254 80": NOWHERE, "connect 64:ff9b::a9fe:a9fe 80": NOWHERE,
                      "datagram 8.8.8.8 53": NOWHERE, "datagram 169.254.169.254 53": NOWHERE,
                      "datagram 224.0.0.1 5353": NOWHERE, "datagram ff02::1 5353": {NOWHERE, "EADDRNOTAVAIL"}})

    @only_rung(NO_GRANTS)
    def test_only_ordinary_sockets_can_be_made(self):
        self.becomes({"socket 1 1 0": "ok", "socket 2 1 0": "ok", "socket 2 2 0": "ok", "socket 10 1 0": "ok",
                      "socket 16 3 0": "ok",  # AF_NETLINK, NETLINK_ROUTE: getifaddrs needs it
                      "socket 2 3 1": DENIED, "socket 10 3 58": DENIED, "socket 2 3 255": DENIED,
                      "socket 17 3 768": DENIED, "socket 17 2 768": DENIED,  # AF_PACKET
                      "socket 40 1 0": DENIED, "socket 38 5 0": DENIED,      # AF_VSOCK, AF_ALG
                      "socket 16 3 4": DENIED, "socket 16 3 12": DENIED,     # sock_diag, netfilter
                      "socket 44 3 0": DENIED, "socket 30 2 0": DENIED, "socket 29 3 1": DENIED})  # XDP, TIPC, CAN

    @only_rung(NO_GRANTS)
    def test_the_network_cannot_be_changed(self):
        box = self.target()
        box.shell("for c in 'link add x type dummy' 'addr add 10.0.0.1/8 dev lo' 'route add default dev lo' 'link set lo down';"
                  "do ip $c 2>/dev/null && echo $c; done; ip -o addr | grep -c 127.0.0.1")

        self.prints(self.under(box), "1")


class Calls(Attacked):
    @only_rung(NO_GRANTS)
    def test_calls_that_no_task_needs_are_closed(self):
        closed = ("bpf", "io_uring_setup", "userfaultfd", "perf_event_open", "keyctl", "add_key", "request_key", "init_module",
                  "finit_module", "kexec_load", "swapon", "reboot", "acct", "syslog", "iopl", "ioperm", "modify_ldt", "kcmp",
                  "pidfd_getfd", "fanotify_init", "quotactl", "settimeofday", "vhangup", "move_pages", "process_madvise")

        self.becomes({"call getpid": "ok", **{f"call {name}": DENIED for name in closed}})

    @only_rung(NO_GRANTS)
    def test_processes_cannot_take_over_one_another(self):
        self.becomes({"ptrace": DENIED, "traceme": DENIED, "read-process": DENIED, "wait": "ok"})

    @only_rung(NO_GRANTS)
    def test_no_namespace_can_be_made_or_joined(self):
        attempts = {f"unshare {name}": DENIED for name in NAMESPACES}
        attempts.update({f"clone {name}": DENIED for name in NAMESPACES if name != "time"})
        attempts.update({f"clone3 {name}": "ENOSYS" for name in NAMESPACES})
        attempts.update({f"setns {name}": {DENIED, "EACCES"} for name in NAMESPACES})

        self.becomes({"fork 2": "ok 2", "hostname other": DENIED, **attempts})

    @only_rung(NO_GRANTS)
    def test_nothing_can_be_typed_into_the_callers_terminal(self):
        # TIOCSTI, the same with a bit that the kernel drops, TIOCLINUX, TIOCSETD, TIOCCONS; then TIOCGWINSZ and TCGETS.
        self.becomes({"terminal 0x5412": DENIED, "terminal 0x100005412": DENIED, "terminal 0x541c": DENIED,
                      "terminal 0x5423": DENIED, "terminal 0x541d": DENIED, "terminal 0x5413": "ok", "terminal 0x5401": "ok"})

    @only_rung(NO_GRANTS)
    def test_other_call_tables_do_not_go_around_the_filter(self):
        # Without 32-bit support the kernel itself answers int $0x80 with a fault.
        self.becomes({"x32": {"SIGSYS", DENIED, "ENOSYS"}, "i386": {"SIGSYS", "SIGSEGV", "ENOSYS"}, "call getpid": "ok"})


class Profiles(Attacked):
    def filters(self, grant, engine=None):
        box = self.target()
        if engine:
            box.config["linux"]["seccomp"] = engine
        box.shell("grep -E 'Seccomp' /proc/self/status")
        lines = self.succeed(self.under(box, grant)).out.splitlines()
        return {line.split(":")[0]: int(line.split()[1]) for line in lines}

    @only_rung(NO_GRANTS)
    def test_the_strict_profile_allows_files_and_children_only(self):
        strict = grant_with(seccomp={"profile": "strict"})

        self.becomes({"write /scratch/x": "ok", "fork 2": "ok 2", "socket 2 1 0": DENIED, "socket 1 1 0": DENIED,
                      "link /scratch/x /scratch/y": DENIED, "memfd 0": DENIED, "call bpf": DENIED, "exec /bin/true": "ok"}, strict)

    @only_rung(NO_GRANTS)
    def test_the_filters_of_engine_and_grant_are_both_loaded(self):
        engine = {"defaultAction": "SCMP_ACT_ALLOW", "syscalls": [{"names": ["rename"], "action": "SCMP_ACT_ERRNO",
                                                                   "errnoRet": 28}]}
        for grant in (GRANT, grant_with(seccomp={"profile": "default"}), grant_with(seccomp={"profile": "strict"})):
            with self.subTest(grant.get("seccomp", "none named")):
                alone, both = self.filters(grant), self.filters(grant, engine)

                self.assertEqual(alone["Seccomp"], 2)
                self.assertGreaterEqual(alone["Seccomp_filters"], 1)
                self.assertEqual(both["Seccomp_filters"], alone["Seccomp_filters"] + 1)

    @only_rung(NO_GRANTS)
    def test_a_filter_of_the_engine_that_allows_everything_opens_nothing(self):
        box = self.target()
        box.config["linux"]["seccomp"] = {"defaultAction": "SCMP_ACT_ALLOW"}

        self.becomes({"call bpf": DENIED, "unshare user": DENIED, "call getpid": "ok"}, box=box)


class Capabilities(Attacked):
    def file_with_capabilities(self, path):
        # struct vfs_cap_data of revision 2: effective, all that there are.
        everything = 0xFFFFFFFF
        os.setxattr(path, "security.capability", struct.pack("<IIIII", 0x02000001, everything, 0, 0x1FF, 0))

    @only_rung(NO_GRANTS)
    def test_no_program_of_the_image_gives_rights_back(self):
        box = self.target()
        box.config["process"]["user"] = {"uid": 1000, "gid": 1000}
        for name in ("setuid", "capable"):
            shutil.copy(box.bundle.inside("/bin/attack"), box.bundle.inside(f"/bin/{name}"))
        os.chmod(box.bundle.inside("/bin/setuid"), 0o4755)
        self.file_with_capabilities(box.bundle.inside("/bin/capable"))
        box.shell("/bin/setuid identity; /bin/capable identity 2>/dev/null || echo refused; /bin/attack identity")

        # The kernel refuses a program whose file demands capabilities that the bounding set lacks.
        self.prints(self.under(box), "identity: ok 1000\nrefused\nidentity: ok 1000")

    @only_rung(NO_GRANTS)
    def test_no_capability_can_be_raised(self):
        box = self.target()
        box.config["process"]["user"] = {"uid": 1000, "gid": 1000}

        self.becomes({"identity": "ok 1000", "capset 21": DENIED, "capset 0": DENIED, "ambient 21": DENIED, "setuid 0": DENIED,
                      "setuid 1000": "ok"}, box=box)

    @only_rung(NO_GRANTS)
    def test_root_without_capabilities_is_nobody_special(self):
        box = self.target()
        other = box.bundle.put("/work/in/private", "private\n", 0o600)
        os.chown(other, 1000, 1000)

        self.becomes({"identity": "ok", "read /work/in/private": "EACCES", "setuid 1000": DENIED, "hostname x": DENIED,
                      "capset 21": DENIED, "read /work/in/data": "ok"}, box=box)

    @only_rung(NO_GRANTS)
    def test_a_config_that_says_nothing_of_capabilities_gives_none(self):
        box = self.target()
        del box.config["process"]["capabilities"]

        self.becomes({"identity": "ok", "capset 21": DENIED}, box=box)

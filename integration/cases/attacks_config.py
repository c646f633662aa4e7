"""Attacks by way of the config and the grant themselves: wide configs, exec, several grants, and documents to refuse.

SPDX-License-Identifier: Apache-2.0
"""

import json
import os
import socket
import subprocess

from rungtest import host, only_rung
from rungtest.attacks import GRANT, Attacked, grant_with

READ_ONLY, DENIED = "EROFS", "EPERM"
NO_GRANTS = "has no grants"
CAPABILITIES = ["CAP_" + name for name in """CHOWN DAC_OVERRIDE DAC_READ_SEARCH FOWNER FSETID KILL SETGID SETUID SETPCAP
 NET_BIND_SERVICE NET_ADMIN NET_RAW SYS_MODULE SYS_RAWIO SYS_CHROOT SYS_PTRACE SYS_ADMIN SYS_BOOT SYS_NICE SYS_TIME MKNOD
 SETFCAP MAC_ADMIN SYSLOG BPF PERFMON""".split()]

# One attempt for each thing that a privileged container can do to its host, and one for what a task may.
HARM = {"write /x": READ_ONLY, "write /work/in/data": READ_ONLY, "mount /scratch tmpfs": DENIED, "remount /": DENIED,
        "mknod /scratch/disk b 7 0": DENIED, "connect 10.0.0.1 80": "ENETUNREACH", "socket 17 3 768": DENIED,
        "socket 2 3 1": DENIED, "unshare mnt": DENIED, "setns mnt": {DENIED, "EACCES"}, "ptrace": DENIED, "call bpf": DENIED,
        "hostname x": DENIED, "chroot /scratch": DENIED, "open-by-handle": DENIED, "capset 21": DENIED,
        "read /secrets/key": "ENOENT", "exec-copy /scratch/copy": "EACCES", "memfd 0": {"EACCES", DENIED}}
WORK = {"write /scratch/x": "ok", "write /work/out/x": "ok", "read /work/in/data": "ok", "fork 2": "ok 2",
        "serve 127.0.0.1 8080": "ok", "exec /bin/true": "ok"}


def widened(box):
    """What `docker run --privileged --net=host --pid=host --ipc=host --uts=host` asks for."""
    config = box.config
    config["process"]["capabilities"] = {name: CAPABILITIES for name in
                                         ("bounding", "effective", "permitted", "inheritable", "ambient")}
    config["process"]["noNewPrivileges"] = False
    del config["process"]["rlimits"]
    config["linux"].update({"namespaces": [{"type": "mount"}], "maskedPaths": [], "readonlyPaths": [],
                            "rootfsPropagation": "shared",
                            "resources": {"devices": [{"allow": True, "access": "rwm"}]}})
    del config["hostname"]
    for mount in config["mounts"]:
        mount["options"] = [word for word in mount.get("options", []) if word not in ("ro", "nosuid", "noexec", "nodev")]
    return box


class Wide(Attacked):
    def test_the_same_attempts_do_harm_without_a_grant(self):
        box = self.target()
        box.config["process"]["capabilities"] = {name: [one for one in CAPABILITIES if one != "CAP_PERFMON"]
                                                 for name in ("bounding", "effective", "permitted")}

        self.becomes_without_grant({
            "write /x": "ok", "mount /scratch tmpfs": "ok", "mknod /scratch/disk b 7 0": "ok", "socket 17 3 768": "ok",
            "socket 2 3 1": "ok", "unshare mnt": "ok", "ptrace": "ok", "hostname x": "ok", "chroot /scratch": "ok",
            "call bpf": "EINVAL", "exec-copy /scratch/copy": "ok", "memfd 0": "ok", "read /secrets/key": "ok",
            "fork 30": "ok 30", "open-files 100": "ok 100", "open-by-handle": {"ESTALE", "EOPNOTSUPP"}}, box)

    def becomes_without_grant(self, expected, box):
        box.args("/bin/attack", *expected)
        self.outcomes_are(self.succeed(box.run()).out, expected)

    @only_rung(NO_GRANTS)
    def test_a_privileged_config_is_narrowed_all_the_same(self):
        self.becomes({**HARM, **WORK}, box=widened(self.target()))

    @only_rung(NO_GRANTS)
    def test_a_privileged_config_shows_nothing_of_the_host(self):
        box = widened(self.target())
        box.shell("for n in net ipc uts pid cgroup mnt; do readlink /proc/self/ns/$n; done; ls /proc | grep -c '^[0-9]'")

        out = self.succeed(self.under(box)).out.split()

        ours = [os.readlink(f"/proc/self/ns/{name}") for name in ("net", "ipc", "uts", "pid", "cgroup", "mnt")]
        self.assertEqual(set(out[:6]) & set(ours), set())
        self.assertLess(int(out[6]), 6)

    @only_rung(NO_GRANTS)
    def test_a_privileged_config_cannot_change_the_kernel(self):
        self.becomes({"open-to-write /proc/sys/kernel/core_pattern": READ_ONLY,
                      "open-to-write /proc/sysrq-trigger": {READ_ONLY, "ENOENT"}, "mkdir /sys/fs/cgroup/x": {READ_ONLY, "EACCES"},
                      "open-to-write /sys/fs/cgroup/memory/memory.limit_in_bytes": {READ_ONLY, "ENOENT"},
                      "open-to-write /sys/fs/cgroup/cgroup.procs": {READ_ONLY, "ENOENT"},
                      "open-to-write /sys/kernel/uevent_helper": {READ_ONLY, "ENOENT"}, **WORK}, box=widened(self.target()))

    @only_rung(NO_GRANTS)
    def test_a_second_procfs_or_sysfs_of_the_config_is_read_only(self):
        box = widened(self.target())
        box.bundle.add_mount("/mnt/proc", "proc", "proc")
        box.bundle.add_mount("/mnt/sys", "sysfs", "sysfs")

        self.becomes({"open-to-write /mnt/proc/sys/kernel/core_pattern": READ_ONLY,
                      "open-to-write /mnt/sys/kernel/uevent_helper": {READ_ONLY, "ENOENT"}, **WORK}, box=box)

    @only_rung(NO_GRANTS)
    def test_a_bind_that_brings_in_the_hosts_proc_a_socket_or_the_image_is_refused(self):
        for source in ("/proc", "/", self.socket_of_the_host(), "rootfs/bin"):
            with self.subTest(source):
                box = self.target()
                box.bundle.add_mount("/work/out", source, options=["rbind"])

                self.fails(self.under(box, grant_with(filesystem={"rootfs": "readOnly", "readWrite": ["/work/out"]})),
                           "grant_unenforceable: ")

    def socket_of_the_host(self):
        path = os.path.join(self.work, "socket")
        if not os.path.exists(path):
            with socket.socket(socket.AF_UNIX) as listener:
                listener.bind(path)
        return path

    @only_rung(NO_GRANTS)
    def test_a_namespace_of_the_hosts_own_by_path_is_refused(self):
        for kind in ("pid", "ipc", "uts"):
            with self.subTest(kind):
                box = self.target()
                for namespace in box.config["linux"]["namespaces"]:
                    if namespace["type"] == kind:
                        namespace["path"] = f"/proc/self/ns/{kind}"

                self.fails(self.under(box), f"grant_unenforceable: linux.namespaces[{kind}]")

    @only_rung(NO_GRANTS)
    def test_a_memory_limit_of_zero_in_the_config_does_not_lift_the_grants(self):
        box = self.target()
        box.config["linux"]["resources"]["memory"] = {"limit": 0}
        box.args("sh", "-c", "cat /sys/fs/cgroup/memory/memory.limit_in_bytes /sys/fs/cgroup/memory.max 2>/dev/null; true")

        result = self.succeed(self.under(box, grant_with(limits={"memory": "64Mi"})))

        self.assertEqual(result.out.split(), ["67108864"])

    @only_rung(NO_GRANTS)
    def test_a_bind_of_the_hosts_sys_is_read_only(self):
        box = self.target()
        box.bundle.add_mount("/host/sys/fs/cgroup", "/sys/fs/cgroup", options=["rbind"])

        self.becomes({"mkdir /host/sys/fs/cgroup/pids/x": {READ_ONLY, "ENOENT"},
                      "open-to-write /host/sys/fs/cgroup/unified/cgroup.procs": {READ_ONLY, "ENOENT"},
                      "open-to-write /host/sys/fs/cgroup/cgroup.procs": {READ_ONLY, "ENOENT"}, **WORK}, box=box)

    @only_rung(NO_GRANTS)
    def test_a_granted_path_below_the_kernels_own_mounts_stays_read_only_or_is_refused(self):
        for path in ("/proc/sys/kernel", "/sys/fs/cgroup", "/dev"):
            with self.subTest(path):
                box = widened(self.target()).args("touch", f"{path}/x")

                result = self.under(box, grant_with(filesystem={"rootfs": "readOnly", "readWrite": [path]}))

                self.assertNotEqual(result.code, 0, repr(result))


class Exec(Attacked):
    def running(self, grant=GRANT):
        box = widened(self.target()).args("sleep", "100")
        self.succeed(self.under(box, grant, verb="detach"))
        return box

    def exec_becomes(self, box, expected, *options, args=True):
        result = box.exec(*(["/bin/attack", *expected] if args else []), options=options)
        self.outcomes_are(self.succeed(result).out, expected)

    @only_rung(NO_GRANTS)
    def test_a_process_of_exec_is_held_as_the_first_one_is(self):
        self.exec_becomes(self.running(), {**HARM, **WORK})

    @only_rung(NO_GRANTS)
    def test_capabilities_and_users_of_exec_widen_nothing(self):
        box = self.running()

        self.exec_becomes(box, {"identity": "ok", **HARM, **WORK}, "--cap", "CAP_SYS_ADMIN", "--cap", "CAP_NET_ADMIN")
        self.exec_becomes(box, {"identity": "ok", **HARM, **WORK}, "--user", "0")
        self.exec_becomes(box, {"identity": "ok 1000", "setuid 0": DENIED}, "--user", "1000:1000", "--cap", "CAP_SETUID")

    @only_rung(NO_GRANTS)
    def test_a_process_file_widens_nothing(self):
        box = self.running(grant_with(limits={"openFiles": 50}))
        expected = {"identity": "ok", "open-files 100": "EMFILE 50", "raise-open-files 51": DENIED, **HARM, **WORK}
        path = os.path.join(self.work, "process.json")
        with open(path, "w", encoding="utf-8") as file:
            json.dump({"args": ["/bin/attack", *expected], "cwd": "/", "user": {"uid": 0, "gid": 0}, "noNewPrivileges": False,
                       "env": [], "capabilities": {name: CAPABILITIES for name in ("bounding", "effective", "permitted",
                                                                                   "inheritable", "ambient")},
                       "rlimits": [{"type": "RLIMIT_NOFILE", "soft": 4096, "hard": 4096}]}, file)

        self.exec_becomes(box, expected, "--process", path, args=False)

    @only_rung(NO_GRANTS)
    def test_status_of_a_process_of_exec_is_that_of_the_first(self):
        box = self.running()
        words = ("Cap", "NoNewPrivs", "Seccomp")
        with open(f"/proc/{box.pid()}/status", encoding="ascii") as file:
            first = [line for line in file.read().splitlines() if line.startswith(words)]

        out = self.succeed(box.exec("cat", "/proc/self/status")).out

        self.assertEqual([line for line in out.splitlines() if line.startswith(words)], first)

    @only_rung(NO_GRANTS)
    def test_a_grant_taken_away_from_the_bundle_still_holds_for_exec(self):
        box = self.target().args("sleep", "100")
        beside = os.path.join(box.bundle.path, "grant.json")
        with open(beside, "w", encoding="utf-8") as file:
            json.dump(GRANT, file)
        self.succeed(box.run_detached())
        os.remove(beside)
        os.remove(os.path.join(box.bundle.path, "config.json"))

        self.exec_becomes(box, {"identity": "ok", "write /x": READ_ONLY, "call bpf": DENIED}, "--cap", "CAP_SYS_ADMIN")

    @only_rung(NO_GRANTS)
    def test_exec_cannot_leave_the_cgroup_of_the_container(self):
        box = self.running(grant_with(limits={"pids": 20}))

        self.exec_becomes(box, {"fork 100": "EAGAIN 17"})


class Sources(Attacked):
    ONE = grant_with(filesystem={"rootfs": "readOnly", "readWrite": ["/work/out", "/work/in"]}, limits={"pids": 20})
    OTHER = grant_with(filesystem={"rootfs": "readOnly", "readWrite": ["/work/out", "/work/output"]}, limits={"openFiles": 50})
    BOTH = {"write /work/out/x": "ok", "write /work/in/x": READ_ONLY, "write /work/output/x": READ_ONLY,
            "fork 100": "EAGAIN 18", "open-files 100": "EMFILE 50"}

    def beside(self, box, document):
        with open(os.path.join(box.bundle.path, "grant.json"), "w", encoding="utf-8") as file:
            json.dump(document, file)
        return box

    @only_rung(NO_GRANTS)
    def test_two_grants_are_both_in_force_in_either_order(self):
        self.becomes(self.BOTH, self.ONE, self.OTHER)
        self.becomes(self.BOTH, self.OTHER, self.ONE)

    @only_rung(NO_GRANTS)
    def test_a_grant_beside_the_config_and_one_of_the_call_are_both_in_force(self):
        self.becomes(self.BOTH, self.ONE, box=self.beside(self.target(), self.OTHER))

    @only_rung(NO_GRANTS)
    def test_a_grant_of_an_annotation_and_one_of_the_call_are_both_in_force(self):
        box = self.target()
        box.config["annotations"] = {"dev.rung.grant": json.dumps(self.OTHER), "org.example.other": "ignored"}

        self.becomes(self.BOTH, self.ONE, box=box)

    @only_rung(NO_GRANTS)
    def test_a_grant_in_the_environment_is_no_grant_and_opens_nothing(self):
        box = self.target()
        box.config["process"]["env"].append("RUNG_GRANT=" + json.dumps(grant_with(capabilities=CAPABILITIES)))

        self.becomes(HARM, box=box)

    @only_rung(NO_GRANTS)
    def test_a_grant_that_lists_every_capability_adds_none(self):
        generous = grant_with(capabilities=CAPABILITIES, filesystem={"rootfs": "readOnly", "readWrite": ["/work"]})

        self.becomes({"capset 21": DENIED, "capset 1": DENIED, "mount /work/out tmpfs": DENIED}, generous)

    @only_rung(NO_GRANTS)
    def test_capabilities_that_undo_a_grant_are_never_given(self):
        generous = grant_with(capabilities=CAPABILITIES)

        self.becomes({"capset 12": DENIED, "capset 13": DENIED, "capset 21": DENIED, "capset 2": DENIED, "capset 16": DENIED,
                      "capset 0": "ok", "mount /scratch tmpfs": DENIED, "socket 17 3 768": DENIED,
                      "connect 10.0.0.1 80": "ENETUNREACH"}, generous, box=widened(self.target()))

    @only_rung(NO_GRANTS)
    def test_one_bad_source_among_good_ones_stops_everything(self):
        box = self.target()
        self.beside(box, {"grantVersion": "1", "filesytem": {}})
        self.refused(self.ONE, "grant_unknown_field", "filesytem", box=box)

        for name, word in (("dev.rung.grants", "dev.rung.grants"), ("dev.rung.grant-ref", "grant_missing")):
            with self.subTest(name):
                box = self.target()
                box.config["annotations"] = {name: "x"}
                self.refused(self.ONE, word, box=box)


class Refused(Attacked):
    seconds = 180  # many containers in one test, each looked for on the whole host afterwards

    @only_rung(NO_GRANTS)
    def test_each_field_that_is_not_enforced_is_named(self):
        for field, sections in {
                "network.egress": {"network": {"egress": [{"host": "api.example.com"}]}},
                "network.ingress": {"network": {"ingress": [{"port": 8080}]}},
                "budgets.activeDeadlineSeconds": {"budgets": {"activeDeadlineSeconds": 5}},
                "budgets.maxOps": {"budgets": {"maxOps": 5}},
                "budgets.maxOutputBytes": {"budgets": {"maxOutputBytes": "1Mi"}},
                "budgets.maxEgressBytes": {"budgets": {"maxEgressBytes": "1Mi"}},
                "terminationGracePeriodSeconds": {"terminationGracePeriodSeconds": 3},
                "audit.level": {"audit": {"level": "decisions"}},
                "audit.feedback": {"audit": {"feedback": True}},
                "devices": {"devices": ["vendor.com/gpu=0"]},
                "secrets": {"secrets": [{"name": "token", "hosts": ["api.example.com"]}]},
                "limits.ephemeralStorage": {"limits": {"ephemeralStorage": "1Gi"}},
                "isolation.minimum": {"isolation": {"minimum": "gvisor"}}}.items():
            with self.subTest(field):
                self.refused(grant_with(**sections), f"grant_unenforceable: {field}:")

    @only_rung(NO_GRANTS)
    def test_a_list_that_is_empty_asks_for_nothing_and_runs(self):
        self.becomes({"connect 10.0.0.1 80": "ENETUNREACH", "exec /bin/true": "ok"},
                     grant_with(network={"egress": [], "ingress": []}, devices=[], secrets=[], capabilities=[]))

    @only_rung(NO_GRANTS)
    def test_a_document_that_is_not_a_grant_is_refused_in_one_line(self):
        for word, document in {
                "grant_unrunnable": '{"grantVersion": "1"}',
                "grant_version_unsupported": '{"grantVersion": "2", "tools": ["/"]}',
                "grant_unknown_field": '{"grantVersion": "1", "tool": ["/"]}',
                "grant_duplicate_key": '{"grantVersion": "1", "tools": ["/"], "tools": ["/"]}',
                "grant_too_large": json.dumps(grant_with(metadata={"name": "x" * (70 << 10)})),
                "grant_parse_error": "grantVersion: \"1\"\ntools: &all [/]\n",
                "grant_expired": json.dumps(grant_with(metadata={"expiresAt": "2020-01-01T00:00:00Z"})),
                "grant_not_yet_valid": json.dumps(grant_with(metadata={"notBefore": "2100-01-01T00:00:00Z"})),
                "path_traversal": json.dumps(grant_with(filesystem={"rootfs": "readOnly", "readWrite": ["/work/../etc"]})),
                "path_reserved": json.dumps(grant_with(filesystem={"rootfs": "readOnly", "readWrite": ["/"]})),
                "capability_unknown": json.dumps(grant_with(capabilities=["CAP_EVERYTHING"]))}.items():
            with self.subTest(word):
                self.refused(document, word)

    @only_rung(NO_GRANTS)
    def test_the_program_that_may_not_run_is_named(self):
        self.refused({"grantVersion": "1"}, "grant_unrunnable", "\"true\"")
        self.refused(grant_with(tools=[]), "grant_unrunnable", "\"true\"")

    @only_rung(NO_GRANTS)
    def test_a_grant_that_runs_out_ends_exec(self):
        box = self.target().args("sleep", "100")
        soon = subprocess.run(["date", "-u", "-d", "+3 seconds", "+%Y-%m-%dT%H:%M:%SZ"], capture_output=True, text=True,
                              check=True).stdout.strip()
        self.succeed(self.under(box, grant_with(metadata={"expiresAt": soon}), verb="detach"))
        self.succeed(box.exec("true"))

        host.wait_until(lambda: box.exec("true").code != 0, 8, "the end of the grant")

        self.fails(box.exec("true"), "grant_expired", code=255)

    @only_rung(NO_GRANTS)
    def test_a_writable_path_that_is_not_there_is_named(self):
        box = self.target()
        os.mkdir(os.path.join(self.work, "volume"))
        box.bundle.add_mount("/volume", os.path.join(self.work, "volume"), options=["bind"])

        for path in ("/work/nowhere", "/volume/nowhere"):
            with self.subTest(path):
                self.refused(grant_with(filesystem={"rootfs": "readOnly", "readWrite": [path]}), "path_not_found",
                             "filesystem.readWrite", path, box=box)

    @only_rung(NO_GRANTS)
    def test_a_config_that_joins_a_mount_namespace_is_refused(self):
        box = self.target()
        box.bundle.namespace("mount", "/proc/self/ns/mnt")

        self.refused(GRANT, "grant_unenforceable: filesystem", box=box)

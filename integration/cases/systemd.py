"""The systemd driver (--systemd-cgroup): scopes, their limits, what becomes of them. Skipped where systemd is not PID 1.

SPDX-License-Identifier: Apache-2.0
"""

import json
import os
import subprocess
import unittest

from rungtest import Case, differs, host, only_rung, runtime

BOOTED = os.path.isdir("/run/systemd/system")  # sd_booted(3)


def show(unit, *names):
    """Properties of a unit, as systemd has them."""
    answer = subprocess.run(["systemctl", "show", unit, *(f"-p{name}" for name in names)], check=True,
                            capture_output=True, text=True).stdout
    return dict(line.split("=", 1) for line in answer.splitlines())


class Scoped(Case):
    seconds = 240  # an emulated machine has its time

    def setUp(self):
        if not BOOTED:
            raise unittest.SkipTest("systemd is not PID 1 here; integration/vm/check runs these")
        super().setUp()
        self.runtime.options += ["--systemd-cgroup"]

    @staticmethod
    def as_scope(box):
        box.config["linux"]["cgroupsPath"] = f"system.slice:t:{box.id}"
        box.scope = f"t-{box.id}.scope"
        box.cgroup = f"/system.slice/{box.scope}"
        return box

    def scoped(self, name=None, **resources):
        box = self.as_scope(self.container(name).args("sleep", "1000"))
        box.config["linux"]["resources"].update(resources)
        return box

    def running(self, name=None, **resources):
        box = self.scoped(name, **resources)
        self.succeed(box.run_detached())
        return box

    def cgroup_of(self, box):
        return self.succeed(box.exec("cat", "/proc/self/cgroup")).out


class Units(Scoped):
    def test_the_container_is_a_delegated_scope_in_its_slice(self):
        box = self.running()

        self.assertEqual(show(box.scope, "ActiveState", "Slice", "Delegate", "ControlGroup", "Transient"),
                         {"ActiveState": "active", "Slice": "system.slice", "Delegate": "yes", "Transient": "yes",
                          "ControlGroup": box.cgroup})
        self.assertIn(box.cgroup, self.cgroup_of(box))

    def test_a_dash_makes_a_slice_within_a_slice(self):
        box = self.scoped()
        box.config["linux"]["cgroupsPath"] = f"test-rung.slice:t:{box.id}"

        self.succeed(box.run_detached())

        self.assertIn(f"/test.slice/test-rung.slice/t-{box.id}.scope", self.cgroup_of(box))

    def test_without_a_path_the_scope_is_named_after_runtime_and_id(self):
        box = self.scoped()
        del box.config["linux"]["cgroupsPath"]

        self.succeed(box.run_detached())

        if self.kind != "crun":
            self.assertIn(f"/system.slice/{self.kind}-{box.id}.scope", self.cgroup_of(box))

    @differs(crun="takes any path")
    def test_a_path_that_is_no_triple_is_an_error(self):
        box = self.scoped()
        box.config["linux"]["cgroupsPath"] = f"/{box.id}"

        self.fails(box.create(), "slice:prefix:name")

        self.is_gone(box)

    def test_an_id_can_be_used_again_at_once(self):
        box = self.scoped()
        for _ in range(4):
            self.succeed(box.run_detached())
            self.succeed(box.delete("--force"))
            host.reap(box.created_pid)

        self.assertNotEqual(show(box.scope, "ActiveState")["ActiveState"], "active")

    def test_a_container_that_ended_leaves_no_unit(self):
        box = self.scoped().args("true")

        self.succeed(box.run())

        self.succeed(box.delete("--force"))
        host.wait_until(lambda: show(box.scope, "LoadState")["LoadState"] == "not-found", 30, "the end of the unit")

    @differs(runc="1.1 starts beside what is in it")
    def test_a_unit_of_that_name_is_not_taken_over(self):
        box = self.scoped()
        stranger = subprocess.Popen(["systemd-run", "--scope", f"--unit={box.scope}", "sleep", "1000"],
                                    stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            host.wait_until(lambda: show(box.scope, "ActiveState")["ActiveState"] == "active", 60, "the other scope")

            result = box.create()

            self.assertNotEqual(result.code, 0, repr(result))
            self.assertIsNone(stranger.poll())
            self.assertEqual(show(box.scope, "ActiveState")["ActiveState"], "active")
        finally:
            stranger.kill()
            stranger.wait()
            host.wait_until(lambda: not host.cgroup_directories(box.scope), 60, "the end of the other scope")

    def test_a_failed_create_leaves_no_unit(self):
        box = self.scoped(cpu={"cpus": "4000"})

        self.assertNotEqual(box.create().code, 0)

        self.is_gone(box)
        self.assertNotEqual(show(box.scope, "ActiveState")["ActiveState"], "active")

    def test_delete_kills_what_hides_in_a_cgroup_below(self):
        box = self.scoped()
        box.bundle.namespace("cgroup")
        box.bundle.drop_namespace("pid")
        box.bundle.open_cgroup_mount()
        box.shell("mkdir /sys/fs/cgroup/below; (echo 0 > /sys/fs/cgroup/below/cgroup.procs; exec sleep 1000) & "
                  "exec sleep 1000")
        self.succeed(box.run_detached())
        host.wait_until(lambda: any(path.endswith("/below") for path in host.cgroup_directories(box.id)), 60)

        self.succeed(box.delete("--force"))

        self.is_gone(box)


class Limits(Scoped):
    @differs(crun="1.8 writes files only, which a reload undoes")
    def test_limits_are_in_the_unit_and_in_the_files(self):
        box = self.running(memory={"limit": 64 << 20, "reservation": 32 << 20, "swap": 96 << 20},
                           cpu={"shares": 1024, "quota": 20000, "period": 50000, "cpus": "0"}, pids={"limit": 33})

        self.assertEqual(show(box.scope, "MemoryMax", "MemoryLow", "MemorySwapMax", "CPUQuotaPerSecUSec", "TasksMax",
                              "AllowedCPUs"),
                         {"MemoryMax": str(64 << 20), "MemoryLow": str(32 << 20), "MemorySwapMax": str(32 << 20),
                          "CPUQuotaPerSecUSec": "400ms", "TasksMax": "33", "AllowedCPUs": "0"})
        self.assertEqual([box.cgroup_file("", name) for name in ("memory.max", "cpu.max", "pids.max", "cpuset.cpus")],
                         [str(64 << 20), "20000 50000", "33", "0"])

    def test_unified_files_are_in_the_unit_as_well(self):
        box = self.running(unified={"memory.high": "50000000", "pids.max": "17", "memory.oom.group": "1"})

        self.assertEqual(show(box.scope, "TasksMax", "MemoryHigh"), {"TasksMax": "17", "MemoryHigh": "50000000"})
        self.assertEqual(box.cgroup_file("", "memory.oom.group"), "1")

    @differs(crun="1.8 writes files only, which a reload undoes")
    def test_limits_and_devices_outlive_a_reload_of_systemd(self):
        box = self.scoped(pids={"limit": 33}, devices=[
            {"allow": False, "access": "rwm"}, {"allow": True, "type": "c", "major": 1, "minor": 11, "access": "r"}])
        box.config["linux"]["devices"] = [{"path": "/dev/kmsg", "type": "c", "major": 1, "minor": 11}]
        box.bundle.grant_capabilities("CAP_SYSLOG")
        self.succeed(box.run_detached())
        attempt = ("(exec 3< /dev/kmsg) && echo read; (exec 3> /dev/null) && echo write; "
                   "(exec 3> /dev/kmsg) 2>/dev/null || echo closed")
        before = self.succeed(box.exec("sh", "-c", attempt)).out.split()

        subprocess.run(["systemctl", "daemon-reload"], check=True)

        self.assertEqual(before, ["read", "write", "closed"])
        self.assertEqual(self.succeed(box.exec("sh", "-c", attempt)).out.split(), before)
        self.assertEqual(box.cgroup_file("", "pids.max"), "33")

    @differs(crun="1.8 writes files only, which a reload undoes")
    def test_an_update_reaches_unit_and_file(self):
        box = self.running(pids={"limit": 33}, memory={"limit": 64 << 20})

        result = self.runtime.call("update", "--pids-limit", "44", box.id)
        if "update is not supported" in result.err:
            self.skipTest("this runtime has no update")
        self.succeed(result)

        self.assertEqual(show(box.scope, "TasksMax", "MemoryMax"), {"TasksMax": "44", "MemoryMax": str(64 << 20)})
        self.assertEqual(box.cgroup_file("", "pids.max"), "44")


    @differs(runc="1.1 leaves what systemd made of it", crun="1.8 has other units for memory")
    def test_an_update_leaves_other_limits_as_exact_as_they_were(self):
        box = self.running(cpu={"quota": 12345, "period": 100000}, memory={"limit": 64 << 20})

        for shares in ("512", "2048"):
            self.succeed(self.runtime.call("update", "--cpu-share", shares, box.id))
        kept = box.cgroup_file("", "cpu.max")
        self.succeed(self.runtime.call("update", "--cpu-quota", "23456", box.id))

        # systemd has a quota as whole percents.
        self.assertEqual((kept, box.cgroup_file("", "cpu.max")), ("12345 100000", "23456 100000"))

    @only_rung("they have no way back")
    def test_an_update_that_fails_changes_neither_unit_nor_file(self):
        box = self.running(pids={"limit": 33}, memory={"limit": 64 << 20})

        for wrong in ({"cpu": {"cpus": "4000"}}, {"unified": {"memory.high": "much"}}):
            with self.subTest(wrong):
                wanted = {"memory": {"limit": 48 << 20}, "pids": {"limit": 44}, **wrong}
                self.fails(self.runtime.call("update", "-r", "-", box.id, stdin=json.dumps(wanted)))

                self.assertEqual(show(box.scope, "TasksMax", "MemoryMax", "AllowedCPUs"),
                                 {"TasksMax": "33", "MemoryMax": str(64 << 20), "AllowedCPUs": ""})
                self.assertEqual([box.cgroup_file("", name) for name in ("pids.max", "memory.max", "cpuset.cpus")],
                                 ["33", str(64 << 20), ""])


class Damaged(Scoped):
    @differs(runc="needs its state", crun="needs its state")
    def test_a_forced_delete_finds_the_scope_without_the_state(self):
        for options in (["--systemd-cgroup"], []):
            for path in ("triple", "none"):
                with self.subTest(options=options, path=path):
                    box = self.scoped(f"{path}{len(options)}")
                    if path == "none":
                        del box.config["linux"]["cgroupsPath"]
                    self.succeed(box.run_detached())
                    with open(os.path.join(self.runtime.root, box.id, "state.json"), "w", encoding="ascii") as file:
                        file.write("{")

                    result = runtime.run([self.runtime.path, "--root", self.runtime.root, *options, "delete", "--force", box.id])

                    self.succeed(result)
                    self.is_gone(box)


class Annotations(Scoped):
    def annotated(self, **properties):
        box = self.scoped()
        box.config["annotations"] = {f"org.systemd.property.{name}": text for name, text in properties.items()}
        return box

    def test_properties_of_the_unit_can_be_set(self):
        box = self.annotated(TimeoutStopUSec="uint64 123000000", CollectMode="'inactive-or-failed'")

        self.succeed(box.run_detached())

        self.assertEqual(show(box.scope, "TimeoutStopUSec", "CollectMode"),
                         {"TimeoutStopUSec": "2min 3s", "CollectMode": "inactive-or-failed"})

    def test_an_odd_value_is_an_error(self):
        box = self.annotated(TimeoutStopUSec="soon")

        self.assertNotEqual(box.create().code, 0)

        self.is_gone(box)

    @only_rung("they set whatever systemd takes")
    def test_a_property_that_is_not_the_containers_is_refused(self):
        box = self.annotated(MemoryMax="uint64 1")

        self.fails(box.create(), "org.systemd.property.MemoryMax", "may not set this property")

        self.is_gone(box)

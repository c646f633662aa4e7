"""update: other limits for a container that runs, as the kernel's control files have them; on v1 and on v2.

SPDX-License-Identifier: Apache-2.0
"""

import json
import os

from rungtest import Case, differs, host, only_rung
from rungtest.attacks import grant_with

MIB = 1 << 20


class Updated(Case):
    def limited(self, **resources):
        box = self.container().args("sleep", "100")
        box.config["linux"]["resources"].update(resources)
        self.succeed(box.run_detached())
        return box

    def update(self, box, *flags):
        # crun takes bytes alone.
        flags = [str(int(flag[:-1]) * MIB) if flag[:-1].isdigit() and flag[-1] == "M" else flag for flag in flags]
        return self.runtime.call("update", *flags, box.id)

    def update_from(self, box, document):
        return self.runtime.call("update", "--resources", "-", box.id, stdin=json.dumps(document))

    def value(self, box, controller, v1, v2):
        """The control file `v1` of the controller, or `v2`."""
        return box.cgroup_file(controller, v2 if host.cgroup_is_v2() else v1)

    def memory(self, box):
        return self.value(box, "memory", "memory.limit_in_bytes", "memory.max")

    def with_swap(self, box):
        """The limit for memory and swap together; "max" for none."""
        if not host.cgroup_is_v2():
            value = box.cgroup_file("memory", "memory.memsw.limit_in_bytes")
            return "max" if int(value) > 1 << 60 else value
        swap = box.cgroup_file("memory", "memory.swap.max")
        return swap if swap == "max" else str(int(swap) + int(self.memory(box)))

    def quota(self, box):
        """(quota, period), as text; a quota of -1 is none."""
        if not host.cgroup_is_v2():
            return box.cgroup_file("cpu", "cpu.cfs_quota_us"), box.cgroup_file("cpu", "cpu.cfs_period_us")
        quota, period = box.cgroup_file("cpu", "cpu.max").split()
        return ("-1" if quota == "max" else quota), period

    def pids(self, box):
        return box.cgroup_file("pids", "pids.max")


class Limits(Updated):
    @differs(crun="1.8 takes bytes alone")
    def test_memory_is_set_in_bytes_or_with_a_unit(self):
        box = self.limited(memory={"limit": 32 * MIB})

        for text, expected in (("67108864", 64 * MIB), ("50M", 50 * MIB), ("1G", 1024 * MIB), ("70mb", 70 * MIB)):
            with self.subTest(text):
                self.succeed(self.runtime.call("update", "--memory", text, box.id))
                self.assertEqual(self.memory(box), str(expected))

    @differs(crun="1.8 takes no flags behind the id")
    def test_flags_may_follow_the_id(self):
        box = self.limited()

        self.succeed(self.runtime.call("update", box.id, "--memory", "50M", "--pids-limit=12"))

        self.assertEqual((self.memory(box), self.pids(box)), (str(50 * MIB), "12"))

    def test_memory_and_swap_are_raised_and_lowered_together(self):
        box = self.limited(memory={"limit": 32 * MIB, "swap": 40 * MIB})

        for memory, swap in ((30, 50), (60, 80), (20, 20), (100, 200)):
            with self.subTest((memory, swap)):
                self.succeed(self.update(box, "--memory", f"{memory}M", "--memory-swap", f"{swap}M"))
                self.assertEqual((self.memory(box), self.with_swap(box)), (str(memory * MIB), str(swap * MIB)))

    @differs(crun="1.8 minds the limit that it does not touch")
    def test_swap_alone_keeps_the_memory_limit(self):
        box = self.limited(memory={"limit": 32 * MIB, "swap": 32 * MIB})

        self.succeed(self.update(box, "--memory-swap", "48M"))

        self.assertEqual((self.memory(box), self.with_swap(box)), (str(32 * MIB), str(48 * MIB)))

    @differs(crun="1.8 fails")
    def test_memory_without_limit_lifts_the_limit_of_swap_too(self):
        box = self.limited(memory={"limit": 32 * MIB, "swap": 40 * MIB})

        self.succeed(self.update(box, "--memory", "-1"))

        self.assertEqual(self.with_swap(box), "max")
        self.assertTrue(self.memory(box) == "max" or int(self.memory(box)) > 1 << 60)

    def test_a_reservation_is_set(self):
        box = self.limited()

        self.succeed(self.update(box, "--memory-reservation", "32M"))

        self.assertEqual(self.value(box, "memory", "memory.soft_limit_in_bytes", "memory.low"), str(32 * MIB))

    def test_quota_and_period_are_set_in_any_order(self):
        box = self.limited(cpu={"quota": 500000, "period": 1000000})

        self.succeed(self.update(box, "--cpu-period", "10000", "--cpu-quota", "3000"))
        small = self.quota(box)
        self.succeed(self.update(box, "--cpu-period", "900000", "--cpu-quota", "600000"))

        self.assertEqual((small, self.quota(box)), (("3000", "10000"), ("600000", "900000")))

    @differs(crun="1.8 forgets the other one")
    def test_quota_and_period_alone_keep_the_other(self):
        box = self.limited(cpu={"quota": 500000, "period": 1000000})

        self.succeed(self.update(box, "--cpu-period", "900000"))
        first = self.quota(box)
        self.succeed(self.update(box, "--cpu-quota", "600000"))
        second = self.quota(box)
        self.succeed(self.update(box, "--cpu-quota", "-1"))

        self.assertEqual((first, second, self.quota(box)),
                         (("500000", "900000"), ("600000", "900000"), ("-1", "900000")))

    @differs(crun="1.8 fails")
    def test_a_period_without_any_quota_is_set(self):
        box = self.limited()

        self.succeed(self.update(box, "--cpu-period", "50000"))

        self.assertEqual(self.quota(box), ("-1", "50000"))

    def test_shares_and_processors_are_set(self):
        box = self.limited(cpu={"shares": 100})

        self.succeed(self.update(box, "--cpu-share", "200", "--cpuset-cpus", "0", "--cpuset-mems", "0"))

        self.assertEqual(box.cgroup_file("cpuset", "cpuset.cpus"), "0")
        if not host.cgroup_is_v2():
            self.assertEqual(box.cgroup_file("cpu", "cpu.shares"), "200")

    @differs(runc="1.1 has no --cpu-idle and --cpu-burst", crun="has no --cpu-idle and --cpu-burst")
    def test_idle_and_burst_are_set(self):
        box = self.limited(cpu={"quota": 50000, "period": 100000})

        for idle in ("1", "0", "1"):
            self.succeed(self.update(box, "--cpu-idle", idle))
            self.assertEqual(box.cgroup_file("cpu", "cpu.idle"), idle)
        self.fails(self.update(box, "--cpu-idle", "3"), "linux.resources.cpu.idle")
        self.succeed(self.update(box, "--cpu-burst", "20000"))
        self.succeed(self.update(box, "--memory", "100M"))

        self.assertEqual(self.value(box, "cpu", "cpu.cfs_burst_us", "cpu.max.burst"), "20000")
        self.assertEqual(box.cgroup_file("cpu", "cpu.idle"), "1")

    @differs(runc="1.1 takes 0 for unchanged", crun="1.8 takes 0 for unchanged")
    def test_no_processes_is_one_and_minus_one_is_no_limit(self):
        box = self.limited(pids={"limit": 20})

        seen = []
        for limit in ("10", "-1", "0"):
            self.succeed(self.update(box, "--pids-limit", limit))
            seen.append(self.pids(box))

        self.assertEqual(seen, ["10", "max", "1"])

    @differs(crun="1.8 minds the file of another scheduler")
    def test_the_weight_of_block_devices_is_set(self):
        box = self.limited()
        name = "io.bfq.weight" if host.cgroup_is_v2() else "blkio.bfq.weight"
        if not os.path.exists(host.cgroup_file(box.cgroup, "blkio", name)):
            return  # this kernel has another scheduler, with a file of its own

        self.succeed(self.update(box, "--blkio-weight", "500"))

        self.assertIn("500", box.cgroup_file("blkio", name))


class Documents(Updated):
    def test_a_document_comes_from_a_file_or_standard_input(self):
        box = self.limited()
        path = os.path.join(self.work, "resources.json")
        with open(path, "w", encoding="utf-8") as file:
            json.dump({"memory": {"limit": 48 * MIB}}, file)

        self.succeed(self.update(box, "-r", path))
        first = self.memory(box)
        self.succeed(self.update_from(box, {"memory": {"limit": 64 * MIB}, "pids": {"limit": 12}}))

        self.assertEqual((first, self.memory(box), self.pids(box)), (str(48 * MIB), str(64 * MIB), "12"))

    @differs(crun="1.8 writes the zeros")
    def test_zero_and_absent_mean_unchanged_as_docker_sends_them(self):
        box = self.limited(memory={"limit": 32 * MIB, "reservation": 24 * MIB}, cpu={"shares": 100, "quota": 20000},
                           pids={"limit": 20})
        before = (self.memory(box), self.quota(box))

        self.succeed(self.update_from(box, {
            "memory": {"limit": 0, "reservation": 0, "swap": 0, "kernel": 0},
            "cpu": {"shares": 0, "quota": 0, "period": 0, "cpus": "", "mems": ""},
            "blockIO": {"weight": 0}}))
        self.succeed(self.update_from(box, {}))

        self.assertEqual((self.memory(box), self.quota(box), self.pids(box)), (*before, "20"))

    def test_device_rules_of_an_update_are_passed_over(self):
        box = self.limited()

        self.succeed(self.update_from(box, {"devices": [{"allow": False, "access": "rwm"}],
                                            "memory": {"limit": 48 * MIB}}))

        self.prints(box.exec("sh", "-c", "echo alive > /dev/null && echo alive"), "alive")
        self.assertEqual(self.memory(box), str(48 * MIB))

    @differs(crun="1.8 takes them for limits")
    def test_kernel_memory_is_passed_over(self):
        box = self.limited()

        self.succeed(self.update_from(box, {"memory": {"limit": 48 * MIB, "kernel": 16 * MIB, "kernelTCP": 16 * MIB}}))

        self.assertEqual(self.memory(box), str(48 * MIB))

    @differs(runc="1.1 does not check on v1", crun="1.8 does not know checkBeforeUpdate")
    def test_a_limit_below_the_usage_is_rejected_when_it_is_to_be_checked(self):
        box = self.limited()

        result = self.update_from(box, {"memory": {"limit": 1024, "checkBeforeUpdate": True}})

        self.fails(result, "rejecting memory limit")
        self.assertEqual(box.status(), "running")

    @differs(crun="1.8 takes what is no number for zero")
    def test_a_damaged_document_and_a_missing_one_are_errors(self):
        box = self.limited(memory={"limit": 32 * MIB})

        for text in ("", "{", '{"memory": {"limit": "x"}}'):
            with self.subTest(text):
                self.assertNotEqual(self.runtime.call("update", "-r", "-", box.id, stdin=text).code, 0)
        self.fails(self.update(box, "-r", "/nonexistent"), "no such file or directory")

        self.assertEqual(self.memory(box), str(32 * MIB))


class Refused(Updated):
    @differs(crun="has a wording of its own")
    def test_a_stopped_container_has_no_limits_to_change(self):
        box = self.container().args("true")
        self.succeed(box.run_detached())
        box.wait_stopped()

        self.fails(self.update(box, "--memory", "50M"), "container not running")

    @differs(crun="has a wording of its own")
    def test_an_unknown_container_does_not_exist(self):
        self.fails(self.runtime.call("update", "--memory", "50M", "nobody"), "container does not exist")

    @differs(crun="1.8 takes what is no number for zero")
    def test_a_value_that_cannot_be_meant_is_named(self):
        box = self.limited()

        for flag, text in (("memory", "1x"), ("memory-swap", "-2"), ("cpu-quota", "much"), ("cpu-share", "-1")):
            with self.subTest(flag):
                self.fails(self.update(box, f"--{flag}", text), f"invalid value for {flag}")

    @differs(crun="1.8 has no such flags")
    def test_schemata_of_a_processor_without_them_are_refused(self):
        box = self.limited()

        self.fails(self.update(box, "--l3-cache-schema", "L3:0=f"), "l3 cache schema is not enabled")
        self.fails(self.update(box, "--mem-bw-schema", "MB:0=50"), "memory bandwidth schema is not enabled")

    def test_an_impossible_limit_changes_nothing(self):
        box = self.limited(memory={"limit": 32 * MIB}, pids={"limit": 20})

        result = self.update_from(box, {"memory": {"limit": 64 * MIB}, "pids": {"limit": 10}, "cpu": {"cpus": "4000"}})

        self.assertNotEqual(result.code, 0)
        if self.kind == "rung":
            self.assertEqual((self.memory(box), self.pids(box)), (str(32 * MIB), "20"))

    def test_what_is_written_first_is_undone_when_a_later_limit_is_impossible(self):
        box = self.limited(memory={"limit": 32 * MIB}, pids={"limit": 20})

        result = self.update(box, "--memory", "64M", "--cpu-period", "5")

        self.assertNotEqual(result.code, 0)
        if self.kind == "rung":
            self.assertEqual(self.memory(box), str(32 * MIB))


    def test_processors_that_were_not_set_are_not_set_after_a_failure(self):
        box = self.limited()
        # On v2 an empty list is the parent's; a cpuset with processes in it cannot be emptied again, but have the same.
        name = "cpuset.cpus.effective" if host.cgroup_is_v2() else "cpuset.cpus"
        before = box.cgroup_file("cpuset", name)

        result = self.update(box, "--cpuset-cpus", "0", "--cpu-period", "5")

        self.assertNotEqual(result.code, 0)
        if self.kind == "rung":
            self.assertEqual(box.cgroup_file("cpuset", name), before)


class Together(Updated):
    def test_a_paused_container_stays_paused(self):
        box = self.limited()
        self.succeed(self.runtime.call("pause", box.id))

        self.succeed(self.update(box, "--memory", "50M", "--pids-limit", "30"))

        self.assertEqual((box.status(), self.memory(box), self.pids(box)), ("paused", str(50 * MIB), "30"))

    def test_a_created_container_can_be_updated(self):
        box = self.container().args("sleep", "100")
        self.succeed(box.create())

        self.succeed(self.update(box, "--memory", "50M"))

        self.assertEqual((box.status(), self.memory(box)), ("created", str(50 * MIB)))

    def test_devices_stay_usable_during_updates(self):
        box = self.container().shell("while true; do echo > /dev/null || echo denied > /denied; done")
        self.succeed(box.run_detached())

        for limit in range(30, 50):
            self.succeed(self.update(box, "--pids-limit", str(limit)))

        self.assertFalse(os.path.exists(box.bundle.inside("/denied")))


class Granted(Updated):
    def granted(self, **limits):
        path = os.path.join(self.work, "grant.json")
        with open(path, "w", encoding="utf-8") as file:
            json.dump(grant_with(limits=limits, filesystem={"rootfs": "readOnly"}), file)
        box = self.container().args("sleep", "100")
        self.succeed(box.run_detached("--grant", path))
        return box

    @only_rung("grants")
    def test_memory_is_raised_up_to_the_grant_and_no_further(self):
        box = self.granted(memory="64Mi")
        self.succeed(self.update(box, "--memory", "32M"))

        for flags in (("--memory", "65M"), ("--memory", "-1"), ("--memory-swap", "128M"), ("--memory-swap", "-1"),
                      ("--memory", "64M", "--memory-swap", "65M")):
            with self.subTest(flags):
                self.fails(self.update(box, *flags), "exceeds_grant: limits.memory")
        refused = self.memory(box), self.with_swap(box)
        self.succeed(self.update(box, "--memory", "64M"))

        self.assertEqual(refused, (str(32 * MIB), str(32 * MIB)))
        self.assertEqual((self.memory(box), self.with_swap(box)), (str(64 * MIB), str(64 * MIB)))

    @only_rung("grants")
    def test_the_processor_is_raised_up_to_the_grant_and_no_further(self):
        box = self.granted(cpu="500m")
        self.succeed(self.update(box, "--cpu-quota", "20000"))

        for flags in (("--cpu-quota", "60000"), ("--cpu-quota", "-1"), ("--cpu-period", "10000"),
                      ("--cpu-burst", "10000"), ("--cpu-quota", "50000", "--cpu-period", "90000")):
            with self.subTest(flags):
                self.fails(self.update(box, *flags), "exceeds_grant: limits.cpu")
        self.assertEqual(self.quota(box), ("20000", "100000"))

        self.succeed(self.update(box, "--cpu-quota", "50000"))
        self.succeed(self.update(box, "--cpu-period", "200000"))
        self.assertEqual(self.quota(box), ("50000", "200000"))

    @only_rung("grants")
    def test_processes_are_raised_up_to_the_grant_and_no_further(self):
        box = self.granted(pids=20)
        self.succeed(self.update(box, "--pids-limit", "5"))

        self.fails(self.update(box, "--pids-limit", "21"), "exceeds_grant: limits.pids")
        self.fails(self.update(box, "--pids-limit", "-1"), "exceeds_grant: limits.pids")
        self.succeed(self.update(box, "--pids-limit", "20"))

        self.assertEqual(self.pids(box), "20")

    @only_rung("grants")
    def test_files_by_their_own_names_do_not_get_around_the_grant(self):
        box = self.granted(memory="64Mi", cpu="500m", pids=20)

        for file, text in (("memory.max", "max"), ("memory.swap.max", "max"), ("cpu.max", "max 100000"),
                           ("cpu.max.burst", "1000"), ("pids.max", "max")):
            with self.subTest(file):
                self.fails(self.update_from(box, {"unified": {file: text}}), "exceeds_grant")

    @only_rung("grants")
    def test_what_the_grant_does_not_limit_is_the_engines_to_set(self):
        box = self.granted(memory="64Mi")

        self.succeed(self.update(box, "--pids-limit", "500", "--cpu-quota", "60000", "--cpu-share", "200"))

        self.assertEqual((self.pids(box), self.quota(box)), ("500", ("60000", "100000")))

    @only_rung("grants")
    def test_under_a_grant_the_oom_killer_stays(self):
        self.fails(self.update_from(self.granted(memory="64Mi"), {"memory": {"disableOOMKiller": True}}),
                   "exceeds_grant")

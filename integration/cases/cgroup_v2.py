"""What only cgroup v2 has: threads, partitions, files by their names, programs that guard devices. Skipped on v1.

SPDX-License-Identifier: Apache-2.0
"""

import glob
import os
import subprocess

from rungtest import Case, differs, host, only_rung

MIB = 1 << 20


class OnV2(Case):
    def setUp(self):
        if not host.cgroup_is_v2():
            self.skipTest("cgroup v1; integration/vm/check runs these")
        super().setUp()

    def limited(self, **resources):
        box = self.container().args("sleep", "100")
        box.config["linux"]["resources"].update(resources)
        return box

    def running(self, **resources):
        box = self.limited(**resources)
        self.succeed(box.run_detached())
        return box

    def divided(self, script):
        """A container that may make cgroups below its own, and says when it has."""
        box = self.container().shell(f"cd /sys/fs/cgroup && {script} && touch /ready; sleep 100")
        box.bundle.namespace("cgroup")
        box.bundle.open_cgroup_mount()
        self.succeed(box.run_detached())
        host.wait_until(lambda: os.path.exists(box.bundle.inside("/ready")))
        return box

    def files(self, box, *names):
        return [box.cgroup_file("", name) for name in names]


class Conversions(OnV2):
    def test_memory_with_swap_is_split(self):
        box = self.running(memory={"limit": 64 * MIB, "swap": 96 * MIB, "reservation": 32 * MIB})

        self.assertEqual(self.files(box, "memory.max", "memory.swap.max", "memory.low"),
                         [str(64 * MIB), str(32 * MIB), str(32 * MIB)])

    def test_a_swap_limit_equal_to_the_memory_limit_leaves_no_swap(self):
        box = self.running(memory={"limit": 64 * MIB, "swap": 64 * MIB})

        self.assertEqual(self.files(box, "memory.max", "memory.swap.max"), [str(64 * MIB), "0"])

    def test_no_limit_at_all_is_max(self):
        box = self.running(memory={"limit": -1, "swap": -1}, pids={"limit": -1}, cpu={"quota": -1, "period": 50000})

        self.assertEqual(self.files(box, "memory.max", "memory.swap.max", "pids.max", "cpu.max"),
                         ["max", "max", "max", "max 50000"])

    @differs(crun="1.8 leaves the cgroup behind")
    def test_a_swap_limit_below_the_memory_limit_is_an_error(self):
        box = self.limited(memory={"limit": 64 * MIB, "swap": 32 * MIB})

        self.fails(box.create(), "memory+swap limit should be >= memory limit" if self.kind == "rung" else "")

        self.is_gone(box)

    @differs(runc="1.1 ignores it", crun="1.8 leaves the cgroup behind")
    def test_what_v2_cannot_do_is_an_error_that_names_the_field(self):
        for resources, field in (({"memory": {"swappiness": 10}}, "memory.swappiness"),
                                 ({"memory": {"disableOOMKiller": True}}, "memory.disableOOMKiller"),
                                 ({"cpu": {"realtimeRuntime": 1000}}, "cpu.realtimeRuntime"),
                                 ({"network": {"classID": 1}}, "network.classID")):
            with self.subTest(field):
                box = self.limited(**resources)

                self.fails(box.create(), f"linux.resources.{field}", "cgroup v2")

                self.is_gone(box)

    @differs(crun="1.8 does not know burst and idle", runc="1.1 does not know burst and idle")
    def test_burst_and_idle_are_set(self):
        box = self.running(cpu={"quota": 20000, "period": 50000, "burst": 10000})
        idle = self.running(cpu={"idle": 1, "shares": 512})

        self.assertEqual(self.files(box, "cpu.max", "cpu.max.burst"), ["20000 50000", "10000"])
        self.assertEqual(self.files(idle, "cpu.idle", "cpu.weight"), ["1", "0"])

    def test_huge_pages_are_limited_with_their_reservations(self):
        box = self.running(hugepageLimits=[{"pageSize": "2MB", "limit": 4 * MIB}])

        self.assertEqual(self.files(box, "hugetlb.2MB.max"), [str(4 * MIB)])
        if self.kind == "rung":
            self.assertEqual(self.files(box, "hugetlb.2MB.rsvd.max"), [str(4 * MIB)])

    @differs(runc="1.1 has wordings of its own", crun="1.8 leaves the cgroup behind")
    def test_a_device_that_rdma_does_not_know_is_an_error(self):
        box = self.limited(rdma={"nosuch0": {"hcaHandles": 3}})

        self.fails(box.create(), "linux.resources.rdma", "nosuch0")

        self.is_gone(box)

    def test_a_rate_for_a_block_device_is_set(self):
        device = self.block_device()
        numbers = dict(zip(("major", "minor"), device))
        box = self.running(blockIO={"throttleReadBpsDevice": [{**numbers, "rate": MIB}],
                                    "throttleWriteIOPSDevice": [{**numbers, "rate": 100}]})

        self.assertEqual(self.files(box, "io.max"), [f"{device[0]}:{device[1]} rbps={MIB} wbps=max riops=max wiops=100"])

    @only_rung("they write another file, or none")
    def test_a_weight_goes_to_the_scheduler_that_is_there(self):
        box = self.limited(blockIO={"weight": 500})

        result = box.run_detached()

        if result.code != 0:  # neither is
            self.fails(result, "linux.resources.blockIO.weight", "io.weight" if self.has_file("io.weight") else "io.bfq.weight")
            return self.assertFalse(self.has_file("io.weight") or self.has_file("io.bfq.weight"))
        name, value = ("io.bfq.weight", "500") if self.has_file("io.bfq.weight") else ("io.weight", "4950")
        return self.assertEqual(box.cgroup_file("", name).split()[-1], value)

    @staticmethod
    def block_device():
        if not glob.glob("/sys/block/*/dev"):
            subprocess.run(["modprobe", "loop"], check=True)
        with open(sorted(glob.glob("/sys/block/*/dev"))[0], encoding="ascii") as file:
            return [int(word) for word in file.read().split(":")]

    @staticmethod
    def has_file(name):
        return bool(glob.glob(os.path.join(host.CGROUP_ROOT, "*", name)))


class Unified(OnV2):
    def test_a_file_by_its_name_wins_over_the_limit_that_means_the_same(self):
        box = self.running(memory={"limit": 64 * MIB, "swap": 96 * MIB}, cpu={"shares": 512}, pids={"limit": 33},
                           unified={"memory.max": str(32 * MIB), "memory.swap.max": "0", "cpu.weight": "77",
                                    "pids.max": "44", "memory.high": str(16 * MIB)})

        self.assertEqual(self.files(box, "memory.max", "memory.swap.max", "cpu.weight", "pids.max", "memory.high"),
                         [str(32 * MIB), "0", "77", "44", str(16 * MIB)])

    @differs(crun="1.8 writes them too", runc="1.1 writes them too")
    def test_a_file_that_would_move_or_stop_processes_is_refused(self):
        for name, value in (("cgroup.procs", "1"), ("cgroup.freeze", "1"), ("cgroup.type", "threaded"), ("cgroup.kill", "1"),
                            ("cgroup.subtree_control", "+pids")):
            with self.subTest(name):
                box = self.limited(unified={name: value})

                self.fails(box.create(), f'unified["{name}"]', "is not a limit")

                self.is_gone(box)

    def test_the_depth_below_can_be_limited(self):
        box = self.running(unified={"cgroup.max.depth": "3", "cgroup.max.descendants": "10"})

        self.assertEqual(self.files(box, "cgroup.max.depth", "cgroup.max.descendants"), ["3", "10"])

    def test_a_partition_of_processors_can_be_asked_for(self):
        box = self.running(cpu={"cpus": "0"}, unified={"cpuset.cpus.partition": "root"})

        # Whether it is a valid one depends on the parents; the kernel says so behind the word.
        self.assertEqual(box.cgroup_file("", "cpuset.cpus.partition").split()[0], "root")

    def test_out_of_memory_can_end_the_whole_container(self):
        box = self.container().shell("tail /dev/zero; exit 3")
        box.config["linux"]["resources"].update(memory={"limit": 16 * MIB, "swap": 16 * MIB},
                                                unified={"memory.oom.group": "1"})

        self.assertEqual(box.run().code, 137)


class Threads(OnV2):
    @differs(crun="1.8 cannot list it")
    def test_a_container_with_a_threaded_cgroup_is_listed_paused_and_removed(self):
        box = self.divided("mkdir part && echo threaded > part/cgroup.type && echo $$ > part/cgroup.threads")

        self.prints(box.exec("cat", "/proc/self/cgroup"), "0::/")
        self.assertIn(str(box.pid()), self.succeed(self.runtime.call("ps", "--format", "json", box.id)).out)
        self.succeed(self.runtime.call("pause", box.id))
        paused = box.status()
        self.succeed(box.delete("--force"))

        self.assertEqual(paused, "paused")
        self.is_gone(box)

    @differs(crun="1.8 leaves the cgroup behind", runc="1.1 has a wording of its own")
    def test_a_place_below_threads_is_an_error_that_says_so(self):
        top = os.path.join(host.CGROUP_ROOT, self.word)
        os.makedirs(os.path.join(top, "part"))
        with open(os.path.join(top, "part", "cgroup.type"), "w", encoding="ascii") as file:
            file.write("threaded")
        box = self.limited(memory={"limit": 64 * MIB})
        box.config["linux"]["cgroupsPath"] = f"/{self.word}/part/{box.id}"

        self.fails(box.create(), "threaded")

        self.is_gone(box)


class Devices(OnV2):
    ATTEMPT = ("(exec 3< /dev/kmsg) 2>/dev/null && echo read; (exec 3> /dev/null) && echo write; "
               "(exec 3> /dev/kmsg) 2>/dev/null || echo closed; mknod /x c 1 2 2>/dev/null && (exec 3< /x) 2>/dev/null || "
               "echo refused")

    @differs(crun="1.8 replaces the rules")
    def test_exceptions_hold_for_init_for_exec_and_after_an_update(self):
        box = self.container().shell(f"({self.ATTEMPT}) > /first; sleep 100")
        box.config["linux"]["resources"]["devices"] += [
            {"allow": True, "type": "c", "major": 1, "minor": 11, "access": "r"}]
        box.config["linux"]["devices"] = [{"path": "/dev/kmsg", "type": "c", "major": 1, "minor": 11, "fileMode": 0o666}]
        box.bundle.grant_capabilities("CAP_SYSLOG", "CAP_MKNOD")
        self.succeed(box.run_detached())
        before = self.succeed(box.exec("sh", "-c", self.ATTEMPT)).out.split()

        self.succeed(self.runtime.call("update", "--pids-limit", "44", box.id))

        self.assertEqual(before, ["read", "write", "closed", "refused"])
        self.assertEqual(self.succeed(box.exec("sh", "-c", self.ATTEMPT)).out.split(), before)
        self.assertEqual(box.bundle.read("/first").split(), before)

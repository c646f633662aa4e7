"""What runtime-spec 1.1 to 1.3 added: scheduling, memory policy, network devices, time, personality and more.

SPDX-License-Identifier: Apache-2.0
"""

import json
import os
import subprocess

from rungtest import Case, differs, host, only_rung


class Entering(Case):
    def exec_process(self, box, **fields):
        """exec with a process.json of its own."""
        path = os.path.join(self.work, "process.json")
        with open(path, "w", encoding="utf-8") as file:
            json.dump({"terminal": False, "cwd": "/", "user": {"uid": 0, "gid": 0},
                       "env": ["PATH=/bin"], "capabilities": {}, **fields}, file)
        return box.exec(options=("--process", path))

    def running(self, **process):
        box = self.container().shell("sleep 100")
        box.config["process"].update(process)
        self.succeed(box.run_detached())
        return box


class Cpus(Entering):
    SHOW = ["grep", "Cpus_allowed_list", "/proc/self/status"]

    def last_cpu(self):
        return max(os.sched_getaffinity(0))

    @differs(runc="1.1 keeps the caller's CPUs", crun="1.8 keeps the caller's CPUs")
    def test_the_callers_cpus_are_not_the_containers(self):
        box = self.container().args(*self.SHOW)
        expected = "0" if self.last_cpu() == 0 else f"0-{self.last_cpu()}"

        out = self.succeed(box.run(prepare=lambda: os.sched_setaffinity(0, {self.last_cpu()}))).out

        self.assertEqual(out.split()[1], expected)

    @differs(runc="1.1 does not know it", crun="1.8 does not know it")
    def test_exec_runs_on_the_cpus_of_its_process(self):
        box = self.running()
        cpu = str(self.last_cpu())

        first = self.exec_process(box, args=self.SHOW, execCPUAffinity={"initial": "0", "final": cpu})
        second = self.exec_process(box, args=self.SHOW, execCPUAffinity={"initial": cpu})

        self.assertEqual(self.succeed(first).out.split()[1], cpu)
        self.assertNotEqual(self.succeed(second).out.split()[1], "")

    @differs(runc="1.1 does not know it", crun="1.8 does not know it")
    def test_the_cpus_of_the_config_are_for_exec_and_not_for_the_first_process(self):
        cpu = str(self.last_cpu())
        box = self.running(execCPUAffinity={"initial": "0", "final": cpu})

        self.assertEqual(self.succeed(box.exec(*self.SHOW)).out.split()[1], cpu)
        self.assertEqual(os.sched_getaffinity(box.pid()), os.sched_getaffinity(0))

    @only_rung("1.1 and 1.8 do not know it")
    def test_a_list_that_is_none_is_an_error(self):
        box = self.container()
        box.config["process"]["execCPUAffinity"] = {"initial": "0-x"}

        self.fails(box.run(), "process.execCPUAffinity.initial", "is not a number")


class Scheduling(Entering):
    @differs(runc="1.1 does not know it", crun="1.8 needs another field")
    def test_a_scheduling_class_holds_for_the_container_and_for_exec(self):
        box = self.running(scheduler={"policy": "SCHED_BATCH", "nice": 19})

        self.assertEqual(os.sched_getscheduler(box.pid()), os.SCHED_BATCH)
        self.assertEqual(os.getpriority(os.PRIO_PROCESS, box.pid()), 19)
        self.assertEqual(self.succeed(box.exec("cut", "-d", " ", "-f", "19", "/proc/self/stat")).out.strip(), "19")

    @differs(runc="1.1 does not know it", crun="1.8 does not know it")
    def test_exec_may_have_a_class_of_its_own(self):
        box = self.running()

        result = self.exec_process(box, args=["cut", "-d", " ", "-f", "19,41", "/proc/self/stat"],
                                   scheduler={"policy": "SCHED_BATCH", "nice": 7})

        self.prints(result, f"7 {os.SCHED_BATCH}")

    @differs(runc="1.1 does not know it", crun="1.8 does not explain it")
    def test_a_deadline_and_chosen_cpus_exclude_each_other(self):
        if os.cpu_count() < 2:
            self.skipTest("needs two CPUs")
        box = self.container().args("true")
        box.config["linux"]["resources"]["cpu"] = {"cpus": "0"}
        box.config["process"]["scheduler"] = {"policy": "SCHED_DEADLINE", "runtime": 42000, "deadline": 1000000,
                                              "period": 1000000}

        self.fails(box.run(), "process scheduler can't be used together with AllowedCPUs")

        self.is_gone(box)

    @differs(runc="1.1 does not know it", crun="1.8 does not know it")
    def test_an_input_output_class_holds_for_the_container_and_for_exec(self):
        def class_of(pid):
            return subprocess.run(["ionice", "-p", str(pid)], check=True, capture_output=True, text=True).stdout.strip()
        box = self.running(ioPriority={"class": "IOPRIO_CLASS_BE", "priority": 6})

        self.assertEqual(class_of(box.pid()), "best-effort: prio 6")

    @differs(runc="1.1 does not know it", crun="1.8 does not know it")
    def test_classes_that_do_not_exist_are_errors(self):
        wrong = {"scheduler": [{"policy": "SCHED_NICE"}, {"nice": 1}, {"policy": "SCHED_BATCH", "nice": 20},
                               {"policy": "SCHED_BATCH", "priority": 1}, {"policy": "SCHED_BATCH", "runtime": 1}],
                 "ioPriority": [{"class": "IOPRIO_CLASS_X"}, {"class": "IOPRIO_CLASS_BE", "priority": 8}]}
        for field, values in wrong.items():
            for number, value in enumerate(values):
                with self.subTest(value=value):
                    box = self.container(f"{field[0]}{number}")
                    box.config["process"][field] = value

                    self.fails(box.run(), f"process.{field}")


class MemoryPolicies(Case):
    FIRST = "head -n 1 /proc/self/numa_maps | cut -d ' ' -f 2"

    def policy(self, name="c", **fields):
        box = self.container(name).shell(self.FIRST)
        box.config["linux"]["memoryPolicy"] = fields
        return box

    @only_rung("1.1 and 1.8 do not know it")
    def test_a_policy_holds_for_the_container_and_for_exec(self):
        self.prints(self.policy("a", mode="MPOL_INTERLEAVE", nodes="0").run(), "interleave:0")
        self.prints(self.policy("b", mode="MPOL_BIND", nodes="0", flags=["MPOL_F_STATIC_NODES"]).run(), "bind=static:0")
        self.prints(self.policy("d", mode="MPOL_DEFAULT").run(), "default")

        box = self.policy("e", mode="MPOL_PREFERRED", nodes="0", flags=["MPOL_F_RELATIVE_NODES"]).shell("sleep 100")
        self.succeed(box.run_detached())
        self.prints(box.exec("sh", "-c", self.FIRST), "prefer=relative:0")

    @only_rung("1.1 and 1.8 do not know it")
    def test_what_is_no_policy_is_an_error_that_says_why(self):
        cases = [({}, "invalid memory policy mode"), ({"mode": "INTERLEAVE", "nodes": "0"}, "invalid memory policy mode"),
                 ({"mode": "MPOL_PREFERRED", "flags": ["X"]}, "invalid memory policy flag"),
                 ({"mode": "MPOL_DEFAULT", "nodes": "0-7"}, "mode requires 0 nodes but got 8"),
                 ({"mode": "MPOL_BIND"}, "at least one node"),
                 ({"mode": "MPOL_BIND", "nodes": "0-9876543210"}, "invalid memory policy node")]
        for number, (fields, words) in enumerate(cases):
            with self.subTest(words, number=number):
                self.fails(self.policy(f"c{number}", **fields).run(), words)


class NetDevices(Case):
    def setUp(self):
        super().setUp()
        # Fifteen characters at most: the last digits of the word are what is unique.
        self.name, self.peer = f"t{self.word[-9:]}a", f"t{self.word[-9:]}b"
        self.ip("link", "add", self.name, "type", "veth", "peer", "name", self.peer)
        # Its peer goes with whichever of the two is deleted.
        self.addCleanup(subprocess.run, ["ip", "link", "del", self.peer], capture_output=True, check=False)

    def ip(self, *args):
        return subprocess.run(["ip", *args], check=True, capture_output=True, text=True).stdout

    def box(self, script, inside=None):
        box = self.container().shell(script)
        box.config["linux"]["netDevices"] = {self.name: {"name": inside} if inside else {}}
        return box

    @only_rung("1.1 and 1.8 do not know it")
    def test_a_device_of_the_host_is_in_the_container(self):
        out = self.succeed(self.box(f"ip link show dev {self.name}").run()).out

        self.assertIn("UP", out)

    @only_rung("1.1 and 1.8 do not know it")
    def test_it_keeps_what_it_had_and_takes_the_new_name(self):
        self.ip("link", "set", self.name, "mtu", "1289", "address", "00:11:22:33:44:55", "up")
        self.ip("addr", "add", "169.254.169.77/32", "dev", self.name)
        self.ip("addr", "add", "10.98.7.1/24", "broadcast", "10.98.7.255", "dev", self.name)
        self.ip("addr", "add", "fd00:98::1/64", "dev", self.name, "nodad")
        self.ip("addr", "add", "127.98.0.1/32", "scope", "host", "dev", self.name)

        out = self.succeed(self.box("ip addr show dev inside", "inside").run()).out

        for words in ("mtu 1289", "00:11:22:33:44:55", "169.254.169.77/32", "10.98.7.1/24 brd 10.98.7.255",
                      "fd00:98::1/64"):
            self.assertIn(words, out)
        self.assertNotIn("127.98.0.1", out)

    @only_rung("1.1 and 1.8 do not know it")
    def test_the_kernel_may_pick_the_number_of_its_name(self):
        self.assertIn("eth0", self.succeed(self.box("ip link show dev eth0", "eth%d").run()).out)

    @only_rung("1.1 and 1.8 do not know it")
    def test_it_goes_into_a_namespace_of_another_user_and_into_one_by_path(self):
        box = self.box(f"ip link show dev {self.name}")
        box.bundle.map_users()

        self.assertIn("UP", self.succeed(box.run()).out)

        self.setUp_again()
        holder = self.container("h").shell("sleep 100")
        self.succeed(holder.run_detached())
        guest = self.container("g").shell(f"ip link show dev {self.name}")
        guest.config["linux"]["netDevices"] = {self.name: {}}
        guest.bundle.namespace("network", f"/proc/{holder.pid()}/ns/net")
        self.assertIn("UP", self.succeed(guest.run()).out)

    def setUp_again(self):
        host.wait_until(lambda: not os.path.exists(f"/sys/class/net/{self.peer}"), 10, "the end of the first pair")
        self.ip("link", "add", self.name, "type", "veth", "peer", "name", self.peer)

    @only_rung("1.1 and 1.8 do not know it")
    def test_what_cannot_be_moved_is_an_error_and_stays(self):
        missing = self.container("a")
        missing.config["linux"]["netDevices"] = {"no-such-device": {}}
        self.fails(missing.run(), "no-such-device", "no such device")

        taken = self.container("b")
        taken.config["linux"]["netDevices"] = {self.name: {"name": "lo"}}
        self.fails(taken.run(), "linux.netDevices", "file exists")
        self.assertTrue(os.path.exists(f"/sys/class/net/{self.name}"))

        shared = self.container("d")
        shared.config["linux"]["netDevices"] = {self.name: {}}
        shared.bundle.drop_namespace("network")
        self.fails(shared.run(), "unable to move network devices without a NET namespace")

        odd = self.container("e")
        odd.config["linux"]["netDevices"] = {"a/b": {}}
        self.fails(odd.run(), "invalid network device name")
        for box in (missing, taken, shared, odd):
            self.is_gone(box)


class Times(Case):
    OFFSETS = {"monotonic": {"secs": 7881, "nanosecs": 2718281}, "boottime": {"secs": 1337, "nanosecs": 3141519}}
    SHOWN = [["monotonic", "7881", "2718281"], ["boottime", "1337", "3141519"]]

    def box(self, *args):
        box = self.container().args(*args)
        box.bundle.namespace("time")
        box.config["linux"]["timeOffsets"] = self.OFFSETS
        return box

    def offsets(self, result):
        return [line.split() for line in self.succeed(result).out.splitlines()]

    @differs(runc="1.1 does not know it", crun="1.8 loses them there")
    def test_offsets_hold_in_a_user_namespace(self):
        box = self.box("cat", "/proc/self/timens_offsets")
        box.bundle.map_users()

        self.assertEqual(self.offsets(box.run()), self.SHOWN)

    @differs(runc="1.1 does not know it", crun="1.8 does not always start")
    def test_exec_enters_with_the_offsets_and_sets_none(self):
        box = self.box("sleep", "100")
        self.succeed(box.run_detached())

        self.assertEqual(self.offsets(box.exec("cat", "/proc/self/timens_offsets")), self.SHOWN)

    @differs(runc="1.1 does not know it", crun="1.8 sets the host's")
    def test_offsets_without_a_namespace_or_with_a_joined_one_are_errors(self):
        alone = self.container("a").args("true")
        alone.config["linux"]["timeOffsets"] = self.OFFSETS
        self.fails(alone.run(), "linux.timeOffsets")

        joined = self.container("b").args("true")
        joined.bundle.namespace("time", "/proc/self/ns/time")
        joined.config["linux"]["timeOffsets"] = self.OFFSETS
        self.fails(joined.run(), "linux.timeOffsets")


class Settings(Case):
    @differs(runc="1.1 does not know it")
    def test_the_personality_holds_for_exec_and_under_a_filter_that_forbids_to_change_it(self):
        box = self.container().args("sleep", "100")
        box.config["linux"]["personality"] = {"domain": "LINUX32"}
        box.config["linux"]["seccomp"] = {"defaultAction": "SCMP_ACT_ALLOW", "syscalls": [
            {"names": ["personality"], "action": "SCMP_ACT_ERRNO"}]}
        self.succeed(box.run_detached())

        self.assertIn(self.succeed(box.exec("uname", "-m")).out.strip(), ("i686", "armv7l", "armv8l"))

    @only_rung("1.1 does not know it, 1.8 makes it an error")
    def test_flags_of_a_personality_are_warned_about(self):
        box = self.container().args("true")
        box.config["linux"]["personality"] = {"domain": "LINUX", "flags": ["ADDR_NO_RANDOMIZE"]}

        self.assertIn("ADDR_NO_RANDOMIZE", self.succeed(box.run()).err)

    @differs(runc="1.1 does not know them", crun="1.8 sets them on the host")
    def test_settings_of_users_need_a_user_namespace(self):
        box = self.container("a").args("cat", "/proc/sys/user/max_net_namespaces")
        box.config["linux"]["sysctl"] = {"user.max_net_namespaces": "17"}
        self.fails(box.run(), "user.max_net_namespaces")

        mapped = self.container("b").args("cat", "/proc/sys/user/max_net_namespaces")
        mapped.config["linux"]["sysctl"] = {"user/max_net_namespaces": "17"}
        mapped.bundle.map_users()
        self.prints(mapped.run(), "17")

    @differs(runc="names both by the first spelling", crun="1.8 sets them on the host")
    def test_settings_of_the_network_are_not_set_in_the_hosts_by_another_name(self):
        place = os.path.join(self.work, "netns")
        os.symlink("/proc/self/ns/net", place)
        for number, key in enumerate(("net.ipv4.ip_forward", "net/ipv4/ip_forward")):
            with self.subTest(key):
                box = self.container(f"c{number}").args("true")
                box.bundle.namespace("network", place)
                box.config["linux"]["sysctl"] = {key: "1"}

                self.fails(box.run(), key, "not allowed in host network namespace")

    def test_a_user_name_is_passed_over(self):
        box = self.container().args("id", "-u")
        box.config["process"]["user"] = {"uid": 1000, "gid": 1000, "username": "root"}

        self.prints(box.run(), "1000")

    @differs(crun="minds the case")
    def test_keys_are_read_in_any_case(self):
        box = self.container().args("hostname")
        del box.config["hostname"]
        box.config["HostName"] = "some.name"

        self.prints(box.run(), "some.name")

    @differs(runc="1.1 words it otherwise", crun="1.8 words it otherwise")
    def test_a_label_for_a_module_that_is_not_there_is_an_error(self):
        labels = (("selinuxLabel", "a:b:c:s0", "/sys/fs/selinux/enforce"),
                  ("apparmorProfile", "some", "/sys/module/apparmor"))
        for field, value, present in labels:
            if os.path.exists(present):
                continue
            with self.subTest(field):
                box = self.container(field[0]).args("true")
                box.config["process"][field] = value

                self.fails(box.run(), f"process.{field}")

    @differs(crun="1.8 ignores it")
    def test_cache_allocation_without_the_hardware_is_an_error(self):
        if os.path.exists("/sys/fs/resctrl/schemata"):
            self.skipTest("the host has it")
        box = self.container().args("true")
        box.config["linux"]["intelRdt"] = {"closID": "some", "l3CacheSchema": "L3:0=f"}

        self.fails(box.run(), "intelRdt", "not enabled")

        self.is_gone(box)

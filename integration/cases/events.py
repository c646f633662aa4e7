"""events: a container's statistics, equal to the kernel's files, and what was killed for want of memory.

SPDX-License-Identifier: Apache-2.0
"""

import json
import os
import subprocess

from rungtest import Case, differs, host
from rungtest.runtime import ENVIRONMENT

MIB = 1 << 20


class Events(Case):
    def sleeper(self, **resources):
        box = self.container().args("sleep", "100")
        box.config["linux"]["resources"].update(resources)
        self.succeed(box.run_detached())
        return box

    def statistics(self, box):
        result = self.succeed(self.runtime.call("events", "--stats", box.id))
        self.assertEqual((len(result.out.splitlines()), result.err), (1, ""))
        event = json.loads(result.out)
        self.assertEqual((event["type"], event["id"]), ("stats", box.id))
        return event["data"]

    def watch(self, box, *options):
        """The running call, and the file that its lines go to."""
        path = os.path.join(self.work, "events.log")
        with open(path, "wb") as log:
            process = subprocess.Popen(self.runtime.command("events", *options, box.id), env=ENVIRONMENT,
                                       stdin=subprocess.DEVNULL, stdout=log, stderr=subprocess.STDOUT)
        self.addCleanup(process.kill)
        return process, path

    def lines(self, path):
        with open(path, encoding="utf-8") as file:
            return file.read().splitlines()


class Statistics(Events):
    @differs(crun="has no events")
    def test_statistics_have_every_section_in_order(self):
        data = self.statistics(self.sleeper())

        self.assertEqual(list(data), ["cpu", "cpuset", "memory", "pids", "blkio", "hugetlb", "intel_rdt",
                                      "network_interfaces"])
        self.assertEqual((data["intel_rdt"], data["network_interfaces"]), ({}, None))
        for kind in ("usage", "swap", "kernel", "kernelTCP"):
            self.assertLessEqual({"limit", "failcnt"}, set(data["memory"][kind]))
        self.assertLessEqual({"kernel", "user"}, set(data["cpu"]["usage"]))
        self.assertIn("throttling", data["cpu"])
        self.assertIn("sched_relax_domain_level", data["cpuset"])

    @differs(crun="has no events")
    def test_numbers_are_those_of_the_kernels_files(self):
        box = self.sleeper(memory={"limit": 64 * MIB, "swap": 96 * MIB}, pids={"limit": 33}, cpu={"cpus": "0"})
        self.succeed(self.runtime.call("pause", box.id))  # nothing counts on meanwhile

        data = self.statistics(box)

        v2 = host.cgroup_is_v2()
        self.assertEqual(data["pids"], {"current": 1, "limit": 33})
        self.assertEqual(data["memory"]["usage"]["limit"], 64 * MIB)
        if v2 or os.path.exists(host.cgroup_file(box.cgroup, "memory", "memory.memsw.limit_in_bytes")):
            self.assertEqual(data["memory"]["swap"]["limit"], 96 * MIB)
        # The kernel gathers these from its processors now and then, and not for every reader.
        host.wait_until(lambda: self.has_memory_of_the_kernels_files(box), 10, "the same usage and memory.stat")
        if v2:
            times = dict(line.split() for line in box.cgroup_file("cpu", "cpu.stat").splitlines())
            self.assertEqual(data["cpu"]["usage"]["total"], int(times["usage_usec"]) * 1000)
            self.assertEqual(data["cpu"]["usage"]["user"], int(times["user_usec"]) * 1000)
        else:
            self.assertEqual(data["cpu"]["usage"]["total"], int(box.cgroup_file("cpuacct", "cpuacct.usage")))
            self.assertEqual(data["cpu"]["usage"]["percpu"],
                             [int(word) for word in box.cgroup_file("cpuacct", "cpuacct.usage_percpu").split()])
            self.assertEqual((data["cpuset"]["cpus"], data["cpuset"]["mems"]), ([0], [0]))

    def has_memory_of_the_kernels_files(self, box):
        memory = self.statistics(box)["memory"]
        raw = {name: int(value) for name, value in
               (line.split() for line in box.cgroup_file("memory", "memory.stat").splitlines())}
        usage = int(box.cgroup_file("memory", "memory.current" if host.cgroup_is_v2() else "memory.usage_in_bytes"))
        return memory["usage"].get("usage", 0) == usage and memory["raw"] == raw and memory.get("cache", 0) == raw["file" if host.cgroup_is_v2() else "cache"]

    @differs(crun="has no events")
    def test_throttling_is_counted(self):
        box = self.container().shell("while true; do :; done")
        box.config["linux"]["resources"]["cpu"] = {"quota": 5000, "period": 100000}
        self.succeed(box.run_detached())

        counted = host.wait_until(lambda: self.statistics(box)["cpu"]["throttling"].get("throttledPeriods"))

        self.assertGreater(counted, 0)

    @differs(crun="has no events")
    def test_a_created_and_a_paused_container_have_statistics(self):
        box = self.container().args("sleep", "100")
        self.succeed(box.create())
        self.assertGreater(self.statistics(box)["pids"]["current"], 0)  # what waits for start may have threads
        self.succeed(box.start())
        self.succeed(self.runtime.call("pause", box.id))

        self.assertEqual(self.statistics(box)["pids"]["current"], 1)

    @differs(crun="has no events")
    def test_a_stopped_container_has_none(self):
        box = self.container().args("true")
        self.succeed(box.run_detached())
        box.wait_stopped()

        for options in ((), ("--stats",)):
            self.fails(self.runtime.call("events", *options, box.id), f"container with id {box.id} is not running")

    @differs(crun="has no events")
    def test_an_unknown_container_does_not_exist(self):
        self.fails(self.runtime.call("events", "--stats", "nobody"), "container does not exist")


class Watching(Events):
    @differs(crun="has no events")
    def test_statistics_come_at_intervals_until_the_container_stops(self):
        box = self.sleeper()
        process, log = self.watch(box, "--interval", "50ms")

        host.wait_until(lambda: len(self.lines(log)) >= 3)
        self.succeed(box.delete("--force"))

        self.assertEqual(process.wait(10 * host.PATIENCE), 0)
        events = [json.loads(line) for line in self.lines(log) if line.startswith("{")]
        self.assertEqual({event["type"] for event in events}, {"stats"})

    @differs(crun="has no events", runc="1.1 ends only when the cgroup is removed")
    def test_watching_ends_when_the_process_ends(self):
        box = self.sleeper()
        process, log = self.watch(box, "--interval", "1h")
        host.wait_until(lambda: _holds_a_pidfd(process.pid), what="the watcher to have opened the container")

        self.succeed(box.kill("KILL"))

        self.assertEqual(process.wait(10 * host.PATIENCE), 0)
        self.assertEqual(self.lines(log), [])

    @differs(crun="has no events")
    def test_an_interval_is_a_duration_above_zero(self):
        box = self.sleeper()

        self.fails(self.runtime.call("events", "--interval", "0s", box.id), "duration interval must be greater than 0")
        self.fails(self.runtime.call("events", "--interval", "-1s", box.id), "duration interval must be greater than 0")
        result = self.runtime.call("events", "--interval", "5", box.id)
        self.assertEqual(result.code, 1)
        self.assertIn("invalid value", result.err)

    @differs(crun="has no events", runc="1.1 tells it more than once")
    def test_a_process_killed_for_want_of_memory_is_told_exactly_so(self):
        box = self.sleeper(memory={"limit": 16 * MIB, "swap": 16 * MIB})
        process, log = self.watch(box, "--interval", "1h")
        # Until it watches nothing is told.
        host.wait_until(lambda: self.is_watching(process))

        self.assertEqual(box.exec("dd", "if=/dev/zero", "of=/dev/null", "bs=100M", "count=1").code, 137)

        host.wait_until(lambda: self.lines(log))
        self.succeed(box.delete("--force"))
        self.assertEqual(process.wait(10 * host.PATIENCE), 0)
        self.assertEqual(self.lines(log), [f'{{"type":"oom","id":"{box.id}"}}'])

    @differs(crun="has no events", runc="1.1 tells it more than once")
    def test_the_first_process_killed_for_want_of_memory_is_told_too(self):
        box = self.container().shell("while [ ! -e /go ]; do sleep 0.05; done; exec dd if=/dev/zero of=/dev/null bs=100M")
        box.config["linux"]["resources"]["memory"] = {"limit": 16 * MIB, "swap": 16 * MIB}
        self.succeed(box.run_detached())
        process, log = self.watch(box, "--interval", "1h")
        host.wait_until(lambda: self.is_watching(process))

        box.bundle.put("/go", "")

        self.assertEqual(process.wait(10 * host.PATIENCE), 0)
        self.assertEqual(self.lines(log), [f'{{"type":"oom","id":"{box.id}"}}'])

    def is_watching(self, process):
        """It waits in poll or its like: registered with the kernel before."""
        with open(f"/proc/{process.pid}/syscall", encoding="ascii") as file:
            return file.read().split()[0] in ("7", "271", "73")  # poll, ppoll; ppoll of aarch64


def _holds_a_pidfd(pid):
    directory = f"/proc/{pid}/fd"
    for name in os.listdir(directory):
        try:
            if "pidfd" in os.readlink(os.path.join(directory, name)):
                return True
        except FileNotFoundError:
            pass  # closed meanwhile
    return False

"""A runtime killed at random instants, many starts, many at once: afterwards nothing may be left.

SPDX-License-Identifier: Apache-2.0
"""

import os
import random
import subprocess
import threading
import time

from rungtest import Case, differs, host
from rungtest.runtime import ENVIRONMENT

ROUNDS = int(os.environ.get("SOAK_ROUNDS", "300"))
LANES = 8
CYCLES = ROUNDS * 10 // 3  # all lanes together
# What the kernel may keep for itself for a while: slabs, and cgroups that are gone but not yet given back.
MEMORY_THAT_MAY_STAY = 256 << 20


class Soak(Case):
    seconds = 3600

    @differs(runc="1.1 leaves the cgroups behind", crun="1.8 leaves the cgroups behind")
    def test_a_create_killed_at_any_instant_is_cleaned_by_a_forced_delete(self):
        box = self.container().args("sleep", "100")
        box.bundle.write()
        usual = self._time_of_create(box)
        chance = random.Random(1)

        for number in range(ROUNDS):
            process = self._begin("create", "--bundle", box.bundle.path, box.id)
            time.sleep(chance.uniform(0, usual * 1.5))
            process.kill()
            process.wait()
            self.succeed(box.delete("--force"))
            host.reap_ended()
            self.assertEqual(self.leftovers_of(box), [], f"round {number}")

    def test_a_start_killed_at_any_instant_is_cleaned_by_a_forced_delete(self):
        box = self.container().args("sleep", "100")
        chance = random.Random(2)

        for number in range(ROUNDS // 3):
            self.succeed(box.create())
            process = self._begin("start", box.id)
            time.sleep(chance.uniform(0, 0.006))
            process.kill()
            process.wait()
            self.succeed(box.delete("--force"))
            host.reap_ended()
            self.assertEqual(self.leftovers_of(box), [], f"round {number}")

    def test_a_delete_killed_at_any_instant_can_be_repeated(self):
        box = self.container().args("sleep", "100")
        chance = random.Random(3)

        for number in range(ROUNDS // 3):
            self.succeed(box.run_detached())
            process = self._begin("delete", "--force", box.id)
            time.sleep(chance.uniform(0, 0.010))
            process.kill()
            process.wait()
            self.succeed(box.delete("--force"))
            host.reap_ended()
            self.assertEqual(self.leftovers_of(box), [], f"round {number}")

    def test_many_containers_at_once_all_start_and_all_end(self):
        boxes = [self.container(f"p{number}").args("sleep", "100") for number in range(16)]
        for _ in range(max(1, ROUNDS // 60)):
            for box in boxes:
                box.bundle.write()
            creates = [self._begin("run", "--detach", "--bundle", box.bundle.path, box.id) for box in boxes]
            self.assertEqual([process.wait() for process in creates], [0] * len(boxes))
            deletes = [self._begin("delete", "--force", box.id) for box in boxes]
            host.wait_until(lambda: (host.reap_orphans(), all(one.poll() is not None for one in deletes))[1], 60)
            self.assertEqual([process.returncode for process in deletes], [0] * len(boxes))
            host.reap_ended()

    def test_a_thousand_starts_leave_no_mount_and_no_cgroup_behind(self):
        box = self.container().args("true")
        box.bundle.write()
        before = self._mounts()

        for _ in range(ROUNDS * 3):
            self.assertEqual(self.runtime.call("run", "--bundle", box.bundle.path, box.id).code, 0)

        self.assertEqual(self._mounts(), before)
        self.is_gone(box)

    def test_a_thousand_lives_in_eight_lanes_leave_everything_as_it_was(self):
        boxes = [self.container(f"lane{lane}").args("sleep", "100") for lane in range(LANES)]
        faults = []
        # Once before counting: what is made on first use is not a leak.
        self._live(boxes[0], 1, faults)
        before = self._everything()
        memory = self._memory_of_the_kernel()

        lanes = [threading.Thread(target=self._live, args=(box, CYCLES // LANES, faults)) for box in boxes]
        for lane in lanes:
            lane.start()
        for lane in lanes:
            lane.join()
        host.reap_ended()

        self.assertEqual(faults, [])
        self.assertEqual(self._everything(), before)
        host.wait_until(lambda: self._memory_of_the_kernel() < memory + MEMORY_THAT_MAY_STAY, 60, "the kernel's memory")

    def _live(self, box, cycles, faults):
        """One lane: a container is created, started, entered, killed and deleted, again and again."""
        for cycle in range(cycles):
            try:
                for result in (box.create(), box.start(), box.exec("true"), box.kill("KILL")):
                    self.succeed(result)
                box.wait_stopped(30)
                box.reap()
                self.succeed(box.delete())
            except Exception as error:  # noqa: BLE001: a thread's failure has to reach the test
                faults.append(f"{box.id}, cycle {cycle}: {error}")
                return

    def _everything(self):
        """Counts of what a runtime could leave: our descriptors and the host's mounts, and what carries the test's name."""
        return {"descriptors": len(os.listdir("/proc/self/fd")), "mounts": self._mounts(),
                "cgroups": len(host.cgroup_directories(self.word)), "processes": len(host.processes_of(self.word)),
                "states": len(os.listdir(self.runtime.root))}

    @staticmethod
    def _memory_of_the_kernel():
        """Bytes that cannot be reclaimed, and what lies in tmpfs; no process of ours is left to hold any other."""
        with open("/proc/meminfo", encoding="ascii") as file:
            fields = dict(line.split(":") for line in file)
        return sum(int(fields[name].split()[0]) << 10 for name in ("SUnreclaim", "KernelStack", "Percpu", "Shmem"))

    def _begin(self, *arguments):
        return subprocess.Popen(self.runtime.command(*arguments), env=ENVIRONMENT, stdin=subprocess.DEVNULL,
                                stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def _time_of_create(self, box):
        began = time.monotonic()
        self.succeed(box.create())
        took = time.monotonic() - began
        self.succeed(box.delete("--force"))
        host.reap_ended()
        return took

    @staticmethod
    def _mounts():
        with open("/proc/self/mountinfo", encoding="utf-8") as file:
            return len(file.readlines())

"""Attacks on what the host has only so much of: processes, memory, open files, processor time.

SPDX-License-Identifier: Apache-2.0
"""

from rungtest import host, only_rung
from rungtest.attacks import Attacked, grant_with

NO_GRANTS = "has no grants"


class Limits(Attacked):
    @only_rung(NO_GRANTS)
    def test_a_fork_bomb_ends_at_its_limit_and_the_container_goes_on(self):
        # The attack, the attempt and its children.
        self.becomes({"fork 5": "ok 5", "fork 100": "EAGAIN 18", "fork 18": "ok 18", "exec /bin/true": "ok"},
                     grant_with(limits={"pids": 20}))

    @only_rung(NO_GRANTS)
    def test_memory_beyond_the_limit_ends_the_process_and_not_the_container(self):
        self.becomes({"memory 8": "ok", "memory 200": "SIGKILL", "memory 16": "ok"}, grant_with(limits={"memory": "32Mi"}))

    @only_rung(NO_GRANTS)
    def test_what_is_written_to_scratch_counts_as_memory(self):
        box = self.target()
        grant = grant_with(limits={"memory": "16Mi"},
                           filesystem={"rootfs": "readOnly", "tmpfs": [{"path": "/scratch", "size": "256Mi"}]})
        box.shell("dd if=/dev/zero of=/scratch/x bs=1M count=200 2>/dev/null; echo $?; dd if=/dev/zero of=/scratch/y bs=1k "
                  "count=1 2>/dev/null; echo $?; stat -c %s /scratch/x")

        lines = self.under(box, grant).out.split()

        self.assertTrue(not lines or lines[0] != "0", lines)
        self.assertLess(int(lines[2]) if len(lines) > 2 else 0, 16 << 20)

    @only_rung(NO_GRANTS)
    def test_scratch_has_the_size_that_was_granted(self):
        box = self.target().shell("dd if=/dev/zero of=/scratch/x bs=64k count=1000 2>&1 | grep -c 'No space left'; "
                                  "stat -c %s /scratch/x; rm /scratch/x; echo y > /scratch/y && echo again")

        self.prints(self.under(box), f"1\n{8 << 20}\nagain")

    @only_rung(NO_GRANTS)
    def test_open_files_end_at_the_limit_which_cannot_be_raised(self):
        self.becomes({"open-files 40": "ok 40", "open-files 100": "EMFILE 50", "raise-open-files 51": "EPERM",
                      "raise-open-files 50": "ok", "raise-open-files 20": "ok"}, grant_with(limits={"openFiles": 50}))

    @only_rung(NO_GRANTS)
    def test_processor_time_is_capped(self):
        box = self.target().args("sleep", "100")
        box.config["linux"]["resources"]["cpu"] = {"quota": 200000, "period": 100000}

        self.succeed(self.under(box, grant_with(limits={"cpu": "500m"}), verb="detach"))

        if host.cgroup_is_v2():
            quota, period = box.cgroup_file("cpu", "cpu.max").split()
        else:
            quota, period = (box.cgroup_file("cpu", f"cpu.cfs_{name}_us") for name in ("quota", "period"))
        self.assertEqual(int(quota) * 2, int(period))

    @only_rung(NO_GRANTS)
    def test_the_config_does_not_raise_a_limit_of_the_grant(self):
        box = self.target()
        box.config["linux"]["resources"].update({"pids": {"limit": -1}, "memory": {"limit": -1, "swap": -1}})
        box.config["process"]["rlimits"] = [{"type": "RLIMIT_NOFILE", "hard": 4096, "soft": 4096}]

        self.becomes({"fork 100": "EAGAIN 18", "memory 200": "SIGKILL", "open-files 100": "EMFILE 50"},
                     grant_with(limits={"pids": 20, "memory": "32Mi", "openFiles": 50}), box=box)

    @only_rung(NO_GRANTS)
    def test_a_process_of_exec_counts_as_well(self):
        box = self.target().args("sleep", "100")
        self.succeed(self.under(box, grant_with(limits={"pids": 20, "memory": "32Mi", "openFiles": 50}), verb="detach"))

        self.outcomes_are(self.succeed(box.exec("/bin/attack", "fork 100", "memory 200", "open-files 100", "fork 3")).out,
                          {"fork 100": "EAGAIN 17", "memory 200": "SIGKILL", "open-files 100": "EMFILE 50", "fork 3": "ok 3"})

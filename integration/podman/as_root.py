"""podman as root: what an ordinary user has not, beside what both have.

SPDX-License-Identifier: Apache-2.0
"""

from rungtest import host
from rungtest.runtime import why_no_checkpoint

from podman import common
from podman.place import BOX


class Root(common.Common, common.Podman):
    def test_a_paused_container_stands_still_until_it_goes_on(self):
        name = self.background()
        self.ok(self.podman("pause", name))
        paused = self.inspect(name, ".State.Status")

        self.ok(self.podman("unpause", name))

        self.assertEqual((paused, self.inspect(name, ".State.Status")), ("paused", "running"))
        self.ok(self.podman("exec", name, "true"))

    def test_limits_are_the_kernels(self):
        name = self.background("--memory", "64m", "--pids-limit", "50")

        self.assertEqual(self.limits_of(name), [str(64 << 20), "50"])

    def limits_of(self, name):
        files = ("memory.max", "pids.max") if host.cgroup_is_v2() else ("memory/memory.limit_in_bytes", "pids/pids.max")
        return [self.ok(self.podman("exec", name, "cat", f"/sys/fs/cgroup/{file}")).out.strip() for file in files]

    def test_update_changes_a_limit(self):
        name = self.background("--memory", "64m", "--pids-limit", "50")

        self.ok(self.podman("update", "--memory", "96m", name))

        self.assertEqual(self.limits_of(name), [str(96 << 20), "50"])

    def test_statistics_come_from_its_cgroup(self):
        name = self.background("--memory", "64m")

        self.assertIn("67.11MB", self.ok(self.podman("stats", "--no-stream", "--format", "{{.MemUsage}}", name)).out)

    def test_a_device_is_made_as_asked(self):
        result = self.run_it("--device", "/dev/null:/dev/nothing", command=["sh", "-c", "echo x > /dev/nothing && echo written"])

        self.assertEqual(self.ok(result).out, "written\n")

    def test_a_privileged_container_has_everything_root_has(self):
        result = self.run_it("--privileged", command=["grep", "Seccomp:", "/proc/self/status"])

        self.assertEqual(self.ok(result).out.split()[1], "0")

    def test_a_container_without_cgroups_stays_in_the_callers(self):
        if self.kind == "runc":
            self.skipTest("runc: has no such option")
        result = self.podman("run", "--rm", "--cgroups", "disabled", BOX, "sh", "-c", "exit 3")

        self.assertEqual(result.code, 3, repr(result))

    def test_a_checkpoint_is_taken_and_started_again(self):
        reason = why_no_checkpoint(self.place.runtime_path)
        if reason:
            self.skipTest(reason)
        name = self.background()
        self.ok(self.podman("container", "checkpoint", name))

        self.ok(self.podman("container", "restore", name))

        self.assertEqual(self.inspect(name, ".State.Status"), "running")

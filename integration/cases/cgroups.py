"""Limits, as the kernel's control files have them; on v1 and on v2.

SPDX-License-Identifier: Apache-2.0
"""

import os
import shutil

from rungtest import Case, differs, host, only_rung


class Limits(Case):
    def limited(self, **resources):
        box = self.container().args("sleep", "100")
        box.config["linux"]["resources"].update(resources)
        self.succeed(box.run_detached())
        return box

    def value(self, box, v1, v2):
        """The control file: `v1` is (controller, file), `v2` a file."""
        return box.cgroup_file(*v1) if not host.cgroup_is_v2() else box.cgroup_file("", v2)

    def test_the_memory_limit_is_set(self):
        box = self.limited(memory={"limit": 64 << 20})

        self.assertEqual(self.value(box, ("memory", "memory.limit_in_bytes"), "memory.max"), str(64 << 20))

    def test_the_swap_limit_is_set(self):
        if not host.cgroup_is_v2() and not os.path.exists("/sys/fs/cgroup/memory/memory.memsw.limit_in_bytes"):
            return  # this kernel does not account swap, and a runtime cannot show anything
        box = self.limited(memory={"limit": 64 << 20, "swap": 96 << 20})

        # v1 counts memory and swap together, v2 swap alone.
        self.assertEqual(self.value(box, ("memory", "memory.memsw.limit_in_bytes"), "memory.swap.max"),
                         str((32 if host.cgroup_is_v2() else 96) << 20))

    def test_a_memory_reservation_is_set(self):
        box = self.limited(memory={"reservation": 32 << 20})

        self.assertEqual(self.value(box, ("memory", "memory.soft_limit_in_bytes"), "memory.low"), str(32 << 20))

    def test_a_process_above_the_memory_limit_is_killed(self):
        box = self.container().shell("dd if=/dev/zero of=/dev/null bs=100M count=1")
        box.config["linux"]["resources"]["memory"] = {"limit": 16 << 20, "swap": 16 << 20}

        self.assertNotEqual(box.run().code, 0)

    def test_the_process_limit_is_set(self):
        self.assertEqual(self.limited(pids={"limit": 33}).cgroup_file("pids", "pids.max"), "33")

    @differs(crun="1.8 refuses it on v1")
    def test_a_process_limit_of_minus_one_is_no_limit(self):
        self.assertEqual(self.limited(pids={"limit": -1}).cgroup_file("pids", "pids.max"), "max")

    def test_a_process_limit_of_one_still_starts(self):
        box = self.container().args("echo", "alone")
        box.config["linux"]["resources"]["pids"] = {"limit": 1}

        self.prints(box.run(), "alone")

    def test_the_process_limit_stops_a_fork_bomb(self):
        box = self.container().shell("n=0; for i in 1 2 3 4 5 6 7 8 9 10; do sleep 1 & done 2>/dev/null; wait; true")
        box.config["linux"]["resources"]["pids"] = {"limit": 5}

        box.run()

        self.is_gone(box)

    def test_processor_shares_are_set(self):
        box = self.limited(cpu={"shares": 512})

        expected = "512" if not host.cgroup_is_v2() else ("59" if self.kind == "rung" else "20")
        self.assertEqual(self.value(box, ("cpu", "cpu.shares"), "cpu.weight"), expected)

    def test_the_processor_quota_and_period_are_set(self):
        box = self.limited(cpu={"quota": 20000, "period": 50000})

        if host.cgroup_is_v2():
            self.assertEqual(box.cgroup_file("", "cpu.max"), "20000 50000")
        else:
            self.assertEqual((box.cgroup_file("cpu", "cpu.cfs_quota_us"), box.cgroup_file("cpu", "cpu.cfs_period_us")),
                             ("20000", "50000"))

    @differs(crun="1.8 fails, and leaves the cgroups behind")
    def test_a_processor_quota_of_minus_one_is_no_limit(self):
        box = self.limited(cpu={"quota": -1, "period": 50000})

        if host.cgroup_is_v2():
            self.assertEqual(box.cgroup_file("", "cpu.max"), "max 50000")
        else:
            self.assertEqual(box.cgroup_file("cpu", "cpu.cfs_quota_us"), "-1")

    def test_the_processors_are_set(self):
        self.assertEqual(self.limited(cpu={"cpus": "0", "mems": "0"}).cgroup_file("cpuset", "cpuset.cpus"), "0")

    def test_zero_means_unset_as_docker_sends_it(self):
        box = self.limited(cpu={"shares": 0}, memory={"disableOOMKiller": False}, blockIO={"weight": 0})

        self.assertEqual(self.value(box, ("cpu", "cpu.shares"), "cpu.weight"),
                         "100" if host.cgroup_is_v2() else "1024")

    @differs(crun="1.8 leaves the cgroups behind")
    def test_an_impossible_limit_is_an_error_and_leaves_nothing(self):
        box = self.container().args("true")
        box.config["linux"]["resources"]["cpu"] = {"cpus": "4000"}

        self.fails(box.create())

        self.is_gone(box)

    @differs(crun="1.8 leaves the cgroups behind")
    def test_a_page_size_that_climbs_out_is_an_error(self):
        box = self.container().args("true")
        box.config["linux"]["resources"]["hugepageLimits"] = [{"pageSize": "../../../x", "limit": 1}]

        self.assertNotEqual(box.create().code, 0)

        self.is_gone(box)


class Placeless(Case):
    """Containers that cannot have a cgroup, or shall not."""

    def hidden(self, box, *, read_only):
        """Runs it where the cgroup mounts are read-only, or not there."""
        box.bundle.write()
        script = ("mount --make-rprivate /; for m in $(awk '$5 ~ /cgroup/ {print $5}' /proc/self/mountinfo); do "
                  "mount -o remount,bind,ro $m; done; " if read_only else
                  "mount --make-rprivate /; mount -t tmpfs none /sys/fs/cgroup; ")
        del box.config["linux"]["cgroupsPath"]
        box.config["mounts"] = [mount for mount in box.config["mounts"] if mount["type"] != "cgroup"]
        box.bundle.write()
        return box.runtime.call("run", "--bundle", box.bundle.path, box.id,
                                through=("unshare", "-m", "sh", "-c", script + 'exec "$0" "$@"'))

    @differs(runc="1.1 fails", crun="1.8 fails")
    def test_without_a_cgroup_mount_a_container_without_limits_runs(self):
        for read_only in (True, False):
            box = self.container().args("echo", "ran")

            result = self.hidden(box, read_only=read_only)

            self.prints(result, "ran")

    @differs(crun="1.8 has other words, and leaves something behind")
    def test_without_a_cgroup_mount_a_limit_is_an_error(self):
        for read_only in (True, False):
            box = self.container().args("true")
            box.config["linux"]["resources"]["pids"] = {"limit": 20}

            result = self.hidden(box, read_only=read_only)

            self.assertEqual(result.code, 1, repr(result))
            if self.kind == "rung":
                self.assertIn("pids", result.err)
            self.is_gone(box)

    @differs(runc="has no such flag")
    def test_disabled_cgroups_leave_the_container_where_its_caller_is(self):
        box = self.container().args("cat", "/proc/self/cgroup")
        box.runtime.options += ["--cgroup-manager", "disabled"]

        result = self.succeed(box.run())

        self.assertNotIn(box.id, result.out)

    @only_rung("1.1 has no such flag, and crun 1.8 ignores the limit")
    def test_disabled_cgroups_and_a_limit_are_an_error(self):
        box = self.container().args("true")
        box.runtime.options += ["--cgroup-manager=disabled"]
        box.config["linux"]["resources"]["memory"] = {"limit": 64 << 20}

        self.fails(box.create(), "cannot set memory limit", "cgroups are disabled")

        self.is_gone(box)


    @only_rung("1.1 has no such flag, and crun 1.8 ignores the rules")
    def test_device_rules_that_nothing_enforces_and_a_process_that_makes_devices_are_an_error(self):
        for flag in ("--cgroup-manager=disabled", "--ignore-cgroups"):
            with self.subTest(flag):
                box = self.container().args("true")
                box.runtime.options[:] = [flag]
                box.bundle.grant_capabilities("CAP_SYS_ADMIN")

                self.fails(box.create(), "linux.resources.devices", "CAP_SYS_ADMIN", "devices cgroup")

                self.is_gone(box)
        box.runtime.options.clear()

    @only_rung("1.1 has no such flag, and crun 1.8 leaves the devices open")
    def test_without_cgroups_by_request_a_process_makes_no_devices_and_goes_on(self):
        for flag in ("--cgroup-manager=disabled", "--ignore-cgroups"):
            with self.subTest(flag):
                box = self.container().shell("mknod /tmp/n c 1 3 2>/dev/null && echo made || echo refused")
                box.runtime.options[:] = [flag]
                box.bundle.grant_capabilities("CAP_MKNOD")

                result = box.run()

                self.prints(result, "refused")
                self.assertIn("CAP_MKNOD", result.err)
        box.runtime.options.clear()

    @only_rung("1.1 fails whatever is asked, and crun 1.8 fails")
    def test_device_rules_without_a_cgroup_mount_and_a_process_that_makes_devices_are_an_error(self):
        for read_only in (True, False):
            box = self.container().args("true")
            box.bundle.grant_capabilities("CAP_MKNOD")

            self.fails(self.hidden(box, read_only=read_only), "linux.resources.devices", "CAP_MKNOD")

            self.is_gone(box)

    @differs(runc="1.1 has no such flag", crun="1.8 leaves the devices open")
    def test_device_rules_that_nothing_enforces_are_kept_by_a_process_that_cannot_make_devices(self):
        refused = ("mknod /tmp/n c 1 3 || echo refused", "refused")
        box = self.container().shell(refused[0])
        box.runtime.options += ["--cgroup-manager=disabled"]
        self.prints(box.run(), refused[1])

        mapped = self.container().shell(refused[0])
        mapped.bundle.grant_capabilities("CAP_MKNOD")
        mapped.bundle.map_users()
        self.prints(mapped.run(), refused[1])

        open_to_all = self.container().args("echo", "ran")
        open_to_all.bundle.grant_capabilities("CAP_MKNOD")
        open_to_all.config["linux"]["resources"]["devices"] = [{"allow": True, "access": "rwm"}]
        self.prints(open_to_all.run(), "ran")

    @only_rung("1.1 has no such flag, and crun 1.8 ignores the rules")
    def test_exec_gets_no_way_to_devices_that_the_container_was_refused(self):
        box = self.container().args("sleep", "100")
        box.runtime.options += ["--cgroup-manager=disabled"]
        self.succeed(box.run_detached())

        result = box.exec("true", options=["--cap", "CAP_SYS_ADMIN"])

        self.assertEqual(result.code, 255, repr(result))
        self.assertIn("linux.resources.devices", result.err)
        self.assertEqual(box.exec("true").code, 0)
        made = box.exec("sh", "-c", "mknod /tmp/n c 1 3 2>/dev/null || echo refused", options=["--cap", "CAP_MKNOD"])
        self.prints(made, "refused")

    @differs(crun="1.8 knows no such flag")
    def test_a_cgroup_that_may_not_be_made_is_an_error_where_cgroups_are_needed(self):
        for value in ("false", "0"):
            box = self.container().args("true")
            box.runtime.options[:] = [f"--rootless={value}"]

            result = self.hidden(box, read_only=True)

            self.assertEqual(result.code, 1, repr(result))
            self.assertIn("cgroup", result.err)
            self.is_gone(box)
        box.runtime.options[:] = ["--rootless=perhaps"]
        self.assertEqual(box.create().code, 1)
        box.runtime.options.clear()


class WithoutSystemd(Case):
    @only_rung("they need no program beside them")
    def test_a_missing_helper_is_named(self):
        box = self.container().args("true")
        alone = os.path.join(self.work, "alone")
        os.mkdir(alone)
        shutil.copy(self.runtime_path, os.path.join(alone, "rung"))
        box.runtime.path = os.path.join(alone, "rung")
        box.runtime.options += ["--systemd-cgroup"]
        box.config["linux"]["cgroupsPath"] = f"system.slice:t:{box.id}"

        self.fails(box.create(), "needs rung-systemd", alone)

        self.is_gone(box)
        box.runtime.options.clear()

    def test_a_host_without_systemd_is_an_error_and_leaves_nothing(self):
        if os.path.isdir("/run/systemd/system"):
            self.skipTest("systemd is PID 1 here")
        box = self.container().args("true")
        box.runtime.options += ["--systemd-cgroup"]
        box.config["linux"]["cgroupsPath"] = f"system.slice:t:{box.id}"

        result = box.create()

        self.assertEqual(result.code, 1, repr(result))
        if self.kind == "rung":
            self.fails(result, "connect to systemd", "PID 1")
        self.is_gone(box)
        box.runtime.options.clear()


class Membership(Case):
    def test_the_process_is_in_its_cgroup_from_the_start(self):
        box = self.container().args("cat", "/proc/self/cgroup")

        paths = [line.split(":", 2) for line in self.succeed(box.run()).out.splitlines()]

        inside = [path for _number, controllers, path in paths if controllers in ("pids", "memory", "cpu", "")]
        if not host.cgroup_is_v2():
            inside = [path for _number, controllers, path in paths if controllers in ("pids", "memory", "cpu")]
        self.assertTrue(inside)
        for path in inside:
            self.assertTrue(path.endswith(box.cgroup), path)

    def test_without_a_path_the_cgroup_is_named_after_the_id(self):
        box = self.container().args("sleep", "100")
        del box.config["linux"]["cgroupsPath"]

        self.succeed(box.run_detached())

        self.assertTrue(host.cgroup_directories(box.id))

    def test_a_relative_path_is_taken(self):
        box = self.container().args("sleep", "100")
        box.config["linux"]["cgroupsPath"] = f"{self.word}/{box.id}"

        self.succeed(box.run_detached())

        self.assertTrue(host.cgroup_directories(box.id))

    @differs(crun="1.8 makes a directory outside")
    def test_a_path_cannot_climb_out_of_the_hierarchy(self):
        box = self.container().args("sleep", "100")
        box.config["linux"]["cgroupsPath"] = f"/../../../../{self.word}/{box.id}"

        result = box.run_detached()

        if result.code == 0:
            self.assertTrue(host.cgroup_directories(box.id))
        self.assertFalse(os.path.exists(f"/{self.word}"))

    def test_exec_joins_the_cgroup(self):
        box = self.container().args("sleep", "100")
        self.succeed(box.run_detached())

        self.assertIn(box.cgroup, self.succeed(box.exec("cat", "/proc/self/cgroup")).out)

    def test_the_container_sees_its_own_cgroup_mount_only(self):
        box = self.container()
        point = "/sys/fs/cgroup" + ("" if host.cgroup_is_v2() else "/pids")
        if host.cgroup_is_v2():
            # There a cgroup namespace is what narrows the view, and engines always ask for one.
            box.bundle.namespace("cgroup")

        self.assertEqual(self.output_of(box, f"cat {point}/cgroup.procs | head -1; touch {point}/x 2>/dev/null || echo ro"),
                         "1\nro")

    def test_cgroups_made_inside_are_removed(self):
        box = self.container().shell("for d in /sys/fs/cgroup /sys/fs/cgroup/pids /sys/fs/cgroup/memory; do "
                                     "[ -e $d/cgroup.procs ] && mkdir -p $d/a/b/c $d/d; done; sleep 100")
        box.bundle.open_cgroup_mount()
        box.bundle.namespace("cgroup")
        self.succeed(box.run_detached())
        host.wait_until(lambda: any(path.endswith(f"{box.id}/d") for path in host.cgroup_directories(box.id)))

        self.succeed(box.delete("--force"))

        self.is_gone(box)

    def divided(self):
        """A container that may make cgroups below its own, on v2."""
        box = self.container()
        box.bundle.namespace("cgroup")
        box.bundle.open_cgroup_mount()
        return box

    @differs(crun="1.8 fails")
    def test_exec_follows_an_init_that_has_moved_to_a_child_cgroup(self):
        if not host.cgroup_is_v2():
            self.skipTest("cgroup v1 has no such rule")
        box = self.divided().shell("mkdir /sys/fs/cgroup/in && echo 1 > /sys/fs/cgroup/in/cgroup.procs && "
                                   "echo +memory > /sys/fs/cgroup/cgroup.subtree_control && touch /ready; sleep 100")
        self.succeed(box.run_detached())
        host.wait_until(lambda: os.path.exists(box.bundle.inside("/ready")))

        self.prints(box.exec("cat", "/proc/self/cgroup"), "0::/in")

    def test_the_processs_user_may_divide_a_writable_cgroup(self):
        if not host.cgroup_is_v2():
            self.skipTest("on cgroup v1 nothing is delegated")
        box = self.divided()
        box.config["process"]["user"] = {"uid": 1000, "gid": 1000}

        self.assertEqual(self.output_of(box, "cd /sys/fs/cgroup && mkdir in && echo 0 > in/cgroup.procs && echo divided; "
                                             "echo 1 2>/dev/null > memory.max || echo limited"), "divided\nlimited")

    def test_a_read_only_cgroup_is_not_handed_over(self):
        if not host.cgroup_is_v2():
            self.skipTest("on cgroup v1 nothing is delegated")
        box = self.container().args("sleep", "100")
        box.bundle.namespace("cgroup")
        box.config["process"]["user"] = {"uid": 1000, "gid": 1000}

        self.succeed(box.run_detached())

        self.assertEqual(os.stat(os.path.dirname(host.cgroup_file(box.cgroup, "", "cgroup.procs"))).st_uid, 0)

    @differs(runc="1.1 only warns", crun="1.8 goes on")
    def test_a_frozen_cgroup_is_not_taken(self):
        box = self.container().args("true")
        directory = os.path.dirname(host.cgroup_file(box.cgroup, "freezer", "x"))
        os.makedirs(directory)
        name, frozen, thawed = (("cgroup.freeze", "1", "0") if host.cgroup_is_v2()
                                else ("freezer.state", "FROZEN", "THAWED"))
        _write(os.path.join(directory, name), frozen)
        try:
            self.fails(box.create(), "container's cgroup unexpectedly frozen")
        finally:
            _write(os.path.join(directory, name), thawed)
            os.rmdir(directory)

    def test_an_empty_cgroup_that_exists_is_taken(self):
        box = self.container().args("cat", "/proc/self/cgroup")
        os.makedirs(os.path.dirname(host.cgroup_file(box.cgroup, "pids", "x")))

        self.assertIn(box.cgroup, self.succeed(box.run()).out)

    def test_a_second_container_in_the_same_cgroup_is_an_error(self):
        first = self.container("a").args("sleep", "100")
        self.succeed(first.run_detached())
        second = self.container("b").args("sleep", "100")
        second.config["linux"]["cgroupsPath"] = first.cgroup

        result = second.run_detached()

        if self.kind == "rung":
            self.fails(result, "container's cgroup is not empty")
        self.assertEqual(first.status(), "running")


class Unified(Case):
    """linux.resources.unified: files of cgroup v2 by their names."""

    def refuses(self, files, *words):
        box = self.container().args("true")
        box.config["linux"]["resources"]["unified"] = files

        result = box.create()

        self.assertEqual(result.code, 1, repr(result))
        if self.kind == "rung":
            self.fails(result, *words)
        self.is_gone(box)

    @differs(crun="1.8 leaves the cgroup behind")
    def test_a_file_elsewhere_is_refused(self):
        self.refuses({"../memory.max": "1"}, "unified")

    @differs(crun="1.8 leaves the cgroup behind")
    def test_a_name_without_a_controller_is_refused(self):
        self.refuses({"memory": "1"}, "unified")

    @differs(crun="1.8 leaves the cgroup behind")
    def test_a_controller_that_is_not_there_is_refused(self):
        self.refuses({"nosuch.max": "1"}, "unified" if host.cgroup_is_v2() else "cannot use unified on cgroup v1")

    def test_files_are_written_and_have_the_last_word(self):
        if not host.cgroup_is_v2():
            self.skipTest("cgroup v1 has no unified files")
        box = self.container().args("sleep", "100")
        box.config["linux"]["resources"].update(
            memory={"limit": 64 << 20}, unified={"memory.max": str(32 << 20), "memory.oom.group": "1"})

        self.succeed(box.run_detached())

        self.assertEqual((box.cgroup_file("", "memory.max"), box.cgroup_file("", "memory.oom.group")),
                         (str(32 << 20), "1"))


def _write(path, text):
    with open(path, "w", encoding="ascii") as file:
        file.write(text)

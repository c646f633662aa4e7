"""Namespaces: new, joined by path, or the host's.

SPDX-License-Identifier: Apache-2.0
"""

import os
import subprocess

from rungtest import Case, differs, host, only_rung

# The type of the config and the name in /proc/PID/ns.
KINDS = {"pid": "pid", "network": "net", "ipc": "ipc", "uts": "uts", "mount": "mnt"}


class Namespaces(Case):
    def inside(self, box, name):
        return self.succeed(box.args("readlink", f"/proc/self/ns/{name}").run()).out.strip()

    def test_every_listed_namespace_is_a_new_one(self):
        box = self.container().shell("for n in pid net ipc uts mnt; do readlink /proc/self/ns/$n; done")

        inside = self.succeed(box.run()).out.split()

        outside = [os.readlink(f"/proc/self/ns/{name}") for name in ("pid", "net", "ipc", "uts", "mnt")]
        self.assertEqual([one for one in inside if one in outside], [])

    def test_a_namespace_that_is_not_listed_is_the_hosts(self):
        for kind in ("pid", "network", "ipc", "uts"):
            with self.subTest(kind):
                box = self.container(kind)
                box.bundle.drop_namespace(kind)
                if kind == "uts":
                    del box.config["hostname"]
                if kind == "ipc":
                    box.config["mounts"] = [one for one in box.config["mounts"] if one["type"] != "mqueue"]

                self.assertEqual(self.inside(box, KINDS[kind]), os.readlink(f"/proc/self/ns/{KINDS[kind]}"))

    @differs(runc="1.1 leaves the mounts", crun="1.8 leaves the mounts")
    def test_without_a_mount_namespace_the_mounts_are_the_hosts_until_delete(self):
        box = self.container().args("sleep", "100")
        box.bundle.drop_namespace("mount")
        for paths in ("maskedPaths", "readonlyPaths"):
            box.config["linux"].pop(paths, None)

        self.succeed(box.run_detached())
        shared = os.readlink(f"/proc/{box.pid()}/ns/mnt")
        self.succeed(box.delete("--force"))

        self.assertEqual(shared, os.readlink("/proc/self/ns/mnt"))
        self.assertEqual(host.mounts_below(box.bundle.rootfs), [])
        self.is_gone(box)

    @differs(runc="1.1 leaves the mounts", crun="1.8 leaves the mounts")
    def test_without_a_mount_namespace_a_failed_create_leaves_no_mount_and_what_was_there_stays(self):
        box = self.container()
        box.bundle.drop_namespace("mount")
        for paths in ("maskedPaths", "readonlyPaths"):
            box.config["linux"].pop(paths, None)
        box.config["hooks"] = {"createRuntime": [{"path": "/bin/false"}]}
        rootfs = box.bundle.rootfs
        subprocess.run(["mount", "--bind", rootfs, rootfs], check=True)
        code = box.create().code
        left = host.mounts_below(rootfs)
        subprocess.run(["umount", "-l", rootfs], check=True)

        self.assertNotEqual(code, 0)
        self.assertEqual(left, [rootfs])
        self.is_gone(box)

    def test_a_namespace_is_joined_by_its_path(self):
        holder = self.container("holder").args("sleep", "100")
        self.succeed(holder.run_detached())
        for kind, name in KINDS.items():
            if kind == "mount":
                continue  # joining another's mount namespace would make the root file system meaningless
            with self.subTest(kind):
                path = f"/proc/{holder.pid()}/ns/{name}"
                box = self.container(kind)
                box.bundle.namespace(kind, path)
                if kind == "uts":
                    del box.config["hostname"]

                self.assertEqual(self.inside(box, name), os.readlink(path))

    def test_the_first_process_of_a_pid_namespace_is_number_one(self):
        self.prints(self.container().shell("echo $$").run(), "1")

    def test_a_process_in_a_joined_pid_namespace_is_not_number_one(self):
        holder = self.container("holder").args("sleep", "100")
        self.succeed(holder.run_detached())
        box = self.container().shell("[ $$ != 1 ] && cat /proc/1/cmdline | tr '\\0' ' '")
        box.bundle.namespace("pid", f"/proc/{holder.pid()}/ns/pid")

        self.prints(box.run(), "sleep 100")

    def test_a_new_network_has_only_loopback_and_it_is_up(self):
        box = self.container().shell("ls /sys/class/net; ping -c 1 -w 2 127.0.0.1 >/dev/null && echo up")
        box.bundle.grant_capabilities("CAP_NET_RAW")

        names = self.succeed(box.run()).out.split()

        # Some kernels put tunnel devices into each new namespace.
        self.assertIn("lo", names)
        self.assertEqual(names[-1], "up")

    def test_a_new_cgroup_namespace_shows_the_container_as_the_root(self):
        box = self.container().args("cat", "/proc/self/cgroup")
        box.bundle.namespace("cgroup")

        paths = {line.split(":", 2)[2] for line in self.succeed(box.run()).out.splitlines()}

        self.assertNotIn(box.id, "".join(paths))
        self.assertIn("/", paths)

    @differs(runc="1.1 does not know time namespaces", crun="1.8 fails without a message")
    def test_a_time_namespace_has_its_offsets(self):
        box = self.container().args("cat", "/proc/self/timens_offsets")
        box.bundle.namespace("time")
        box.config["linux"]["timeOffsets"] = {"boottime": {"secs": 5000}, "monotonic": {"secs": 100, "nanosecs": 7}}

        lines = [line.split() for line in self.succeed(box.run()).out.splitlines()]

        self.assertEqual(lines, [["monotonic", "100", "7"], ["boottime", "5000", "0"]])

    def test_an_unknown_namespace_is_an_error(self):
        box = self.container()
        box.config["linux"]["namespaces"].append({"type": "galaxy"})

        self.fails(box.run(), "galaxy")

        self.is_gone(box)

    def test_a_path_that_is_not_a_namespace_is_an_error(self):
        box = self.container()
        box.bundle.namespace("network", "/etc/passwd")

        self.fails(box.run())

        self.is_gone(box)

    @only_rung("waits for a writer")
    def test_a_fifo_in_place_of_a_namespace_is_an_error_and_does_not_wait(self):
        box = self.container()
        pipe = os.path.join(self.work, "pipe")
        os.mkfifo(pipe)
        box.bundle.namespace("network", pipe)

        self.fails(box.run(), "join the network namespace")

        self.is_gone(box)

    def test_a_namespace_of_another_kind_is_an_error(self):
        box = self.container()
        box.bundle.namespace("network", "/proc/self/ns/uts")

        self.fails(box.run())

        self.is_gone(box)


class UserNamespaces(Case):
    def test_root_inside_is_another_user_outside(self):
        box = self.container().shell("id -u; cat /proc/self/uid_map; touch /tmp/made")
        box.bundle.map_users(host=100000)

        words = self.succeed(box.run()).out.split()

        self.assertEqual(words, ["0", "0", "100000", "65536"])
        self.assertEqual(os.stat(box.bundle.inside("/tmp/made")).st_uid, 100000)

    def test_the_usual_mounts_and_devices_work_inside(self):
        box = self.container()
        box.bundle.map_users()

        self.assertEqual(self.output_of(box, "echo x > /dev/null; head -c 3 /dev/zero | wc -c; stat -c %a /dev/shm;"
                                             "ls /proc/1 >/dev/null && echo proc"), "3\n1777\nproc")

    @differs(runc="1.1 binds those of the host", crun="1.8 binds those of the host")
    def test_a_device_of_the_config_is_made_with_its_mode_and_owner(self):
        box = self.container()
        box.bundle.map_users()
        box.config["linux"]["devices"] = [
            {"path": "/dev/deep/mine", "type": "c", "major": 1, "minor": 5, "fileMode": 0o4640, "uid": 5, "gid": 6}]
        box.config["process"]["user"] = {"uid": 5, "gid": 6}

        out = self.output_of(box, "stat -c '%t:%T %a %u:%g' /dev/deep/mine /dev/null; head -c 2 /dev/deep/mine | wc -c;"
                                  "awk '$5 == \"/\"' /proc/self/mountinfo | wc -l; grep ' /dev/null ' /proc/self/mountinfo")

        self.assertTrue(out.startswith("1:5 4640 5:6\n1:3 666 0:0\n2\n1\n"), out)
        self.assertIn("nosuid,noexec", out)

    @differs(runc="1.1 wants the mappings again")
    def test_the_user_and_pid_namespaces_of_another_container_are_joined_together(self):
        holder = self.container("holder").args("sleep", "100")
        holder.bundle.map_users()
        self.succeed(holder.run_detached())
        box = self.container().shell("cat /proc/1/cmdline | tr '\\0' ' '; awk '{print $2}' /proc/self/uid_map")
        box.bundle.map_users()
        for kind in ("user", "pid"):
            box.bundle.namespace(kind, f"/proc/{holder.pid()}/ns/{kind}")
        for mapping in ("uidMappings", "gidMappings"):
            del box.config["linux"][mapping]

        self.prints(box.run(), "sleep 100 100000")

    def test_a_user_of_the_map_can_be_chosen(self):
        box = self.container().shell("id -u; id -g; id -G")
        box.bundle.map_users()
        box.config["process"]["user"] = {"uid": 1000, "gid": 1001, "additionalGids": [7]}

        self.prints(box.run(), "1000\n1001\n1001 7")

    def test_root_inside_has_no_rights_to_the_files_of_root_outside(self):
        box = self.container()
        box.bundle.map_users()
        box.bundle.grant_capabilities("CAP_DAC_OVERRIDE", "CAP_CHOWN", "CAP_FOWNER")
        path = os.path.join(self.work, "file")
        with open(path, "w", encoding="ascii") as file:
            file.write("secret\n")
        os.chmod(path, 0o600)
        box.bundle.add_mount("/file", path, options=["bind"])

        self.assertEqual(self.output_of(box, "for do in cat 'chmod 666' 'chown 0'; do $do /file 2>/dev/null || echo no; done"),
                         "no\nno\nno")

    def test_a_source_that_only_the_hosts_root_reaches_can_be_bound(self):
        box = self.container()
        box.bundle.map_users()
        place = os.path.join(self.work, "closed", "inner")
        os.makedirs(place)
        os.chmod(os.path.dirname(place), 0o700)
        box.bundle.add_mount("/data", place, options=["bind", "ro"])

        self.assertEqual(self.output_of(box, "ls -d /data"), "/data")

    def test_exec_enters_the_user_namespace(self):
        box = self.container().args("sleep", "100")
        box.bundle.map_users()
        self.succeed(box.run_detached())

        self.prints(box.exec("cat", "/proc/self/uid_map"), "0     100000      65536")

    @differs(runc="1.1 refuses a user namespace without maps", crun="1.8 leaves it the caller's groups")
    def test_a_joined_one_that_denies_groups_leaves_the_container_none_of_the_callers(self):
        keeper = subprocess.Popen(["setpriv", "--reuid=100000", "--regid=100000", "--clear-groups", "unshare", "--user",
                                   "--map-root-user", "sleep", "100"], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
        self.addCleanup(keeper.wait)
        self.addCleanup(keeper.kill)
        host.wait_until(lambda: self.comm_of(keeper.pid) == "sleep")
        for groups in ([], [5]):
            with self.subTest(groups):
                box = self.container().shell("id -G; cat /proc/self/setgroups")
                box.bundle.map_users()
                box.bundle.namespace("user", f"/proc/{keeper.pid}/ns/user")
                box.config["linux"].pop("uidMappings")
                box.config["linux"].pop("gidMappings")
                box.config["mounts"] = [one for one in box.config["mounts"] if one["type"] not in ("devpts", "mqueue", "cgroup")]
                box.config["process"]["rlimits"] = []
                box.config["process"]["user"]["additionalGids"] = groups

                result = box.run(through=("setpriv", "--groups", "4242"))

                self.prints(result, "0\ndeny")
                if self.kind == "rung":
                    self.assertEqual("additionalGids is ignored" in result.err, bool(groups))

    @staticmethod
    def comm_of(pid):
        with open(f"/proc/{pid}/comm", encoding="ascii") as file:
            return file.read().strip()

    def test_a_terminal_works_when_the_tty_group_is_not_mapped(self):
        box = self.container().args("true")
        box.bundle.map_users(size=1)
        for mount in box.config["mounts"]:
            mount["options"] = [one for one in mount.get("options", []) if one != "gid=5"]

        self.succeed(box.run())

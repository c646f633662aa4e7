"""Containers of an ordinary user: no privilege on the host, root only inside.

SPDX-License-Identifier: Apache-2.0
"""

import json
import os
import shutil
import subprocess

from rungtest import differs, host, only_rung
from rungtest.ordinary_user import (FIRST_SUBORDINATE, GID, NAME, SUBORDINATES, UID, UserCase, give_to_user, map_ids)
from rungtest.runtime import run
from rungtest.terminal import ConsoleSocket, Foreground

MS_NOSUID, MS_NODEV, MS_NOEXEC = 2, 4, 8


class Mappings(UserCase):
    def maps_of(self, box):
        words = self.output_of(box, "cat /proc/self/uid_map; echo; cat /proc/self/gid_map")
        return [[[int(word) for word in line.split()] for line in half.splitlines()] for half in words.split("\n\n")]

    def test_root_inside_is_the_user_and_its_group_outside(self):
        box = self.container()

        self.assertEqual(self.maps_of(box), [[[0, UID, 1]], [[0, GID, 1]]])

    def test_what_root_inside_makes_belongs_to_the_user(self):
        box = self.container()
        self.output_of(box, "touch /tmp/made")

        status = os.stat(box.bundle.inside("/tmp/made"))

        self.assertEqual((status.st_uid, status.st_gid), (UID, GID))

    def test_with_one_group_setgroups_is_denied(self):
        self.assertEqual(self.output_of(self.container(), "cat /proc/self/setgroups; id -G"), "deny\n0")

    def test_subordinate_ids_are_mapped_by_newuidmap_and_newgidmap(self):
        box = self.container()
        map_ids(box, subordinates=True)

        more = [1, FIRST_SUBORDINATE, SUBORDINATES]
        self.assertEqual(self.maps_of(box), [[[0, UID, 1], more], [[0, GID, 1], more]])

    def test_only_the_groups_may_need_the_tool(self):
        box = self.container()
        map_ids(box, subordinates=True, groups_only=True)

        maps = self.maps_of(box)

        self.assertEqual([len(one) for one in maps], [1, 2])

    @differs(runc="refuses every additional group of a rootless container")
    def test_a_mapped_user_with_groups_can_be_chosen(self):
        box = self.container().shell("id -u; id -g; id -G; cat /proc/self/setgroups")
        map_ids(box, subordinates=True)
        box.config["process"]["user"] = {"uid": 5, "gid": 6, "additionalGids": [7]}

        self.prints(box.run(), "5\n6\n6 7\nallow")

    def test_ids_that_are_not_the_users_are_refused(self):
        box = self.container()
        map_ids(box, subordinates=True)
        box.config["linux"]["uidMappings"][1]["hostID"] = 100000

        result = box.run()

        self.assertNotEqual(result.code, 0, repr(result))
        self.assertIn("not allowed", result.err)
        if self.kind == "rung":
            self.fails(result, "linux.uidMappings", "newuidmap", "/etc/subuid")

    @only_rung("the others say less")
    def test_a_missing_newuidmap_is_named_with_its_package(self):
        box = self.container()
        map_ids(box, subordinates=True)
        box.bundle.write()
        tools = os.path.join(self.work, "bin")
        os.mkdir(tools)
        for tool in ("unshare", "sh", "mount", "setpriv"):
            os.symlink(shutil.which(tool), os.path.join(tools, tool))

        result = box.run(env=self.runtime.environment(PATH=tools))

        self.fails(result, "linux.uidMappings", "newuidmap", "uidmap")
        self.is_gone(box)

    @differs(runc="refuses a user namespace without mappings")
    def test_without_any_mapping_the_users_own_ids_are_mapped(self):
        box = self.container()
        del box.config["linux"]["uidMappings"]
        del box.config["linux"]["gidMappings"]

        more = [1, FIRST_SUBORDINATE, SUBORDINATES]
        self.assertEqual(self.maps_of(box), [[[0, UID, 1], more], [[0, GID, 1], more]])

    @differs(runc="1.1 says it on a line of its own", crun="1.8 has words of its own")
    def test_a_namespace_of_the_host_that_cannot_be_joined_is_named(self):
        for kind, name in (("ipc", "ipc"), ("network", "net")):
            with self.subTest(kind):
                box = self.container(name)
                box.bundle.namespace(kind, f"/proc/self/ns/{name}")

                self.fails(box.run(), f"join the {kind} namespace", "operation not permitted")

    @differs(crun="adds a user namespace")
    def test_without_a_user_namespace_it_is_refused(self):
        box = self.container()
        box.bundle.drop_namespace("user")
        del box.config["linux"]["uidMappings"]
        del box.config["linux"]["gidMappings"]

        self.fails(box.run(), "rootless container requires user namespaces")

        self.is_gone(box)

    @differs(crun="drops the groups in silence")
    def test_additional_groups_where_only_one_is_mapped_are_refused(self):
        box = self.container()
        box.config["process"]["user"]["additionalGids"] = [5]

        result = box.run()

        self.assertNotEqual(result.code, 0)
        self.assertIn("cannot set any additional groups in a rootless container", result.err)

    def test_an_unmapped_user_is_refused(self):
        for field in ("uid", "gid"):
            with self.subTest(field):
                box = self.container(field)
                box.config["process"]["user"][field] = 5

                result = box.run()

                self.assertNotEqual(result.code, 0, repr(result))
                if self.kind != "crun":
                    self.assertIn(f"cannot set {field} to unmapped user in user namespace", result.err)
                self.is_gone(box)

    @differs(runc="1.1 insists on root being mapped")
    def test_a_map_without_root_is_enough(self):
        box = self.container().shell("id -u; id -g; touch /tmp/x /dev/shm/y && echo made")
        map_ids(box, root=1000)
        box.config["process"]["user"] = {"uid": 1000, "gid": 1000}

        self.prints(box.run(), "1000\n1000\nmade")

    @differs(runc="1.1 wants mappings as well")
    def test_a_user_namespace_is_joined_by_its_path(self):
        holder = self.container("holder").args("sleep", "100")
        self.succeed(holder.run_detached())
        box = self.container()
        for kind, name in (("user", "user"), ("ipc", "ipc"), ("network", "net"), ("uts", "uts")):
            box.bundle.namespace(kind, f"/proc/{holder.pid()}/ns/{name}")
        del box.config["linux"]["uidMappings"]
        del box.config["linux"]["gidMappings"]
        del box.config["hostname"]

        found = self.output_of(box, "id -u; for n in user ipc net uts; do readlink /proc/self/ns/$n; done").split()

        expected = [os.readlink(f"/proc/{holder.pid()}/ns/{name}") for name in ("user", "ipc", "net", "uts")]
        self.assertEqual(found, ["0", *expected])


class Mounts(UserCase):
    def test_the_usual_mounts_and_devices_work(self):
        box = self.container()

        self.assertEqual(
            self.output_of(box, "echo x > /dev/null; head -c 3 /dev/zero | wc -c; stat -c %a /dev/shm;"
                                "ls /proc/1 > /dev/null && touch /dev/mqueue/q /dev/shm/s && ls /sys/class > /dev/null &&"
                                "ls -l /dev/ptmx | grep -c pts/ptmx; hostname"), "3\n1777\n1\nbox")

    def mounts_inside(self, box):
        lines = self.output_of(box, "cat /proc/mounts").splitlines()
        return [(fields[1], fields[2], fields[3].split(",")) for fields in (line.split() for line in lines)]

    @differs(runc="1.1 fails without a network namespace of its own", crun="1.8 loses nosuid")
    def test_without_a_network_of_its_own_it_sees_the_hosts_sysfs_read_only(self):
        box = self.container()
        box.bundle.drop_namespace("network")

        below = [one for one in self.mounts_inside(box) if one[0] == "/sys" or one[0].startswith("/sys/kernel")]

        self.assertIn("/sys", [place for place, _, _ in below])
        self.assertEqual([one for one in below if "ro" not in one[2]], [])
        self.assertEqual([one for one in below if one[0] == "/sys" and "nosuid" not in one[2]], [])

    @differs(runc="1.1 leaves what lies beneath writable", crun="1.8 leaves its tmpfs writable")
    def test_no_cgroup_of_the_host_can_be_written(self):
        for bound in (False, True):
            with self.subTest(bound=bound):
                box = self.container(f"bound{bound}")
                if bound:
                    for mount in box.config["mounts"]:
                        if mount["destination"] == "/sys":
                            mount.update(type="none", source="/sys",
                                         options=["rbind", "nosuid", "noexec", "nodev", "ro"])
                    box.bundle.drop_namespace("network")

                found = [one for one in self.mounts_inside(box) if one[0].startswith("/sys/fs/cgroup")]

                self.assertTrue(found)
                self.assertEqual([one for one in found if "ro" not in one[2]], [])

    @differs(runc="1.1 fails")
    def test_a_read_only_bind_keeps_what_is_locked_on_its_source(self):
        box = self.container()
        place = self.mounted("source", MS_NOSUID | MS_NODEV)
        box.bundle.add_mount("/data", place, options=["bind", "ro"])

        data = [options for name, _, options in self.mounts_inside(box) if name == "/data"]

        self.assertEqual(sorted(set(data[0]) & {"ro", "nosuid", "nodev", "noexec"}), ["nodev", "nosuid", "ro"])

    @differs(runc="1.1 keeps them in silence", crun="1.8 keeps them in silence")
    def test_clearing_a_locked_attribute_names_it(self):
        box = self.container()
        place = self.mounted("source", MS_NOSUID | MS_NODEV)
        box.bundle.add_mount("/data", place, options=["bind", "dev", "exec"])

        self.fails(box.run(), f'error mounting "{place}"', "nodev", "locked", "operation not permitted")

        self.is_gone(box)

    def test_a_bind_of_the_users_own_files_is_writable(self):
        box = self.container()
        place = os.path.join(self.work, "own")
        os.mkdir(place)
        os.chown(place, UID, GID)
        box.bundle.add_mount("/data", place, options=["rbind", "rw"])

        self.assertEqual(self.output_of(box, "echo text > /data/file && cat /data/file"), "text")
        self.assertEqual(os.stat(os.path.join(place, "file")).st_uid, UID)

    @differs(runc="1.1 leaves the process the caller's groups", crun="1.8 has given the group up by then")
    def test_what_only_a_group_of_the_user_reaches_can_be_bound(self):
        box = self.container()
        map_ids(box, subordinates=True)
        place = os.path.join(self.work, "shared", "inner")
        os.makedirs(place)
        os.chown(os.path.dirname(place), 0, 63003)
        os.chmod(os.path.dirname(place), 0o710)
        self.runtime.groups = "--groups=63003"
        box.bundle.add_mount("/data", place, options=["bind"])

        self.assertEqual(self.output_of(box, "ls -d /data; id -G"), "/data\n0")

    def test_what_the_user_cannot_reach_cannot_be_bound(self):
        box = self.container()
        place = os.path.join(self.work, "closed", "inner")
        os.makedirs(place)
        os.chmod(os.path.dirname(place), 0o700)
        box.bundle.add_mount("/data", place, options=["bind"])

        result = box.run()

        self.assertNotEqual(result.code, 0)
        self.assertIn("ermission denied", result.err)

    @differs(runc="refuses the group", crun="1.8 fails")
    def test_the_terminal_group_is_left_out_where_it_is_not_mapped(self):
        box = self.container()
        for mount in box.config["mounts"]:
            if mount["type"] == "devpts":
                mount["options"].append("gid=5")

        options = next(options for name, _, options in self.mounts_inside(box) if name == "/dev/pts")

        self.assertEqual([one for one in options if one.startswith("gid=")], [])

    def test_read_only_and_masked_paths_hold(self):
        box = self.container()
        box.config["root"]["readonly"] = True

        self.assertEqual(self.output_of(box, "touch /x 2>/dev/null || echo ro; (echo 1 > /proc/sys/kernel/domainname) 2>/dev/null "
                                             "|| echo ro; cat /proc/keys | wc -c; ls /sys/firmware | wc -l"), "ro\nro\n0\n0")

    @differs(crun="1.8 fails")
    def test_a_device_of_the_host_is_bound(self):
        box = self.container()
        box.config["linux"]["devices"] = [{"path": "/dev/null", "type": "c", "major": 1, "minor": 3}]

        self.assertEqual(self.output_of(box, "stat -c '%t:%T' /dev/null"), "1:3")


class Cgroups(UserCase):
    def test_a_container_that_asks_for_nothing_runs_in_the_callers_cgroups(self):
        box = self.container().args("cat", "/proc/self/cgroup")

        result = self.succeed(box.run())

        self.assertNotIn(box.id, result.out)

    @differs(crun="ignores the limit")
    def test_a_limit_that_cannot_be_set_is_refused(self):
        box = self.container()
        box.config["linux"]["resources"]["pids"] = {"limit": 10}

        result = box.run()

        self.assertNotEqual(result.code, 0, repr(result))
        if host.cgroup_is_v2():
            self.assertIn("rootless needs no limits + no cgrouppath when no permission is granted for cgroups", result.err)
        else:
            self.assertIn("cannot set pids limit: container could not join or create cgroup", result.err)
        self.is_gone(box)

    def test_a_cgroup_that_is_delegated_holds_the_container(self):
        """On a hybrid host a user is given hierarchies of v1 and not the unified one."""
        parent = f"/{self.word}-delegated"
        self.delegate(parent)
        box = self.container().args("sleep", "100")
        box.config["linux"]["cgroupsPath"] = f"{parent}/{box.id}"
        box.config["linux"]["resources"] = {"pids": {"limit": 30}}

        result = box.run_detached()

        if host.cgroup_is_v2():  # a cgroup above both places would have to be delegated as well
            self.fails(result, "permission denied")
            return
        self.succeed(result)
        with open(host.cgroup_file(f"{parent}/{box.id}", "pids", "pids.max"), encoding="ascii") as file:
            self.assertEqual(file.read(), "30\n")
        self.succeed(box.delete("--force"))

    def delegate(self, parent):
        for mount in host.cgroup_mounts():
            if mount.endswith("/unified"):
                continue
            path = mount + parent
            os.mkdir(path)
            self.addCleanup(os.rmdir, path)
            for name in ("", "cgroup.procs", "tasks"):
                if os.path.exists(os.path.join(path, name)):
                    os.chown(os.path.join(path, name), UID, GID)
            for name in ("cpuset.cpus", "cpuset.mems"):
                if os.path.exists(os.path.join(path, name)):
                    with open(os.path.join(mount, name), encoding="ascii") as source, \
                         open(os.path.join(path, name), "w", encoding="ascii") as target:
                        target.write(source.read())

    def test_a_cgroup_that_is_asked_for_and_cannot_be_made_is_an_error(self):
        box = self.container()
        box.config["linux"]["cgroupsPath"] = f"/{self.word}/x"

        result = box.run()

        self.assertNotEqual(result.code, 0, repr(result))
        if self.kind != "crun":
            self.fails(result, "unable to apply cgroup configuration", "permission denied")
        self.is_gone(box)


class Verbs(UserCase):
    def test_a_container_lives_and_dies(self):
        box = self.container().args("sleep", "100")

        self.succeed(box.create())
        self.assertEqual(box.status(), "created")
        self.succeed(box.start())
        self.prints(box.exec("id", "-u"), "0")
        listed = json.loads(self.runtime.call("list", "--format", "json").out)
        self.assertEqual([(one["id"], one["owner"]) for one in listed], [(box.id, NAME)])
        self.succeed(box.kill("KILL"))
        box.wait_stopped()
        self.succeed(box.delete())

    @differs(crun="1.8 cannot")
    def test_exec_enters_a_created_container(self):
        box = self.container().args("sleep", "100")
        self.succeed(box.create())

        self.prints(box.exec("id", "-u"), "0")

    @differs(crun="1.8 takes root unless told")
    def test_exec_as_another_user_of_the_map(self):
        box = self.container().args("sleep", "100")
        map_ids(box, subordinates=True)
        box.config["process"]["user"] = {"uid": 1000, "gid": 1000}
        self.succeed(box.run_detached())

        self.prints(box.exec("id", "-u", options=["--user", "5:6"]), "5")
        self.prints(box.exec("sh", "-c", "id -u; cat /proc/self/uid_map | wc -l"), "1000\n2")
        self.succeed(box.kill("KILL"))

    def test_exec_as_an_unmapped_user_is_refused(self):
        box = self.container().args("sleep", "100")
        self.succeed(box.run_detached())

        result = box.exec("id", options=["--user", "5:5"])

        self.assertNotEqual(result.code, 0)
        if self.kind == "rung":
            self.fails(result, "cannot set uid to unmapped user in user namespace", code=255)

    def test_a_forced_delete_ends_a_running_container(self):
        box = self.container().args("sleep", "100")
        self.succeed(box.run_detached())

        self.succeed(box.delete("--force"))

        self.is_gone(box)

    @differs(runc="1.1 fails", crun="1.8 does nothing")
    def test_a_signal_to_all_reaches_a_container_without_a_cgroup(self):
        box = self.container().args("sleep", "100")
        self.succeed(box.run_detached())

        self.succeed(box.kill("KILL", "--all"))
        box.wait_stopped()

        self.succeed(box.kill("KILL", "--all"))  # as on any that has stopped

    def test_what_takes_a_cgroup_says_so(self):
        box = self.container().args("sleep", "100")
        self.succeed(box.run_detached())

        for verb in ("pause", "ps"):
            result = self.runtime.call(verb, box.id)
            self.assertNotEqual(result.code, 0, repr(result))
            if self.kind == "rung":
                self.fails(result, "cgroups not configured for container")

    def test_hooks_run_as_the_user(self):
        box = self.container()
        seen = os.path.join(self.work, "seen")
        hook = {"path": "/bin/sh", "args": ["sh", "-c", f"id -u >> {seen}"], "env": ["PATH=/usr/bin:/bin"]}
        box.config["hooks"] = {"createRuntime": [hook], "poststop": [hook]}

        self.succeed(box.run())

        with open(seen, encoding="ascii") as file:
            self.assertEqual(file.read().split(), [str(UID)] * 2)

    def test_the_default_root_is_in_the_users_runtime_directory(self):
        box = self.container().args("sleep", "100")
        box.bundle.write()
        name = os.path.basename(self.runtime_path) if self.kind != "rung" else "rung"
        place = os.path.join(self.files, "run", name)
        prefix = [*self.runtime.prefix(), self.runtime_path]

        started = run([*prefix, "run", "--detach", "--bundle", box.bundle.path, box.id], env=self.runtime.environment())
        status = os.stat(place)
        listed = run([*prefix, "list", "--quiet"], env=self.runtime.environment())
        removed = run([*prefix, "delete", "--force", box.id], env=self.runtime.environment())

        self.succeed(started)
        self.assertIn(box.id, listed.out)
        self.succeed(removed)
        self.assertEqual((status.st_uid, status.st_mode & 0o077), (UID, 0))

    @differs(crun="1.8 leaves it out of exec")
    def test_a_raised_out_of_memory_score_is_applied_to_create_and_exec(self):
        box = self.container().args("sleep", "100")
        box.config["process"]["oomScoreAdj"] = 500
        self.succeed(box.run_detached())

        self.prints(box.exec("cat", "/proc/1/oom_score_adj", "/proc/self/oom_score_adj"), "500\n500")

    @differs(runc="1.1 fails", crun="1.8 fails")
    def test_a_score_that_only_root_may_set_is_left(self):
        box = self.container().args("cat", "/proc/self/oom_score_adj")
        box.config["process"]["oomScoreAdj"] = -900

        self.assertGreater(int(self.succeed(box.run()).out), -900)

    def test_a_limit_above_the_hard_one_is_refused(self):
        box = self.container()
        box.config["process"]["rlimits"] = [{"type": "RLIMIT_NOFILE", "soft": 1 << 29, "hard": 1 << 29}]

        result = box.run()

        self.assertNotEqual(result.code, 0)
        self.assertIn("peration not permitted", result.err)
        if self.kind != "crun":
            self.assertIn("error setting rlimit type 7", result.err)
        self.is_gone(box)

    @only_rung("compared with runc below")
    def test_the_written_configuration_runs(self):
        box = self.container()
        done = self.runtime.call("spec", "--rootless", "--bundle", box.bundle.path)
        self.succeed(done)
        with open(os.path.join(box.bundle.path, "config.json"), encoding="utf-8") as file:
            written = json.load(file)

        self.assertEqual(written["linux"]["uidMappings"], [{"containerID": 0, "hostID": UID, "size": 1}])
        self.assertEqual(written["linux"]["gidMappings"], [{"containerID": 0, "hostID": GID, "size": 1}])
        written["process"].update(terminal=False, args=["id", "-u"])
        box.config.clear()
        box.config.update(written)
        self.prints(box.run(), "0")

    def test_the_written_configuration_is_runcs(self):
        box = self.container()
        self.succeed(self.runtime.call("spec", "--rootless", cwd=box.bundle.path))
        with open(os.path.join(box.bundle.path, "config.json"), encoding="utf-8") as file:
            ours = json.load(file)
        theirs_at = os.path.join(self.work, "theirs")
        os.mkdir(theirs_at)
        os.chown(theirs_at, UID, GID)
        run([*self.runtime.prefix(), "/usr/sbin/runc", "spec", "--rootless"], cwd=theirs_at, env=self.runtime.environment())
        with open(os.path.join(theirs_at, "config.json"), encoding="utf-8") as file:
            theirs = json.load(file)
        if self.kind == "crun":
            self.skipTest("crun: writes another configuration")

        theirs["process"]["capabilities"].pop("ambient", None)  # newer ones have none
        ours["process"]["capabilities"].pop("ambient", None)
        for one in (ours, theirs):
            del one["ociVersion"], one["hostname"]
            one["linux"]["namespaces"].sort(key=lambda entry: entry["type"])
        self.maxDiff = None
        self.assertEqual(ours, theirs)


class Streams(UserCase):
    def test_another_user_of_the_map_can_open_its_standard_error(self):
        box = self.container().shell("echo again > /dev/stderr")
        map_ids(box, subordinates=True)
        box.config["process"]["user"] = {"uid": 1000, "gid": 1000}
        box.bundle.write()

        # Pipes that the user has made, as the engine of a user does.
        script = 'exec 2>&1; "$@" 2>&1 | cat'
        command = self.runtime.command("run", "--bundle", box.bundle.path, box.id)
        at = len(self.runtime.prefix())
        done = subprocess.run([*command[:at], "sh", "-c", script, "sh", *command[at:]], env=self.runtime.environment(),
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=30,
                              check=False)

        self.assertEqual((done.returncode, done.stdout), (0, b"again\n"))

    def test_a_console_socket_gets_a_working_terminal(self):
        box = self.container().shell("tty; stty size; read line; echo got $line")
        box.config["process"]["terminal"] = True
        box.config["process"]["consoleSize"] = {"height": 33, "width": 111}
        socket = ConsoleSocket(os.path.join(self.work, "console.sock"))
        self.addCleanup(socket.close)
        os.chown(socket.path, UID, GID)

        self.succeed(box.create("--console-socket", socket.path))
        terminal = socket.receive()
        self.addCleanup(terminal.close)
        self.succeed(box.start())
        terminal.write("hello\n")
        text = terminal.read_until("got hello")

        self.assertIn("/dev/pts/0", text)
        self.assertIn("33 111", text)

    @differs(crun="1.8 sets the size late")
    def test_a_foreground_terminal_gives_the_exit_code(self):
        box = self.container().shell("stty size; exit 6")
        box.config["process"]["terminal"] = True
        box.bundle.write()

        person = Foreground(self.runtime.command("run", "--bundle", box.bundle.path, box.id), rows=31, columns=91)
        self.addCleanup(person.terminal.close)

        self.assertIn("31 91", person.terminal.read_until("31 91"))
        self.assertEqual(person.wait(), 6)


class Nested(UserCase):
    """rung inside what an outer sandbox left of the rights."""

    def as_root_of_a_namespace(self, box, before="", inside=""):
        """Runs it as root of a user namespace that the user made."""
        at = len(self.runtime.prefix())
        command = self.runtime.command("run", "--bundle", box.bundle.path, box.id)
        script = f'{before} exec "$@"'
        box.bundle.write()
        return run([*command[:at], "unshare", "--user", "--map-root-user", "--mount", "sh", "-c", script, "sh", *command[at:]],
                   env=self.runtime.environment(USER="someone"))

    def test_root_of_a_user_namespace_runs_containers(self):
        box = self.container().shell("id -u; cat /proc/self/uid_map | wc -l; touch /tmp/x /dev/shm/y; echo x > /dev/null")
        box.bundle.drop_namespace("user")
        del box.config["linux"]["uidMappings"]
        del box.config["linux"]["gidMappings"]

        self.prints(self.as_root_of_a_namespace(box), "0\n1")

    @differs(runc="1.1 insists on exec of another kind of mapping", crun="not tried")
    def test_a_user_namespace_in_a_user_namespace(self):
        box = self.container().shell("id -u; touch /tmp/x /dev/shm/y; echo x > /dev/null")
        for name in ("uidMappings", "gidMappings"):
            box.config["linux"][name] = [{"containerID": 0, "hostID": 0, "size": 1}]

        self.prints(self.as_root_of_a_namespace(box), "0")

    @only_rung("the others name less")
    def test_a_host_without_room_for_user_namespaces_is_named(self):
        box = self.container()
        for name in ("uidMappings", "gidMappings"):
            box.config["linux"][name] = [{"containerID": 0, "hostID": 0, "size": 1}]

        result = self.as_root_of_a_namespace(box, before="echo 0 > /proc/sys/user/max_user_namespaces;")

        self.fails(result, "max_user_namespaces")
        self.is_gone(box)

    @only_rung("the others name less")
    def test_an_outer_container_that_masks_its_procfs_is_named(self):
        box = self.container()
        box.bundle.write()
        command = self.runtime.command("run", "--bundle", box.bundle.path, box.id)

        result = run(["unshare", "--mount", "--propagation", "private", "sh", "-c",
                      'mount --bind /dev/null /proc/uptime; exec "$@"', "sh", *command], env=self.runtime.environment())

        self.fails(result, 'error mounting "proc" to rootfs at "/proc": operation not permitted', "masked")

    @only_rung("the others name less")
    def test_root_without_the_capability_is_told_so(self):
        box = self.container()
        box.bundle.drop_namespace("user")
        del box.config["linux"]["uidMappings"]
        del box.config["linux"]["gidMappings"]
        box.bundle.write()
        root = os.path.join(self.work, "of-root")

        result = run(["setpriv", "--bounding-set", "-sys_admin", self.runtime_path, "--root", root, "run", "--bundle",
                      box.bundle.path, box.id])

        self.fails(result, "CAP_SYS_ADMIN", "operation not permitted")


class OwnExecutable(UserCase):
    @only_rung("asks how it protects itself")
    def test_a_runtime_that_belongs_to_the_user_is_not_what_runs_inside(self):
        for mode in (0o755, 0o555):
            with self.subTest(oct(mode)):
                box = self.container(f"mode{mode}")
                own = os.path.join(self.work, f"rung{mode}")
                shutil.copy(self.runtime_path, own)
                os.chmod(own, mode)
                os.chown(own, UID, GID)
                self.runtime.path = own
                self.succeed(box.args("true").create())

                running = os.stat(f"/proc/{box.pid()}/exe")

                self.assertNotEqual((running.st_dev, running.st_ino), (os.stat(own).st_dev, os.stat(own).st_ino))

    @only_rung("asks how it protects itself")
    def test_a_runtime_of_roots_runs_as_it_is(self):
        box = self.container().args("true")
        self.succeed(box.create())

        running = os.stat(f"/proc/{box.pid()}/exe")

        self.assertEqual(running.st_ino, os.stat(self.runtime_path).st_ino)

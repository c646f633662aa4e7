"""The root file system and what is mounted into it.

SPDX-License-Identifier: Apache-2.0
"""

import json
import os
import subprocess
import unittest

from rungtest import Case, differs, host


def mount_on_host(*arguments):
    subprocess.run(["mount", *arguments], check=True, stdin=subprocess.DEVNULL)


class Looking(Case):
    """Reads /proc/self/mountinfo inside."""

    def mounted(self, box):
        """destination -> (per-mount options, propagation, super options); the newest mount of a point wins."""
        found = {}
        for line in self.succeed(box.args("cat", "/proc/self/mountinfo").run()).out.splitlines():
            fields = line.split()
            dash = fields.index("-")
            found[fields[4]] = (set(fields[5].split(",")), fields[6:dash], set(fields[dash + 3].split(",")))
        return found

    def source(self, name="source"):
        """A directory of the host, to be mounted."""
        path = os.path.join(self.work, name)
        os.makedirs(path, exist_ok=True)
        with open(os.path.join(path, "file"), "w", encoding="ascii") as file:
            file.write("from the host\n")
        return path


class Mounts(Looking):
    @differs(runc="1.1 parts from the host first", crun="1.8 parts from the host first")
    def test_a_root_that_is_a_slave_gets_what_the_host_mounts_later(self):
        for propagation in ("slave", "rslave"):
            with self.subTest(propagation):
                box = self.container(propagation).args("sleep", "100")
                box.config["linux"]["rootfsPropagation"] = propagation
                os.makedirs(os.path.join(box.bundle.rootfs, "later"))
                mount_on_host("--bind", box.bundle.path, box.bundle.path)
                self.addCleanup(subprocess.run, ["umount", "-R", "-l", box.bundle.path], check=True)
                mount_on_host("--make-shared", box.bundle.path)
                self.succeed(box.run_detached())

                mount_on_host("--bind", self.source(), os.path.join(box.bundle.rootfs, "later"))

                self.prints(box.exec("cat", "/later/file"), "from the host")

    def test_a_bind_may_take_what_an_earlier_entry_has_mounted(self):
        box = self.container()
        box.bundle.add_mount("/first", self.source(), options=["rbind"])
        box.bundle.add_mount("/second", os.path.join(box.bundle.rootfs, "first"), options=["rbind"])

        self.prints(box.args("cat", "/second/file").run(), "from the host")

    @differs(runc="1.1 makes the long path inside", crun="1.8 makes the long path inside")
    def test_a_destination_below_the_rootfs_of_the_host_is_the_place_inside(self):
        box = self.container()
        box.bundle.add_mount(os.path.join(box.bundle.rootfs, "inside"), self.source(), options=["rbind"])

        self.prints(box.args("cat", "/inside/file").run(), "from the host")

    def test_the_usual_mounts_have_the_options_of_the_config(self):
        points = self.mounted(self.container())

        self.assertLessEqual({"nosuid", "noexec", "nodev", "ro"}, points["/sys"][0])
        self.assertLessEqual({"nosuid", "rw"}, points["/dev"][0])
        self.assertLessEqual({"nosuid", "noexec", "nodev"}, points["/dev/shm"][0])
        self.assertIn("size=64k", points["/dev/shm"][2] | {text.replace("65536", "64") for text in points["/dev/shm"][2]})

    def test_the_root_is_the_bundles_and_nothing_of_the_host_is_visible(self):
        box = self.container()

        points = self.mounted(box)

        self.assertNotIn("/put_old", points)
        self.assertFalse([point for point in points if self.work in point])

    def test_a_bind_mount_shows_the_hosts_directory(self):
        box = self.container()
        box.bundle.add_mount("/data", self.source(), options=["bind"])

        self.assertEqual(self.output_of(box, "cat /data/file; echo new > /data/new"), "from the host")
        self.assertTrue(os.path.exists(os.path.join(self.work, "source/new")))

    def test_a_bind_mount_of_a_file_is_a_file(self):
        box = self.container()
        box.bundle.add_mount("/etc/motd", os.path.join(self.source(), "file"), options=["bind", "ro"])

        self.assertEqual(self.output_of(box, "cat /etc/motd; echo x > /etc/motd || true"), "from the host")

    def test_each_option_of_a_bind_mount_is_applied(self):
        for option in ("ro", "nosuid", "nodev", "noexec", "noatime", "nodiratime"):
            with self.subTest(option):
                box = self.container(option)
                box.bundle.add_mount("/data", self.source(), options=["bind", option])

                self.assertIn(option, self.mounted(box)["/data"][0])

    def test_several_options_are_applied_together(self):
        box = self.container()
        box.bundle.add_mount("/data", self.source(), options=["rbind", "rprivate", "ro", "nosuid", "nodev", "noexec"])

        self.assertLessEqual({"ro", "nosuid", "nodev", "noexec"}, self.mounted(box)["/data"][0])

    def test_a_read_only_bind_mount_leaves_its_submounts_writable(self):
        source = self.source()
        os.mkdir(os.path.join(source, "sub"))
        mount_on_host("-t", "tmpfs", "tmpfs", os.path.join(source, "sub"))
        box = self.container()
        box.bundle.add_mount("/data", source, options=["rbind", "ro"])

        self.assertEqual(self.output_of(box, "touch /data/x 2>/dev/null || echo ro; touch /data/sub/x && echo rw"),
                         "ro\nrw")

    def test_a_recursive_read_only_bind_mount_covers_its_submounts(self):
        source = self.source()
        os.mkdir(os.path.join(source, "sub"))
        mount_on_host("-t", "tmpfs", "tmpfs", os.path.join(source, "sub"))
        box = self.container()
        box.bundle.add_mount("/data", source, options=["rbind", "rro"])

        points = self.mounted(box)

        self.assertIn("ro", points["/data"][0])
        self.assertIn("ro", points["/data/sub"][0])

    def test_a_bind_mount_that_is_not_recursive_leaves_submounts_out(self):
        source = self.source()
        os.mkdir(os.path.join(source, "sub"))
        mount_on_host("-t", "tmpfs", "tmpfs", os.path.join(source, "sub"))
        box = self.container()
        box.bundle.add_mount("/data", source, options=["bind"])

        self.assertNotIn("/data/sub", self.mounted(box))

    def test_a_tmpfs_has_its_size_and_mode(self):
        box = self.container()
        box.bundle.add_mount("/scratch", "tmpfs", "tmpfs", ["nosuid", "nodev", "mode=1770", "size=1m"])

        self.assertEqual(self.output_of(box, "stat -c %a /scratch; dd if=/dev/zero of=/scratch/x bs=1k count=2000 "
                                             "2>/dev/null; stat -c %s /scratch/x"), f"1770\n{1 << 20}")

    def test_a_read_only_tmpfs_cannot_be_written(self):
        box = self.container()
        box.bundle.add_mount("/scratch", "tmpfs", "tmpfs", ["ro"])

        self.assertEqual(self.output_of(box, "touch /scratch/x 2>/dev/null || echo refused"), "refused")

    @differs(runc="1.1 applies its umask to the copy")
    def test_a_tmpfs_can_start_as_a_copy_of_what_it_covers(self):
        box = self.container()
        box.bundle.put("/covered/dir/script", "text\n", 0o750)
        os.chmod(box.bundle.inside("/covered/dir"), 0o777)
        os.symlink("/nowhere", box.bundle.inside("/covered/link"))
        box.bundle.add_mount("/covered", "tmpfs", "tmpfs", ["tmpcopyup"])

        self.assertEqual(
            self.output_of(box, "stat -c %a /covered/dir /covered/dir/script; readlink /covered/link;"
                                "cat /covered/dir/script; echo more > /covered/dir/more"),
            "777\n750\n/nowhere\ntext")
        self.assertFalse(os.path.exists(box.bundle.inside("/covered/dir/more")))

    @differs(crun="1.8 gives it the sticky bit")
    def test_a_missing_destination_is_made(self):
        box = self.container()
        box.bundle.add_mount("/a/new/place", self.source(), options=["bind"])

        self.assertEqual(self.output_of(box, "stat -c %a /a /a/new; cat /a/new/place/file"), "755\n755\nfrom the host")

    def test_a_relative_destination_is_below_the_root(self):
        box = self.container()
        box.bundle.add_mount("relative", self.source(), options=["bind"])

        self.assertEqual(self.output_of(box, "cat /relative/file"), "from the host")

    def test_a_relative_source_is_below_the_bundle(self):
        box = self.container()
        os.mkdir(os.path.join(box.bundle.path, "beside"))
        with open(os.path.join(box.bundle.path, "beside/file"), "w", encoding="ascii") as file:
            file.write("beside the config\n")
        box.bundle.add_mount("/data", "beside", options=["bind"])

        self.assertEqual(self.output_of(box, "cat /data/file"), "beside the config")

    def test_mounts_are_made_in_the_order_of_the_config(self):
        box = self.container()
        box.bundle.add_mount("/data", "tmpfs", "tmpfs")
        box.bundle.add_mount("/data/inner", self.source(), options=["bind"])

        self.assertEqual(self.output_of(box, "cat /data/inner/file; ls /data"), "from the host\ninner")

    def test_a_missing_source_is_an_error_that_names_it(self):
        box = self.container()
        box.bundle.add_mount("/data", os.path.join(self.work, "nowhere"), options=["bind"])

        self.fails(box.run(), "nowhere", "o such file or directory")

        self.is_gone(box)

    def test_a_value_for_a_file_system_is_ignored_on_a_bind_mount(self):
        box = self.container().args("cat", "/data/file")
        box.bundle.add_mount("/data", self.source(), options=["bind", "mode=700", "size=1k"])

        result = box.run()

        self.prints(result, "from the host")
        if self.kind == "rung":
            self.assertIn("mounts[/data]: a bind mount takes no file system option: ignoring mode", result.err)
            box.config["mounts"][-1]["options"].append("noexce")
            self.fails(box.run(), 'a bind mount takes no file system option, such as "noexce"')

    @differs(runc="1.1 fails to mount")
    def test_a_label_of_mounts_is_ignored_where_nothing_knows_labels(self):
        if os.path.exists("/sys/fs/selinux/enforce"):
            self.skipTest("this host knows labels")
        box = self.container().shell("echo fine")
        box.config["linux"]["mountLabel"] = "system_u:object_r:container_file_t:s0"

        result = box.run()

        self.prints(result, "fine")
        if self.kind == "rung":
            self.assertIn("linux.mountLabel is ignored: SELinux is not enabled on this host", result.err)

    def test_an_unknown_file_system_is_an_error(self):
        box = self.container()
        box.bundle.add_mount("/data", "x", "nosuchfs")

        self.fails(box.run(), "data", "o such device")

        self.is_gone(box)


class SymlinkedDestinations(Looking):
    def test_a_destination_that_is_an_absolute_symlink_is_resolved_inside_the_root(self):
        box = self.container()
        os.symlink("/real", box.bundle.inside("/link"))
        os.mkdir(box.bundle.inside("/real"))
        box.bundle.add_mount("/link", self.source(), options=["bind"])

        self.assertEqual(self.output_of(box, "cat /real/file"), "from the host")
        self.assertFalse(os.path.exists("/real"))

    def test_the_target_of_a_dangling_symlink_is_made(self):
        box = self.container()
        os.symlink("/run/hosts", box.bundle.inside("/etc/hosts"))
        box.bundle.add_mount("/etc/hosts", os.path.join(self.source(), "file"), options=["bind"])

        self.assertEqual(self.output_of(box, "cat /run/hosts"), "from the host")

    @differs(crun="1.8 does not resolve it")
    def test_a_symlink_that_climbs_stays_inside_the_root(self):
        box = self.container()
        os.symlink("../../../../../../escape", box.bundle.inside("/link"))
        box.bundle.add_mount("/link", self.source(), options=["bind"])

        self.assertEqual(self.output_of(box, "cat /escape/file"), "from the host")
        self.assertFalse(os.path.exists("/escape"))

    def test_a_destination_that_climbs_stays_inside_the_root(self):
        box = self.container()
        box.bundle.add_mount("/../../../escape", self.source(), options=["bind"])

        self.assertEqual(self.output_of(box, "cat /escape/file"), "from the host")

    @differs(runc="1.1.5 made device nodes outside (CVE-2026-41579)", crun="made device nodes outside (CVE-2026-47766)")
    def test_a_dev_that_is_a_symlink_puts_nothing_outside_of_the_root(self):
        box = self.container().args("true")
        outside = os.path.join(box.bundle.path, "outside")
        os.mkdir(outside)
        os.rmdir(box.bundle.inside("/dev"))
        os.symlink("../outside", box.bundle.inside("/dev"))
        box.config["mounts"] = [mount for mount in box.config["mounts"] if not mount["destination"].startswith("/dev")]

        box.run()

        self.assertEqual(os.listdir(outside), [])

    @differs(crun="mounts proc through a symlink")
    def test_proc_is_not_mounted_through_a_symlink(self):
        box = self.container().args("true")
        os.rmdir(box.bundle.inside("/proc"))
        os.symlink("/tmp", box.bundle.inside("/proc"))

        self.fails(box.run(), "must be mounted on ordinary directory")

        self.is_gone(box)


class SymlinksThemselves(Looking):
    """crun's options."""
    OLD = {"runc": "1.1 does not know it", "crun": "1.8 does not know dest-nofollow"}

    def link(self, content, name="link"):
        path = os.path.join(self.work, name)
        os.symlink(content, path)
        return path

    def planted(self, mount_options, source, script, users=False):
        """A container whose image has a dangling symlink at /target, where `source` is mounted."""
        box = self.container(f"c{len(self.containers)}")
        os.symlink("nowhere", box.bundle.inside("/target"))
        box.bundle.add_mount("/target", source, options=mount_options)
        if users:
            box.bundle.map_users()
        return box.shell(script)

    @differs(**OLD)
    def test_a_symlink_may_be_mounted_on_and_itself_be_mounted(self):
        file = os.path.join(self.source(), "file")
        link = self.link(file)

        for users in (False, True):
            box = self.planted(["bind", "dest-nofollow"], link, "cat /target; ls /nowhere 2>/dev/null", users)
            self.assertEqual(box.run().out, "from the host\n")
            self.is_gone(box)
            box = self.planted(["bind", "dest-nofollow", "src-nofollow"], link, "readlink /target", users)
            self.prints(box.run(), file)
            self.is_gone(box)

    @differs(**OLD)
    def test_a_missing_target_is_made_though_no_symlink_is_followed(self):
        box = self.container()
        box.bundle.add_mount("/deep/new", self.source(), options=["bind", "dest-nofollow"])

        self.prints(box.args("cat", "/deep/new/file").run(), "from the host")

    @differs(runc="1.1 does not know it", crun="1.8 wants it to lead somewhere")
    def test_a_symlink_can_be_copied(self):
        box = self.container().args("readlink", "/deep/link")
        box.bundle.add_mount("/deep/link", self.link("../nowhere"), options=["rbind", "copy-symlink"])

        self.prints(box.run(), "../nowhere")
        self.prints(box.run(), "../nowhere")

    @differs(runc="1.1 does not know it", crun="1.8 mounts it")
    def test_what_is_no_symlink_is_mounted_and_what_is_in_the_way_is_an_error(self):
        box = self.container().args("cat", "/place/file")
        box.bundle.add_mount("/place", self.source(), options=["rbind", "copy-symlink"])
        self.prints(box.run(), "from the host")

        box.config["mounts"][-1]["source"] = self.link("elsewhere")
        self.fails(box.run(), "/place", "file exists")
        self.is_gone(box)

        box.config["mounts"][-1]["options"].append("src-nofollow")
        self.fails(box.run(), "copy-symlink excludes src-nofollow and dest-nofollow")
        self.is_gone(box)


class MountsInPlaceOfTheRoot(Looking):
    @differs(crun="1.8 leaves the root where it was")
    def test_a_bind_takes_the_place_of_the_root(self):
        box = self.container()
        other = self.container("other")
        other.bundle.put("/mark", "another root\n")
        box.config["mounts"].insert(0, {"destination": "/", "type": "bind", "source": other.bundle.rootfs, "options": ["bind"]})

        self.prints(box.shell("cat /mark; cd /..; ls -d /proc/self/ns").run(), "another root\n/proc/self/ns")

        self.assertFalse(os.path.exists(box.bundle.inside("/mark")))

    @differs(crun="1.8 cannot")
    def test_a_new_file_system_takes_the_place_of_the_root(self):
        box, other = self.container(), self.container("other")
        box.config["mounts"].insert(0, {"destination": "/", "type": "tmpfs", "source": "tmpfs", "options": ["mode=755"]})
        box.bundle.add_mount("/bin", os.path.join(other.bundle.rootfs, "bin"), options=["bind", "ro"])

        self.prints(box.shell("touch /made && ls -d /made /proc/1").run(), "/made\n/proc/1")

        self.assertFalse(os.path.exists(box.bundle.inside("/made")))

    @differs(runc="1.1 copies")
    def test_the_root_is_not_copied(self):
        box = self.container().args("true")
        box.config["mounts"].insert(0, {"destination": "/", "type": "tmpfs", "source": "tmpfs", "options": ["tmpcopyup"]})

        self.assertNotEqual(box.run().code, 0)

        self.is_gone(box)


class Propagation(Looking):
    def shared_source(self):
        source = self.source("shared")
        mount_on_host("-t", "tmpfs", "tmpfs", source)
        mount_on_host("--make-shared", source)
        os.mkdir(os.path.join(source, "later"))
        return source

    def test_mounts_are_private_by_default(self):
        box = self.container()
        box.bundle.add_mount("/data", self.shared_source(), options=["rbind", "rprivate"])

        self.assertEqual(self.mounted(box)["/data"][1], [])

    def test_a_slave_mount_receives_what_the_host_mounts_later(self):
        source = self.shared_source()
        box = self.container().args("sleep", "100")
        box.bundle.add_mount("/data", source, options=["rbind", "rslave"])
        box.config["linux"]["rootfsPropagation"] = "rslave"
        self.succeed(box.run_detached())

        mount_on_host("-t", "tmpfs", "tmpfs", os.path.join(source, "later"))
        with open(os.path.join(source, "later/file"), "w", encoding="ascii") as file:
            file.write("arrived\n")

        self.prints(box.exec("cat", "/data/later/file"), "arrived")

    def test_a_private_mount_receives_nothing(self):
        source = self.shared_source()
        box = self.container().args("sleep", "100")
        box.bundle.add_mount("/data", source, options=["rbind", "rprivate"])
        self.succeed(box.run_detached())

        mount_on_host("-t", "tmpfs", "tmpfs", os.path.join(source, "later"))

        self.assertNotIn("/data/later", self.succeed(box.exec("cat", "/proc/self/mountinfo")).out)

    def test_a_shared_mount_is_shared(self):
        box = self.container()
        box.bundle.add_mount("/data", self.shared_source(), options=["rbind", "rshared"])
        box.config["linux"]["rootfsPropagation"] = "rshared"

        self.assertTrue(any(word.startswith("shared:") for word in self.mounted(box)["/data"][1]))

    @differs(runc="1.1 makes a peer group of its own", crun="1.8 makes it private")
    def test_a_shared_mount_below_a_private_root_is_a_peer_of_its_source(self):
        source = self.shared_source()
        with open("/proc/self/mountinfo", encoding="utf-8") as file:
            own = next(line.split() for line in file if f" {source} " in line)
        for root in ("rprivate", "private"):
            box = self.container()
            box.bundle.add_mount("/data", source, options=["rbind", "rshared"])
            box.config["linux"]["rootfsPropagation"] = root

            self.assertEqual(self.mounted(box)["/data"][1], [word for word in own if word.startswith("shared:")])
            self.is_gone(box)


class Root(Looking):
    def test_a_read_only_root_cannot_be_written(self):
        box = self.container()
        box.config["root"]["readonly"] = True

        self.assertEqual(self.output_of(box, "touch /x 2>/dev/null || echo refused; echo ok > /dev/shm/x && echo shm"),
                         "refused\nshm")

    def test_a_writable_root_can_be_written(self):
        box = self.container()

        self.output_of(box, "echo text > /x")

        self.assertEqual(box.bundle.read("/x"), "text\n")

    def test_the_root_may_be_an_absolute_path(self):
        box = self.container()
        box.config["root"]["path"] = box.bundle.rootfs

        self.assertEqual(self.output_of(box, "echo here"), "here")

    def test_the_host_can_be_entered_without_pivot_root(self):
        box = self.container().shell("ls / | head -1; ls /proc/1/root/ | head -1")

        self.prints(box.run("--no-pivot"), "bin\nbin")

    def test_masked_directories_are_empty_and_masked_files_read_nothing(self):
        box = self.container()
        box.bundle.put("/secret/file", "hidden\n")
        box.bundle.put("/etc/token", "hidden\n")
        box.config["linux"]["maskedPaths"] = ["/secret", "/etc/token", "/does/not/exist"]

        self.assertEqual(self.output_of(box, "ls -A /secret; cat /etc/token; touch /secret/x 2>/dev/null || echo ro"), "ro")

    @differs(runc="1.1.5 masks with what stands at /dev/null (CVE-2025-31133)",
             crun="1.8 masks with what stands at /dev/null")
    def test_a_planted_dev_null_does_not_open_a_masked_file(self):
        box = self.container().shell("cat /etc/token")
        box.config["mounts"] = [mount for mount in box.config["mounts"] if not mount["destination"].startswith("/dev")]
        box.bundle.put("/etc/token", "hidden\n")
        box.bundle.put("/planted", "planted\n")
        os.symlink("/planted", box.bundle.inside("/dev/null"))
        box.config["linux"]["maskedPaths"] = ["/etc/token"]

        result = box.run()

        self.assertNotIn("planted", result.out)
        self.assertNotIn("hidden", result.out)

    def test_read_only_paths_can_be_read_and_not_written(self):
        box = self.container()
        box.bundle.put("/etc/fixed/file", "fixed\n")
        box.config["linux"]["readonlyPaths"] = ["/etc/fixed", "/does/not/exist"]

        self.assertEqual(self.output_of(box, "cat /etc/fixed/file; touch /etc/fixed/x 2>/dev/null || echo ro"), "fixed\nro")

    def test_the_masks_of_proc_hold(self):
        self.assertEqual(self.output_of(self.container(), "cat /proc/keys /proc/timer_list 2>/dev/null | wc -c; "
                                                          "echo x > /proc/sysrq-trigger 2>/dev/null || echo ro"), "0\nro")


class Devices(Looking):
    def test_the_default_devices_work(self):
        self.assertEqual(
            self.output_of(self.container(),
                           "for n in null zero full random urandom tty; do stat -c '%n %t:%T %a' /dev/$n; done;"
                           "for n in fd stdin stdout stderr ptmx; do readlink /dev/$n; done; echo x > /dev/null;"
                           "head -c 4 /dev/zero | wc -c; echo x 2>/dev/null > /dev/full || echo full"),
            "/dev/null 1:3 666\n/dev/zero 1:5 666\n/dev/full 1:7 666\n/dev/random 1:8 666\n/dev/urandom 1:9 666\n"
            "/dev/tty 5:0 666\n/proc/self/fd\n/proc/self/fd/0\n/proc/self/fd/1\n/proc/self/fd/2\npts/ptmx\n4\nfull")

    def test_a_device_of_the_config_is_made_with_its_mode_and_owner(self):
        box = self.container()
        box.config["linux"]["devices"] = [
            {"path": "/dev/mine", "type": "c", "major": 1, "minor": 3, "fileMode": 0o640, "uid": 5, "gid": 6},
            {"path": "/dev/deep/plain", "type": "c", "major": 1, "minor": 5},
            {"path": "/dev/fifo", "type": "p", "fileMode": 0o600},
            {"path": "/dev/slash/", "type": "c", "major": 1, "minor": 7},
        ]

        self.assertEqual(
            self.output_of(box, "stat -c '%F %t:%T %a %u:%g' /dev/mine /dev/deep/plain /dev/slash; stat -c '%F %a' /dev/fifo"),
            "character special file 1:3 640 5:6\ncharacter special file 1:5 666 0:0\n"
            "character special file 1:7 666 0:0\nfifo 600")

    def test_the_umask_of_the_caller_does_not_change_modes(self):
        box = self.container().shell("stat -c %a /dev/null /dev/mine /made")
        box.config["linux"]["devices"] = [{"path": "/dev/mine", "type": "c", "major": 1, "minor": 3, "fileMode": 0o666}]
        box.bundle.add_mount("/made", "tmpfs", "tmpfs", ["mode=755"])

        self.prints(box.run(prepare=lambda: os.umask(0o077)), "666\n666\n755")

    def test_a_device_outside_of_the_list_cannot_be_opened(self):
        box = self.container()
        box.bundle.grant_capabilities("CAP_MKNOD", "CAP_SYSLOG")

        self.assertEqual(self.output_of(box, "mknod /tmp/kmsg c 1 11; head -c 0 /tmp/kmsg 2>/dev/null || echo refused"),
                         "refused")

    def test_a_device_of_the_list_can_be_opened(self):
        box = self.container()
        box.bundle.grant_capabilities("CAP_MKNOD", "CAP_SYSLOG")
        box.config["linux"]["resources"]["devices"].append(
            {"allow": True, "type": "c", "major": 1, "minor": 11, "access": "rwm"})

        self.assertEqual(self.output_of(box, "mknod /tmp/kmsg c 1 11; head -c 0 /tmp/kmsg && echo opened"), "opened")


class ChangedMounts(Looking):
    """`mounts add` and `mounts remove`."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        if cls.kind != "rung":
            raise unittest.SkipTest("Debian's runtimes have no such verb")

    def file(self, *mounts):
        path = os.path.join(self.work, "mounts.json")
        with open(path, "w", encoding="utf-8") as file:
            json.dump(list(mounts), file)
        return path

    def change(self, how, box, *mounts):
        return self.runtime.call("mounts", how, box.id, self.file(*mounts))

    def test_a_running_container_gets_mounts_and_loses_them(self):
        mounts = [{"destination": "/new/deep", "type": "bind", "source": self.source(), "options": ["bind", "ro"]},
                  {"destination": "/scratch", "type": "tmpfs", "source": "tmpfs", "options": ["size=64k"]}]
        for users in (False, True):
            box = self.container(f"users-{users}").args("sleep", "100")
            if users:
                box.bundle.map_users()
            self.succeed(box.run_detached())

            self.succeed(self.change("add", box, *mounts))

            self.prints(box.exec("sh", "-c", "cat /new/deep/file; touch /new/deep/x 2>/dev/null || echo kept;"
                                             "echo made > /scratch/file; cat /scratch/file; stat -c %u /scratch/file"),
                        "from the host\nkept\nmade\n0")
            self.succeed(self.change("remove", box, *mounts))
            self.assertEqual(box.exec("ls", "/new/deep", "/scratch").out.split(), ["/new/deep:", "/scratch:"])
            self.fails(self.change("remove", box, mounts[1]), "unmount \"/scratch\"", "invalid argument")

    def test_a_symlink_of_the_container_does_not_lead_a_mount_to_the_host(self):
        box = self.container().shell("ln -s ../../../../../.. /up; ln -s /proc/1/root /magic; sleep 100")
        self.succeed(box.run_detached())
        host.wait_until(lambda: os.path.lexists(box.bundle.inside("/magic")), what="the links")
        source = self.source()

        self.succeed(self.change("add", box, {"destination": "/up/etc", "type": "bind", "source": source, "options": ["bind"]}))
        self.fails(self.change("add", box, {"destination": "/magic/x", "type": "bind", "source": source, "options": ["bind"]}),
                   "too many levels of symbolic links")

        self.prints(box.exec("cat", "/etc/file"), "from the host")
        with open("/proc/self/mountinfo", encoding="utf-8") as file:
            self.assertNotIn(f"{source} /etc ", file.read())

    def test_what_cannot_be_changed_is_an_error(self):
        box = self.container().args("sleep", "100")
        self.succeed(box.run_detached())
        mount = {"destination": "/x", "type": "bind", "source": self.source(), "options": ["bind"]}

        self.fails(self.change("add", box, {**mount, "destination": "/"}), "cannot be changed while the container runs")
        self.fails(self.change("add", box, {**mount, "source": "/none"}), "/none", "no such file or directory")
        self.fails(self.change("add", box, {**mount, "destination": "/proc/self"}), "/proc/self")
        self.fails(self.change("swap", box, mount), "can add or remove, not \"swap\"")
        self.fails(self.runtime.call("mounts", "add", box.id, "/none"), "/none")
        self.succeed(box.kill("KILL"))
        box.wait_stopped()
        self.fails(self.change("add", box, mount), "container not running")

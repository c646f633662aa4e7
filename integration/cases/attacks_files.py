"""Attacks on files: what can be written, seen and executed under a grant, each beside a neighbour that is allowed.

SPDX-License-Identifier: Apache-2.0
"""

import os
import subprocess

from rungtest import only_rung
from rungtest.attacks import GRANT, Attacked, grant_with
from rungtest.programs import put_program

READ_ONLY, DENIED = "EROFS", "EPERM"
NO_GRANTS = "has no grants"


class Writing(Attacked):
    @only_rung(NO_GRANTS)
    def test_only_what_is_granted_can_be_written(self):
        self.becomes({"write /scratch/x": "ok", "write /work/out/x": "ok", "write /dev/null": "ok",
                      "write /x": READ_ONLY, "write /bin/sh": READ_ONLY, "write /etc/passwd": READ_ONLY,
                      "write /work/in/data": READ_ONLY, "write /work/output/x": READ_ONLY, "write /work/x": READ_ONLY,
                      "write /tmp/x": READ_ONLY, "write /dev/x": READ_ONLY, "write /dev/shm/x": READ_ONLY,
                      "write /work/out/../in/data": READ_ONLY, "mkdir /root/x": READ_ONLY,
                      "chmod /bin/busybox": READ_ONLY, "link /work/in/data /work/in/copy": READ_ONLY,
                      "link /work/in/data /work/out/copy": "EXDEV", "rename /work/in /work/gone": READ_ONLY,
                      "rename /work/out/x /work/out/y": "ok"})

    @only_rung(NO_GRANTS)
    def test_what_is_read_only_cannot_be_made_writable_again(self):
        self.becomes({"remount /": DENIED, "remount /work/in": DENIED, "remount /sys": DENIED, "remount /proc/sys": DENIED,
                      "mount /scratch tmpfs": DENIED, "mount /scratch proc": DENIED, "bind / /scratch": DENIED,
                      "bind /bin /work/out": DENIED, "umount /scratch": DENIED, "umount /proc/sys": DENIED,
                      "umount /secrets": DENIED, "pivot-root /scratch": DENIED, "chroot /scratch": DENIED,
                      "call fsopen": DENIED, "call fspick": DENIED, "call open_tree": DENIED, "call move_mount": DENIED,
                      "call mount_setattr": DENIED, "mkdir /scratch/x": "ok"})

    @only_rung(NO_GRANTS)
    def test_a_mount_of_the_engine_is_read_only_with_everything_below_it(self):
        box = self.target()
        volume = os.path.join(self.work, "volume")
        os.makedirs(f"{volume}/below")
        subprocess.run(["mount", "-t", "tmpfs", "tmpfs", f"{volume}/below"], check=True)
        self.addCleanup(subprocess.run, ["umount", f"{volume}/below"], check=True)
        box.bundle.add_mount("/volume", volume, options=["rbind", "rw"])

        self.becomes({"write /volume/x": READ_ONLY, "write /volume/below/x": READ_ONLY, "read /etc/passwd": "ok"},
                     grant_with(filesystem={"rootfs": "readOnly", "readOnly": ["/volume"]}), box=box)

    @only_rung(NO_GRANTS)
    def test_a_granted_mount_is_writable_with_everything_below_it_and_never_executable(self):
        box = self.target()
        volume = os.path.join(self.work, "volume")
        os.makedirs(f"{volume}/below")
        subprocess.run(["mount", "-t", "tmpfs", "tmpfs", f"{volume}/below"], check=True)
        self.addCleanup(subprocess.run, ["umount", f"{volume}/below"], check=True)
        box.bundle.add_mount("/work/out", volume, options=["rbind"])

        self.becomes({"write /work/out/x": "ok", "write /work/out/below/x": "ok", "exec-copy /work/out/copy": "EACCES",
                      "exec-copy /work/out/below/copy": "EACCES"}, box=box)

        self.assertTrue(os.path.exists(f"{volume}/x"))

    @only_rung(NO_GRANTS)
    def test_a_piece_of_a_mount_can_be_granted_alone(self):
        box = self.target()
        volume = os.path.join(self.work, "volume")
        os.makedirs(f"{volume}/mine")
        os.makedirs(f"{volume}/mine2")
        box.bundle.add_mount("/volume", volume, options=["bind"])
        grant = grant_with(filesystem={"rootfs": "readOnly", "readWrite": ["/volume/mine"]})

        self.becomes({"write /volume/mine/x": "ok", "write /volume/x": READ_ONLY, "write /volume/mine2/x": READ_ONLY,
                      "exec-copy /volume/mine/copy": "EACCES"}, grant, box=box)


    @only_rung(NO_GRANTS)
    def test_a_symlink_in_a_mount_is_no_way_out_of_the_piece_that_was_granted(self):
        for number, content in enumerate(("/", "/etc", "..", ".", "../../etc", "other")):
            with self.subTest(content):
                box = self.target()
                volume = os.path.join(self.work, f"volume{number}")
                os.makedirs(f"{volume}/other")
                os.symlink(content, f"{volume}/mine")
                box.bundle.add_mount("/volume", volume, options=["bind"])

                self.refused(grant_with(filesystem={"rootfs": "readOnly", "readWrite": ["/volume/mine"]}),
                             "filesystem.readWrite: /volume/mine", "symlink", box=box)

    @only_rung(NO_GRANTS)
    def test_a_symlink_of_the_image_is_followed_once_and_stays_inside(self):
        box = self.target()
        os.symlink("../../../../var", box.bundle.inside("/work/link"))

        self.becomes({"write /var/x": "ok", "write /work/link/y": "ok", "write /etc/x": READ_ONLY, "exec-copy /var/copy": "EACCES"},
                     grant_with(filesystem={"rootfs": "readOnly", "readWrite": ["/work/link"]}), box=box)

    @only_rung(NO_GRANTS)
    def test_hiding_a_symlink_hides_what_it_leads_to(self):
        box = self.target()
        box.bundle.put("/real/key", "secret\n")
        os.symlink("/real", box.bundle.inside("/link"))
        os.symlink("/secrets", box.bundle.inside("/work/link"))

        self.becomes({"read /link/key": "ENOENT", "read /real/key": "ENOENT", "read /secrets/key": "ENOENT",
                      "write /work/link/x": READ_ONLY},
                     grant_with(filesystem={"rootfs": "readOnly", "hidden": ["/link", "/secrets"], "readWrite": ["/work/link"]}),
                     box=box)


    @only_rung(NO_GRANTS)
    def test_what_leads_to_a_protected_place_is_not_moved_out_of_the_way(self):
        box = self.target()
        volume = os.path.join(self.work, "volume")
        for place in ("git/hooks", "deep/er/key"):
            os.makedirs(f"{volume}/{place}")
        box.bundle.add_mount("/volume", volume, options=["rbind"])
        grant = grant_with(filesystem={"rootfs": "readOnly", "readWrite": ["/volume"], "readOnly": ["/volume/git/hooks"],
                                       "hidden": ["/volume/deep/er/key"]})

        self.becomes({"rename /volume/git /volume/gone": "EBUSY", "rename /volume/deep /volume/gone": "EBUSY",
                      "rename /volume/deep/er /volume/gone": {"EBUSY", "EXDEV"}, "rename /volume/deep/er /volume/deep/gone": "EBUSY",
                      "write /volume/git/config": "ok", "write /volume/git/hooks/x": READ_ONLY,
                      "rename /volume/git/config /volume/git/other": "ok"}, grant, box=box)

        self.assertEqual(sorted(os.listdir(volume)), ["deep", "git"])

    @only_rung(NO_GRANTS)
    def test_a_protected_place_behind_a_symlink_that_the_task_could_replace_is_refused(self):
        for hidden in ("/volume/link", "/volume/link/key"):
            with self.subTest(hidden):
                box = self.target()
                volume = os.path.join(self.work, f"volume{hidden.count('/')}")
                os.makedirs(f"{volume}/real/key")
                os.symlink("real", f"{volume}/link")
                box.bundle.add_mount("/volume", volume, options=["rbind"])

                self.refused(grant_with(filesystem={"rootfs": "readOnly", "readWrite": ["/volume"], "hidden": [hidden]}),
                             "grant_unenforceable: filesystem: /volume/link", "symlink", box=box)


class Seeing(Attacked):
    @only_rung(NO_GRANTS)
    def test_a_hidden_directory_is_empty_and_a_hidden_file_too(self):
        box = self.target()
        box.shell("ls -A /secrets; cat /secrets/key 2>&1; cat /etc/key 2>&1 | wc -c; cat /work/in/data")

        self.prints(self.under(box), "cat: can't open '/secrets/key': No such file or directory\n0\ndata")

    @only_rung(NO_GRANTS)
    def test_what_is_hidden_stays_hidden_by_every_name(self):
        self.becomes({"read /secrets/key": "ENOENT", "read /proc/self/root/secrets/key": "ENOENT",
                      "read /proc/1/root/secrets/key": "ENOENT", "read /work/../secrets/key": "ENOENT",
                      "open-by-handle": DENIED, "call name_to_handle_at": DENIED, "read /proc/self/root/work/in/data": "ok"})

    @only_rung(NO_GRANTS)
    def test_a_mount_of_the_engine_can_be_hidden(self):
        box = self.target()
        secret = os.path.join(self.work, "secret")
        os.makedirs(secret)
        with open(f"{secret}/key", "w", encoding="ascii") as file:
            file.write("secret")
        box.bundle.add_mount("/run/secrets", secret, options=["bind", "ro"])
        grant = grant_with(filesystem={"rootfs": "readOnly", "hidden": ["/run/secrets"]})

        self.becomes({"read /run/secrets/key": "ENOENT", "read /work/in/data": "ok"}, grant, box=box)

    @only_rung(NO_GRANTS)
    def test_nothing_of_the_host_can_be_seen_through_proc(self):
        box = self.target()
        box.shell("ls /proc | grep -c '^[0-9]'; cat /proc/1/comm; ls /proc/1/root/work; readlink /proc/1/cwd")

        out = self.succeed(self.under(box)).out.split()

        self.assertLess(int(out[0]), 6)  # the shell and its pipe
        self.assertEqual(out[1:], ["sh", "in", "out", "output", "/"])


class Executing(Attacked):
    @only_rung(NO_GRANTS)
    def test_nothing_that_can_be_written_can_be_executed(self):
        self.becomes({"exec-copy /scratch/copy": "EACCES", "exec-copy /work/out/copy": "EACCES",
                      "exec-script /scratch/script": "EACCES", "exec-script /work/out/script": "EACCES",
                      "map-program /scratch/library": "EPERM", "map-program /work/out/library": "EPERM",
                      "protect-program /scratch/library": "EACCES", "protect-program /work/out/library": "EACCES",
                      "exec /bin/true": "ok", "map-anonymous": "ok"})

    @only_rung(NO_GRANTS)
    def test_nothing_in_memory_can_be_executed(self):
        # 0x10 is MFD_EXEC, 8 MFD_NOEXEC_SEAL.
        self.becomes({"memfd 0": {"EACCES", "EPERM"}, "memfd 1": {"EACCES", "EPERM"}, "memfd 0x10": {"EACCES", "EPERM"},
                      "memfd 8": {"EACCES", "EPERM"}, "exec /bin/true": "ok"})

    @only_rung(NO_GRANTS)
    def test_the_interpreter_of_the_image_does_not_load_programs_of_scratch(self):
        # A loader maps what it is told to run; noexec refuses the mapping.
        box = self.target()
        loader = put_program(box.bundle, "/usr/bin/id")
        box.shell(f"{loader} /usr/bin/id -u; cp /usr/bin/id /scratch/id; {loader} /scratch/id -u 2>/dev/null || echo refused")

        self.prints(self.under(box), "0\nrefused")

    @only_rung(NO_GRANTS)
    def test_the_running_program_cannot_be_overwritten(self):
        self.becomes({"open-to-write /proc/self/exe": {READ_ONLY, "ETXTBSY"}, "open-to-write /proc/1/exe": {READ_ONLY, "ETXTBSY"},
                      "open-to-write /bin/attack": {READ_ONLY, "ETXTBSY"}, "read /proc/self/exe": "ok"})


class Kernel(Attacked):
    @only_rung(NO_GRANTS)
    def test_the_settings_of_the_kernel_are_read_only(self):
        self.becomes({"open-to-write /proc/sysrq-trigger": {READ_ONLY, "ENOENT"}, "open-to-write /proc/sys/kernel/core_pattern": READ_ONLY,
                      "open-to-write /proc/sys/kernel/hostname": READ_ONLY, "open-to-write /proc/irq/default_smp_affinity":
                      {READ_ONLY, "ENOENT"}, "open-to-write /sys/kernel/mm/ksm/run": {READ_ONLY, "ENOENT"},
                      "open-to-write /sys/kernel/uevent_helper": {READ_ONLY, "ENOENT"},
                      "mkdir /sys/fs/cgroup/x": {READ_ONLY, "EACCES"}, "mkdir /sys/fs/cgroup/memory/x": {READ_ONLY, "ENOENT"},
                      "open-to-write /sys/fs/cgroup/memory/release_agent": {READ_ONLY, "ENOENT"},
                      "open-to-write /sys/fs/cgroup/memory/memory.limit_in_bytes": {READ_ONLY, "ENOENT"},
                      "open-to-write /sys/fs/cgroup/pids/pids.max": {READ_ONLY, "ENOENT"},
                      "open-to-write /sys/fs/cgroup/pids/cgroup.procs": {READ_ONLY, "ENOENT"},
                      "open-to-write /sys/fs/cgroup/cgroup.procs": {READ_ONLY, "ENOENT"},
                      "open-to-write /proc/self/comm": "ok", "read /proc/sys/kernel/hostname": "ok"})

    @only_rung(NO_GRANTS)
    def test_the_internals_of_the_kernel_are_masked(self):
        box = self.target()
        box.shell("cat /proc/kcore /proc/keys /proc/timer_list /proc/interrupts 2>/dev/null | wc -c; "
                  "ls -A /sys/firmware /proc/scsi /proc/acpi 2>/dev/null | grep -v ':$' | wc -w")

        self.prints(self.under(box), "0\n0")

    @only_rung(NO_GRANTS)
    def test_no_device_can_be_made_and_none_but_the_usual_are_there(self):
        self.becomes({"mknod /scratch/disk b 7 0": DENIED, "mknod /scratch/kmsg c 1 11": DENIED,
                      "mknod /work/out/null c 1 3": DENIED, "mknod /scratch/pipe p": "ok"})
        box = self.target()
        box.shell("find /dev -type b | wc -l; find /dev -maxdepth 1 -type c | sort | tr '\\n' ' '")

        self.prints(self.under(box), "0\n/dev/full /dev/null /dev/random /dev/tty /dev/urandom /dev/zero")

    @only_rung(NO_GRANTS)
    def test_devices_of_the_config_are_no_way_to_a_disk(self):
        box = self.target()
        box.config["linux"]["devices"] = [{"path": "/dev/disk", "type": "b", "major": 7, "minor": 0, "fileMode": 0o666},
                                          {"path": "/dev/kmsg", "type": "c", "major": 1, "minor": 11, "fileMode": 0o666}]
        box.config["linux"]["resources"]["devices"] = [{"allow": True, "access": "rwm"}]

        closed = {"EPERM", "ENOENT", "EACCES", "ENXIO"}
        self.becomes({"read /dev/disk": closed, "open-to-write /dev/disk": closed, "open-to-write /dev/kmsg": closed,
                      "read /dev/zero": "ok"}, GRANT, box=box)

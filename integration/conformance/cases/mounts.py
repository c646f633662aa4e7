"""The container's file system: root, mounts and their options, propagation, links, masks and devices.

SPDX-License-Identifier: Apache-2.0
"""

import os
import socket
import stat
import subprocess

from rungtest import host

def a_bind_mount(t):
    t.mount("/data", t.directory("data", hello="text\n"), "rbind")
    t.inside(writes=["/data"])


def a_bind_mount_that_is_read_only(t):
    t.mount("/data", t.directory("data", hello="text\n"), "rbind", "ro")
    t.inside(writes=["/data"])


def a_bind_mount_of_a_file(t):
    t.mount("/etc/config", t.file("config", "text\n"), "bind", "ro")
    t.inside(writes=["/etc/config"])


def a_bind_mount_without_the_word_bind(t):
    t.mount("/data", t.directory("data"), "ro", kind="bind")
    t.run()
    t.mount("/data", t.directory("data"), kind="none")
    t.run()


def each_option_of_a_bind_mount(t):
    source = t.directory("data")
    for word in ("nosuid", "nodev", "noexec", "noatime", "nodiratime", "relatime", "strictatime", "sync", "dirsync", "mand", "nosymfollow",
                 "suid", "dev", "exec", "atime", "diratime", "async", "rw"):
        t.config["mounts"] = t.config["mounts"][:7]
        t.mount("/data", source, "bind", word)
        t.box.shell("awk '$5 == \"/data\" {print $6}' /proc/self/mountinfo")
        t.step(f"run with {word}", t.box.run())


def contradicting_options_of_a_bind_mount(t):
    source = t.directory("data")
    for words in (("ro", "rw"), ("rw", "ro"), ("noexec", "exec"), ("exec", "noexec"), ("noatime", "strictatime"), ("nodev", "dev", "nodev")):
        t.config["mounts"] = t.config["mounts"][:7]
        t.mount("/data", source, "bind", *words)
        t.box.shell("awk '$5 == \"/data\" {print $6}' /proc/self/mountinfo")
        t.step(f"run with {' '.join(words)}", t.box.run())


def an_unknown_option_of_a_bind_mount(t):
    t.mount("/data", t.directory("data"), "bind", "there-is-no-such-option")
    t.run()
    t.left("after run")


def data_of_a_file_system_on_a_bind_mount(t):
    t.mount("/data", t.directory("data"), "bind", "size=1m")
    t.run()


def a_mount_below_a_read_only_bind(t):
    source = t.directory("data")
    os.mkdir(os.path.join(source, "below"))
    subprocess.run(["mount", "-t", "tmpfs", "tmpfs", os.path.join(source, "below")], check=True)
    t.mount("/data", source, "rbind", "ro")
    try:
        t.inside(writes=["/data", "/data/below"])
    finally:
        subprocess.run(["umount", os.path.join(source, "below")], check=True)


def a_recursive_read_only_bind(t):
    source = t.directory("data")
    os.mkdir(os.path.join(source, "below"))
    subprocess.run(["mount", "-t", "tmpfs", "tmpfs", os.path.join(source, "below")], check=True)
    t.mount("/data", source, "rbind", "rro")
    try:
        t.inside(writes=["/data", "/data/below"])
    finally:
        subprocess.run(["umount", os.path.join(source, "below")], check=True)


def a_bind_that_is_not_recursive(t):
    source = t.directory("data")
    os.mkdir(os.path.join(source, "below"))
    subprocess.run(["mount", "-t", "tmpfs", "tmpfs", os.path.join(source, "below")], check=True)
    t.mount("/data", source, "bind")
    try:
        t.shell("grep -c /data /proc/self/mountinfo; ls /data")
    finally:
        subprocess.run(["umount", os.path.join(source, "below")], check=True)


def each_recursive_option(t):
    source = t.directory("data")
    for word in ("rro", "rrw", "rnosuid", "rsuid", "rnodev", "rdev", "rnoexec", "rexec", "rnoatime", "ratime", "rnodiratime", "rrelatime",
                 "rstrictatime", "rnosymfollow"):
        t.config["mounts"] = t.config["mounts"][:7]
        t.mount("/data", source, "rbind", word)
        t.box.shell("awk '$5 == \"/data\" {print $6}' /proc/self/mountinfo")
        t.step(f"run with {word}", t.box.run())


def bind_mounts_of_special_files(t):
    fifo, path = os.path.join(t.work, "fifo"), os.path.join(t.work, "socket")
    os.mkfifo(fifo)
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(path)
        t.mount("/special/fifo", fifo, "bind", "ro")
        t.mount("/special/socket", path, "bind", "ro")
        t.mount("/special/null", "/dev/null", "bind", "ro")
        t.shell("stat -c '%n %F' /special/*; awk '/special/ {print $5, $6}' /proc/self/mountinfo")


def a_source_that_does_not_exist(t):
    t.mount("/data", os.path.join(t.work, "missing"), "bind")
    t.run()
    t.left("after run")


def a_relative_source(t):
    os.mkdir(os.path.join(t.box.bundle.path, "data"))
    t.mount("/data", "data", "bind")
    t.shell("test -d /data && echo there")


def a_source_that_is_a_symlink(t):
    t.directory("data", hello="text\n")
    os.symlink("data", os.path.join(t.work, "link"))
    t.mount("/data", os.path.join(t.work, "link"), "bind")
    t.shell("cat /data/hello; grep -c link /proc/self/mountinfo")


def a_file_over_a_directory(t):
    t.mount("/usr", t.file("file"), "bind")
    t.run()
    t.left("after run")


def a_directory_over_a_file(t):
    t.mount("/etc/passwd", t.directory("data"), "bind")
    t.run()
    t.left("after run")


def a_destination_that_does_not_exist(t):
    t.mount("/a/deep/place", t.directory("data"), "bind")
    t.shell("ls -ld /a /a/deep | cut -c1-10; stat -c '%u %g %a' /a /a/deep")


def a_file_destination_that_does_not_exist(t):
    t.mount("/a/deep/file", t.file("data", "text"), "bind")
    t.shell("cat /a/deep/file")
    t.note("mode of the place", oct(os.stat(t.box.bundle.inside("/a/deep/file")).st_mode & 0o7777))
    t.note("mode of its directory", oct(os.stat(t.box.bundle.inside("/a/deep")).st_mode & 0o7777))


def a_destination_below_a_directory_with_setgid(t):
    os.mkdir(t.box.bundle.inside("/shared"))
    os.chown(t.box.bundle.inside("/shared"), 0, 1000)
    os.chmod(t.box.bundle.inside("/shared"), 0o2775)
    t.mount("/shared/new/place", t.directory("data"), "bind")
    t.run()
    found = os.stat(t.box.bundle.inside("/shared/new"))
    t.note("the new directory", f"{oct(found.st_mode & 0o7777)} {found.st_gid}")


def a_relative_destination(t):
    t.mount("data", t.directory("data", hello="text\n"), "bind")
    t.shell("cat /data/hello")


def a_destination_with_dots_and_slashes(t):
    t.mount("//usr/../data//place/.", t.directory("data", hello="text\n"), "bind")
    t.shell("cat /data/place/hello")


def a_destination_that_climbs_out(t):
    t.mount("/../../../../climbed", t.directory("data", hello="text\n"), "bind")
    t.shell("cat /climbed/hello")
    t.must(not os.path.exists("/climbed"), "the host has /climbed")


def a_destination_that_is_an_absolute_symlink(t):
    os.symlink("/real/place", t.box.bundle.inside("/link"))
    t.mount("/link", t.directory("data", hello="text\n"), "bind")
    t.shell("cat /real/place/hello; ls -l /link | sed 's/.*link/link/'")
    t.must(not os.path.exists("/real"), "the host has /real")


def a_file_destination_that_is_a_dangling_symlink(t):
    os.symlink("/tmp/hosts", t.box.bundle.inside("/etc/hosts"))
    t.mount("/etc/hosts", t.file("hosts", "text\n"), "bind")
    t.shell("cat /tmp/hosts; ls -l /etc/hosts | sed 's/.*hosts -/hosts -/'")
    t.must(not os.path.exists("/tmp/hosts"), "the host has /tmp/hosts")


def a_destination_that_passes_a_symlink_upwards(t):
    os.symlink("../../../../..", t.box.bundle.inside("/usr/up"))
    t.mount("/usr/up/landed", t.directory("data", hello="text\n"), "bind")
    t.shell("cat /landed/hello")
    t.must(not os.path.exists("/landed"), "the host has /landed")


def a_destination_that_is_a_loop_of_symlinks(t):
    os.symlink("loop", t.box.bundle.inside("/loop"))
    t.mount("/loop/place", t.directory("data"), "bind")
    t.run()
    t.left("after run")


def a_destination_that_is_the_root(t):
    t.mount("/", t.directory("data"), "bind")
    t.run()


def mounts_one_upon_the_other(t):
    t.mount("/data", t.directory("one", which="1\n"), "bind")
    t.mount("/data", t.directory("two", which="2\n"), "bind")
    t.mount("/data/which", t.file("three", "3\n"), "bind")
    t.shell("cat /data/which; grep -c ' /data ' /proc/self/mountinfo")


def a_tmpfs_with_size_and_mode(t):
    t.mount("/scratch", "tmpfs", "nosuid", "noexec", "size=1m", "mode=1700", kind="tmpfs")
    t.inside(writes=["/scratch"])


def a_tmpfs_without_options(t):
    os.mkdir(t.box.bundle.inside("/scratch"))
    os.chmod(t.box.bundle.inside("/scratch"), 0o711)
    t.mount("/scratch", "tmpfs", kind="tmpfs")
    t.inside(writes=["/scratch"])
    t.shell("stat -c %a /scratch")


def a_tmpfs_that_is_read_only(t):
    t.mount("/scratch", "tmpfs", "ro", kind="tmpfs")
    t.inside(writes=["/scratch"])


def a_tmpfs_with_owner_and_inodes(t):
    t.mount("/scratch", "tmpfs", "uid=1000", "gid=1001", "nr_inodes=50", kind="tmpfs")
    t.inside()
    t.shell("stat -c '%u %g' /scratch")


def a_tmpfs_with_an_option_that_the_kernel_does_not_know(t):
    t.mount("/scratch", "tmpfs", "nosuchoption=1", kind="tmpfs")
    t.run()
    t.left("after run")


def a_tmpfs_that_starts_as_a_copy(t):
    os.makedirs(t.box.bundle.inside("/cover/deep"))
    t.box.bundle.put("/cover/deep/file", "text\n", 0o640)
    os.chmod(t.box.bundle.inside("/cover/deep"), 0o777)
    os.symlink("/absolute", t.box.bundle.inside("/cover/link"))
    os.mkfifo(t.box.bundle.inside("/cover/fifo"))
    t.mount("/cover", "tmpfs", "tmpcopyup", kind="tmpfs")
    t.shell("cd /cover; find . | sort | xargs stat -c '%n %a %F'; cat deep/file; readlink link")


def an_unknown_file_system(t):
    t.mount("/data", "none", kind="there-is-no-such-fs")
    t.run()
    t.left("after run")


def a_mount_without_type_and_options(t):
    t.config["mounts"].append({"destination": "/data"})
    t.run()


def no_mounts_at_all(t):
    t.config["mounts"] = []
    t.linux["maskedPaths"] = []
    t.linux["readonlyPaths"] = []
    t.shell("ls -A / /proc; test -c /dev/null && echo null")


def proc_alone(t):
    t.config["mounts"] = t.config["mounts"][:1]
    t.inside()


def proc_with_options(t):
    t.config["mounts"][0]["options"] = ["nosuid", "noexec", "nodev", "hidepid=2"]
    t.shell("awk '$5 == \"/proc\" {print $6, $NF}' /proc/self/mountinfo")


def proc_at_a_second_place(t):
    t.mount("/other/proc", "proc", "nosuid", kind="proc")
    t.shell("cat /other/proc/1/comm")


def proc_on_a_symlink(t):
    os.rmdir(t.box.bundle.inside("/proc"))
    os.mkdir(t.box.bundle.inside("/realproc"))
    os.symlink("realproc", t.box.bundle.inside("/proc"))
    t.run()
    t.left("after run")


def sys_on_a_symlink(t):
    os.rmdir(t.box.bundle.inside("/sys"))
    os.symlink("tmp", t.box.bundle.inside("/sys"))
    t.run()


def proc_of_a_container_in_the_hosts_pid_namespace(t):
    t.box.bundle.drop_namespace("pid")
    t.shell(f"test -d /proc/{os.getpid()} && echo sees the host")


def a_device_directory_that_is_a_symlink_to_the_outside(t):
    outside = t.directory("outside")
    os.rmdir(t.box.bundle.inside("/dev"))
    os.symlink("../../outside", t.box.bundle.inside("/dev"))
    t.config["mounts"] = [mount for mount in t.config["mounts"] if not mount["destination"].startswith("/dev")]
    t.run()
    t.note("outside", " ".join(sorted(os.listdir(outside))))
    t.must(not os.listdir(outside), "nodes outside of the root")


def no_mount_at_dev(t):
    t.config["mounts"] = [mount for mount in t.config["mounts"] if not mount["destination"].startswith("/dev")]
    t.inside()


def the_hosts_dev_as_a_bind_mount(t):
    t.config["mounts"] = [mount for mount in t.config["mounts"] if not mount["destination"].startswith("/dev")]
    t.mount("/dev", t.directory("dev"), "bind")
    t.shell("ls -1 /dev")


def a_dev_that_is_read_only(t):
    t.config["mounts"][1]["options"].append("ro")
    t.inside(writes=["/dev", "/dev/null", "/dev/shm"])


def the_mqueue_mount_without_an_ipc_namespace(t):
    t.box.bundle.drop_namespace("ipc")
    t.inside()


def a_read_only_root(t):
    t.config["root"]["readonly"] = True
    t.inside(writes=["/etc", "/tmp"])


def a_read_only_root_with_a_writable_mount(t):
    t.config["root"]["readonly"] = True
    t.mount("/data", t.directory("data"), "rbind", "rw")
    t.inside(writes=["/data"])


def an_absolute_root(t):
    t.config["root"]["path"] = t.box.bundle.rootfs
    t.inside()


def a_root_that_is_a_symlink(t):
    os.rename(t.box.bundle.rootfs, os.path.join(t.work, "real"))
    os.symlink(os.path.join(t.work, "real"), t.box.bundle.rootfs)
    t.run()
    t.left("after run")


def a_root_outside_of_the_bundle(t):
    os.rename(t.box.bundle.rootfs, os.path.join(t.work, "elsewhere"))
    t.config["root"]["path"] = "../elsewhere"
    t.shell("echo ran")
    t.state()


def a_root_that_does_not_exist(t):
    t.config["root"]["path"] = "missing"
    t.run()
    t.left("after run")


def a_root_that_is_a_file(t):
    t.config["root"]["path"] = t.file("file")
    t.run()
    t.left("after run")


def a_root_with_an_empty_path(t):
    t.config["root"]["path"] = ""
    t.run()


def no_root(t):
    t.config.pop("root")
    t.run()


def the_host_as_the_root(t):
    t.config["root"] = {"path": "/", "readonly": True}
    t.config["mounts"] = []
    t.linux["maskedPaths"] = []
    t.linux["readonlyPaths"] = []
    t.box.args("/bin/echo", "ran on the host's files")
    t.run()


def without_pivot_root(t):
    t.inside("--no-pivot")


def each_propagation_of_the_root(t):
    for word in ("private", "rprivate", "slave", "rslave", "shared", "rshared", "unbindable", "runbindable"):
        t.linux["rootfsPropagation"] = word
        t.box.shell("awk '$5 == \"/\" {for (i = 7; $i != \"-\"; i++) print $i}' /proc/self/mountinfo | sed 's/:.*//'")
        t.step(f"run with {word}", t.box.run())


def an_unknown_propagation_of_the_root(t):
    t.linux["rootfsPropagation"] = "sideways"
    t.run()


def each_propagation_of_a_bind_mount(t):
    source = t.directory("data")
    for word in ("private", "rprivate", "slave", "rslave", "shared", "rshared", "unbindable", "runbindable"):
        t.config["mounts"] = t.config["mounts"][:7]
        t.mount("/data", source, "rbind", word)
        t.box.shell("awk '$5 == \"/data\" {print $6; for (i = 7; $i != \"-\"; i++) print $i}' /proc/self/mountinfo | sed 's/:.*//'")
        t.step(f"run with {word}", t.box.run())


def propagation_from_a_shared_mount_of_the_host(t):
    source = t.directory("data")
    subprocess.run(["mount", "-t", "tmpfs", "tmpfs", source], check=True)
    subprocess.run(["mount", "--make-shared", source], check=True)
    try:
        for word in ("rprivate", "rslave", "rshared"):
            t.config["mounts"] = t.config["mounts"][:7]
            t.mount("/data", source, "rbind", word)
            if word == "rshared":
                t.linux["rootfsPropagation"] = "rshared"
            t.box.args("sleep", "100")
            os.makedirs(os.path.join(source, word))
            t.detach()
            subprocess.run(["mount", "-t", "tmpfs", "later", os.path.join(source, word)], check=True)
            t.exec("grep", "-c", f"/data/{word}", "/proc/self/mountinfo")
            t.delete("--force")
            subprocess.run(["umount", os.path.join(source, word)], check=True)
    finally:
        subprocess.run(["umount", "-R", source], check=True)


def masked_files_and_directories(t):
    t.box.bundle.put("/masked/file", "secret\n")
    t.box.bundle.put("/masked/directory/file", "secret\n")
    t.linux["maskedPaths"] += ["/masked/file", "/masked/directory", "/masked/missing"]
    t.inside(writes=["/masked/file", "/masked/directory", "/masked/missing"])


def a_masked_path_twice(t):
    t.box.bundle.put("/masked/directory/file", "secret\n")
    t.linux["maskedPaths"] += ["/masked/directory", "/masked/directory", "/masked/directory/file"]
    t.inside(writes=["/masked/directory"])


def a_masked_path_that_is_a_symlink(t):
    t.box.bundle.put("/real", "secret\n")
    os.symlink("/real", t.box.bundle.inside("/maskedlink"))
    t.linux["maskedPaths"] = ["/maskedlink"]
    t.shell("cat /real /maskedlink")


def no_masked_and_no_read_only_paths(t):
    t.linux["maskedPaths"] = []
    t.linux["readonlyPaths"] = []
    t.inside()


def read_only_paths(t):
    t.box.bundle.put("/held/file", "text\n")
    t.box.bundle.put("/alone", "text\n")
    t.linux["readonlyPaths"] += ["/held", "/alone", "/missing"]
    t.inside(writes=["/held", "/held/file", "/alone", "/missing"])


def a_read_only_path_below_a_masked_one(t):
    t.box.bundle.put("/masked/below/file", "text\n")
    t.linux["maskedPaths"] = ["/masked"]
    t.linux["readonlyPaths"] = ["/masked/below"]
    t.inside(writes=["/masked"])


def relative_masked_paths(t):
    t.box.bundle.put("/held/file", "text\n")
    t.linux["maskedPaths"] = ["held"]
    t.shell("ls /held")


def a_planted_null_device(t):
    os.symlink("/proc/sys/kernel/core_pattern", t.box.bundle.inside("/dev/null"))
    t.config["mounts"] = [mount for mount in t.config["mounts"] if not mount["destination"].startswith("/dev")]
    t.shell("echo bad >/proc/keys; head -c 20 /proc/keys")


def devices_of_every_type(t):
    t.linux["devices"] = [
        {"path": "/dev/kmine", "type": "c", "major": 1, "minor": 3, "fileMode": 0o640, "uid": 1000, "gid": 1001},
        {"path": "/dev/umine", "type": "u", "major": 1, "minor": 5},
        {"path": "/dev/bmine", "type": "b", "major": 7, "minor": 200, "fileMode": 0o600},
        {"path": "/dev/pmine", "type": "p", "fileMode": 0o622},
        {"path": "/dev/deep/er/mine", "type": "c", "major": 1, "minor": 7, "fileMode": 0o666},
    ]
    t.inside()
    t.shell("stat -c '%n %a %F' /dev/deep /dev/deep/er /dev/deep/er/mine")


def a_device_without_a_mode(t):
    t.linux["devices"] = [{"path": "/dev/plain", "type": "c", "major": 1, "minor": 3}]
    t.inside(prepare=lambda: os.umask(0o077))


def a_device_outside_of_dev(t):
    t.linux["devices"] = [{"path": "/opt/null", "type": "c", "major": 1, "minor": 3, "fileMode": 0o666}]
    t.shell("stat -c '%a %F' /opt/null")


def a_device_that_is_there_already(t):
    t.linux["devices"] = [{"path": "/dev/null", "type": "c", "major": 1, "minor": 3, "fileMode": 0o600}]
    t.shell("stat -c '%a %F' /dev/null")


def a_device_of_an_unknown_type(t):
    t.linux["devices"] = [{"path": "/dev/x", "type": "q", "major": 1, "minor": 3}]
    t.run()
    t.left("after run")


def a_device_without_a_path(t):
    t.linux["devices"] = [{"path": "", "type": "c", "major": 1, "minor": 3}]
    t.run()


def the_device_list_decides_who_opens_what(t):
    t.linux["devices"] = [{"path": "/dev/loose", "type": "b", "major": 7, "minor": 77, "fileMode": 0o666},
                          {"path": "/dev/kmsg2", "type": "c", "major": 1, "minor": 11, "fileMode": 0o666},
                          {"path": "/dev/zero2", "type": "c", "major": 1, "minor": 5, "fileMode": 0o666}]
    script = "for d in loose kmsg2 zero2; do head -c 1 /dev/$d 2>&1 >/dev/null | sed 's/.*: //' | sed \"s/^/$d: /\"; done"
    t.shell(script)
    t.resources["devices"].append({"allow": True, "type": "c", "major": 1, "minor": 11, "access": "r"})
    t.shell(script)
    t.resources["devices"] = [{"allow": True, "access": "rwm"}]
    t.shell(script)


def a_device_rule_of_every_kind(t):
    t.resources["devices"] = [{"allow": False, "access": "rwm"}, {"allow": True, "type": "c", "major": 10, "minor": 229, "access": "rwm"},
                              {"allow": True, "type": "b", "major": 8, "access": "r"}, {"allow": True, "type": "c", "minor": 9, "access": "rw"},
                              {"allow": False, "type": "c", "major": 1, "minor": 8, "access": "w"}]
    t.create()
    t.outside("created")


def a_cgroup_mount_that_is_writable(t):
    t.config["mounts"][6]["options"].remove("ro")
    t.inside()


def no_cgroup_mount(t):
    t.config["mounts"] = t.config["mounts"][:6]
    t.shell("ls /sys/fs/cgroup")


def a_cgroup_mount_with_a_cgroup_namespace(t):
    t.box.bundle.namespace("cgroup")
    t.inside()


def a_bind_mount_of_the_hosts_sys(t):
    t.config["mounts"] = [mount for mount in t.config["mounts"] if not mount["destination"].startswith("/sys")]
    t.mount("/sys", "/sys", "rbind", "ro", "nosuid", "noexec", "nodev")
    t.shell("awk '$5 ~ \"^/sys/fs|^/sys$\" {print $5, $6}' /proc/self/mountinfo | sort")


def nothing_of_the_host_is_left_in_the_mount_table(t):
    t.shell("awk '{print $5}' /proc/self/mountinfo | grep -v -E '^/(proc|sys|dev)' ; ls /.pivot* /put_old* 2>/dev/null | wc -l")


def the_umask_of_the_caller_changes_no_mode(t):
    t.mount("/new/place", t.directory("data"), "bind")
    t.mount("/new/file", t.file("file"), "bind")
    t.linux["devices"] = [{"path": "/dev/plain", "type": "c", "major": 1, "minor": 3, "fileMode": 0o666}]
    t.shell("stat -c '%n %a' /new /dev/plain /dev/null /dev/shm", prepare=lambda: os.umask(0o077))
    for name in ("/new/place", "/new/file"):
        t.note(f"mode of {name}", oct(stat.S_IMODE(os.stat(t.box.bundle.inside(name)).st_mode)))


def a_nul_in_a_path(t):
    t.mount("/a\u0000b", t.directory("data"), "bind")
    t.run()


def a_mount_with_a_space_and_a_line_break_in_its_name(t):
    t.mount("/with space", t.directory("data one", hello="text\n"), "bind")
    t.mount("/with\nbreak", t.directory("data\ntwo", hello="text2\n"), "bind")
    t.shell("cat '/with space/hello' '/with\nbreak/hello'")
    t.left("after run")


def a_mount_over_a_place_that_a_mount_made(t):
    t.mount("/scratch", "tmpfs", kind="tmpfs")
    t.mount("/scratch/below/file", t.file("file", "text\n"), "bind")
    t.shell("cat /scratch/below/file")


def an_overlay_mount(t):
    lower, upper, work = t.directory("lower", old="old\n"), t.directory("upper"), t.directory("workdir")
    t.mount("/over", "overlay", f"lowerdir={lower}", f"upperdir={upper}", f"workdir={work}", kind="overlay")
    t.shell("cat /over/old; echo new >/over/new; awk '$5 == \"/over\" {print $6}' /proc/self/mountinfo")
    t.note("upper", " ".join(os.listdir(upper)))


def a_hundred_mounts(t):
    source = t.directory("data", hello="text\n")
    for number in range(100):
        t.mount(f"/many/m{number}", source, "rbind", "ro")
    t.shell("grep -c /many/ /proc/self/mountinfo; cat /many/m99/hello")
    t.left("after run")


def a_mount_of_the_bundle_itself(t):
    t.mount("/bundle", t.box.bundle.path, "rbind", "ro")
    t.shell("ls -d /bundle/rootfs /bundle/config.json")
    t.left("after run")


def host_mounts_are_as_before(t):
    before = host.mounts_below("/")
    t.mount("/data", t.directory("data"), "rbind", "rshared")
    t.shell("mount -t tmpfs x /data 2>/dev/null; echo tried")
    t.note("mounts of the host", "as before" if host.mounts_below("/") == before else "changed")

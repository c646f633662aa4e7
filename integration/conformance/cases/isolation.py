"""What must not get out of a container: the kinds of public escapes, tried under every runtime; what rung has to hold is said with `must`.

SPDX-License-Identifier: Apache-2.0
"""

import hashlib
import os
import socket
import threading

from rungtest import host


def _digest(path):
    with open(path, "rb") as file:
        return hashlib.sha256(file.read()).hexdigest()


def the_runtimes_own_file_is_the_same_afterwards(t):
    before = _digest(t.runtime.path)
    t.detach()
    t.exec("sh", "-c", "for p in 1 $$; do exec 9>/proc/$p/exe; done 2>/dev/null; true")
    t.box.args("/proc/self/exe", "true")
    t.box.delete("--force")
    t.step("run", t.box.run(), output=False)
    t.must(_digest(t.runtime.path) == before, "the runtime's own file was changed")
    t.note("file", _digest(t.runtime.path) == before)


def a_script_whose_interpreter_is_the_runtime(t):
    before = _digest(t.runtime.path)
    t.box.bundle.put("/start", "#!/proc/self/exe\n", 0o755)
    t.box.args("/start")
    result = t.box.run()
    t.must(_digest(t.runtime.path) == before, "the runtime's own file was changed")
    t.note("it ran the container's program", result.code == 0)


def the_processes_of_exec_cannot_be_traced_on_their_way(t):
    t.ready(": >/ready; while :; do for p in /proc/[0-9]*; do ls -l $p/fd 2>/dev/null | grep -E 'rung-|STATE|/run/' >>/seen; done; done")
    for _ in range(8):
        t.box.exec("true")
    seen = t.box.bundle.read("/seen") if os.path.exists(t.box.bundle.inside("/seen")) else ""
    t.must(not seen.strip(), f"descriptors of the host were seen: {seen[:300]}")
    t.note("descriptors of the host", "looked for")


def a_volume_whose_target_becomes_a_symlink_meanwhile(t):
    shared = t.directory("shared")
    os.makedirs(os.path.join(shared, "target"))
    stop = threading.Event()

    def _swap():
        target, other = os.path.join(shared, "target"), os.path.join(shared, "other")
        while not stop.is_set():
            try:
                os.rename(target, other)
                os.symlink("/", target)
                os.unlink(target)
                os.rename(other, target)
            except OSError:
                pass
    t.mount("/shared", shared, "rbind")
    t.mount("/shared/target", t.directory("data", planted="text\n"), "bind")
    swapping = threading.Thread(target=_swap)
    swapping.start()
    try:
        for _ in range(6):
            t.box.args("true")
            t.box.run()
            t.must(not host.mounts_below("/shared") and not os.path.exists("/planted"), "a mount landed on the host")
    finally:
        stop.set()
        swapping.join()
    t.note("the host", "looked at")


def control_groups_are_read_only_without_a_namespace_too(t):
    for namespaces in ((), ("cgroup",)):
        for kind in namespaces:
            t.box.bundle.namespace(kind)
        t.box.shell("awk '$5 ~ \"^/sys/fs/cgroup\" && $6 !~ \"^ro\" {print $5}' /proc/self/mountinfo")
        result = t.box.run()
        t.must(result.code == 0 and not result.out.strip(), f"writable: {result.out}")
        t.note(f"looked with {namespaces}", result.code)


def a_release_agent_cannot_be_written(t):
    t.box.bundle.grant_capabilities("CAP_SYS_ADMIN", "CAP_DAC_OVERRIDE")
    t.shell("for f in /sys/fs/cgroup/*/release_agent /sys/fs/cgroup/*/notify_on_release; do (echo x >$f) 2>/dev/null && echo wrote $f; done; true")


def a_symlink_planted_where_something_is_unmounted(t):
    t.mount("/data", t.directory("data"), "bind")
    t.ready("rm -rf /tmp/x; ln -s / /tmp/x; : >/ready; sleep 100")
    before = len(host.mounts_below("/"))
    t.delete("--force")
    t.note("mounts of the host", len(host.mounts_below("/")) - before)


def no_abstract_sockets(t):
    with open("/proc/net/unix", encoding="ascii") as file:
        before = {line.split()[-1] for line in file if "@" in line}
    t.box.bundle.drop_namespace("network")
    t.detach()
    with open("/proc/net/unix", encoding="ascii") as file:
        after = {line.split()[-1] for line in file if "@" in line}
    t.must(not [name for name in after - before if "rung" in name or t.word in name], "an abstract control socket")
    t.note("sockets", "looked for")


def a_socket_of_the_host_stays_outside(t):
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(f"\0{t.word}-host")
        listening.listen(1)
        t.shell("grep -c WORD-host /proc/net/unix".replace("WORD", t.word))


def the_state_directory_is_closed_to_others(t):
    t.detach()
    modes = {oct(os.stat(os.path.join(t.runtime.root, t.box.id)).st_mode & 0o077)}
    t.must(modes == {"0o0"}, f"others may look into the container's state: {modes}")
    t.note("state", "looked at")


def a_device_that_is_not_granted_is_absent(t):
    t.shell("ls /dev/kmsg /dev/mem /dev/vda /dev/fuse /dev/kvm 2>/dev/null | wc -l; mknod /tmp/vda b 254 0 2>&1 | sed 's/.*: //'")


def masked_memory_of_the_kernel_stays_masked(t):
    t.box.bundle.grant_capabilities("CAP_DAC_OVERRIDE", "CAP_SYS_RAWIO")
    t.inside()


def numbers_of_a_user_are_taken_literally(t):
    t.detach()
    for text in ("1", "01", "+1", "0x0", " 1", "1 ", "1:", "4294967296", "1.0"):
        t.step(f"exec as {text!r}", t.box.exec("id", options=["--user", text]))

"""Attacks on a list of tools: every way to execute a program that the grant does not list, each beside one that is.

SPDX-License-Identifier: Apache-2.0
"""

import ctypes
import os
import subprocess

from rungtest import only_rung
from rungtest.attacks import Attacked, grant_with
from rungtest.programs import put_program

NO_GRANTS = "has no grants"
READ_ONLY_IMAGE = {"rootfs": "readOnly", "tmpfs": [{"path": "/scratch", "size": "8Mi"}], "readWrite": ["/work/out"]}


def tools(*paths, filesystem=None):
    return grant_with(filesystem=filesystem or READ_ONLY_IMAGE, tools=list(paths))


class Listed(Attacked):
    """`/bin/attack` and one of Debian's programs are listed, with nothing else; `/usr/bin/id` is there, and so is its loader."""

    def target(self):
        box = super().target()
        for name in ("id", "env", "true"):
            self.loader = put_program(box.bundle, f"/usr/bin/{name}")
        return box

    @only_rung(NO_GRANTS)
    def test_a_listed_program_runs_and_its_neighbour_does_not(self):
        self.becomes({"exec /usr/bin/true": "ok", "exec /usr/bin/id": "EACCES", "exec /bin/true": "EACCES",
                      "exec /bin/busybox": "EACCES", "read /etc/passwd": "ok", "read /usr/bin/true": "ok"},
                     tools("/bin/attack", "/usr/bin/true"), box=self.target())

    @only_rung(NO_GRANTS)
    def test_a_program_that_is_not_listed_has_no_other_name(self):
        box = self.target()
        os.symlink("/usr/bin/id", box.bundle.inside("/work/in/id"))
        os.link(box.bundle.inside("/usr/bin/id"), box.bundle.inside("/work/in/linked"))

        self.becomes({"exec /work/in/id": "EACCES", "exec /work/in/linked": "EACCES", "exec /proc/self/root/usr/bin/id": "EACCES",
                      "exec /usr/bin/../bin/id": "EACCES", "exec //usr//bin//id": "EACCES", "exec /proc/1/root/usr/bin/id": "EACCES",
                      "read /work/in/linked": "EACCES", "link /usr/bin/id /work/out/id": {"EXDEV", "EACCES", "EROFS"},
                      "exec /proc/self/root/usr/bin/true": "ok"},
                     tools("/bin/attack", "/usr/bin/true"), box=box)

    @only_rung(NO_GRANTS)
    def test_a_program_that_is_not_listed_cannot_be_read_so_no_loader_loads_it_and_nothing_copies_it(self):
        listed = tools("/usr/bin/env")
        box = self.target()

        self.fails(self.under(box.args(self.loader, "/usr/bin/id", "-u"), listed), "grant_unrunnable: tools:", "ld-")

        box = self.target()
        result = self.under(box.args("/usr/bin/env", self.loader, "/usr/bin/id", "-u"), listed)
        self.assertNotEqual(result.code, 0)
        self.assertNotIn("uid", result.out)
        self.assertIn("/usr/bin/id", result.err)
        self.becomes({"read /usr/bin/id": "EACCES", "read /bin/busybox": "EACCES", "map-program /scratch/library": "EPERM",
                      "read /etc/passwd": "ok"}, tools("/bin/attack"), box=self.target())

    @only_rung(NO_GRANTS)
    def test_the_loader_of_a_listed_program_loads_what_is_listed(self):
        box = self.target()
        box.args("/usr/bin/env", self.loader, "/usr/bin/id", "-u")

        self.prints(self.under(box, tools("/usr/bin/env", "/usr/bin/id")), "0")

    @only_rung(NO_GRANTS)
    def test_what_is_written_or_made_in_memory_is_executed_under_no_name(self):
        self.becomes({"exec-copy /scratch/copy": "EACCES", "exec-copy /work/out/copy": "EACCES", "exec-script /scratch/script": "EACCES",
                      "memfd 0": {"EACCES", "EPERM"}, "memfd 1": {"EACCES", "EPERM"}, "memfd 0x10": {"EACCES", "EPERM"},
                      "protect-program /scratch/library": "EACCES", "exec /usr/bin/true": "ok"},
                     tools("/bin/attack", "/usr/bin/true"), box=self.target())

    @only_rung(NO_GRANTS)
    def test_a_library_in_scratch_is_not_preloaded(self):
        box = self.target()
        library = self.library()
        os.makedirs(box.bundle.inside("/plugins"), exist_ok=True)
        subprocess.run(["cp", library, box.bundle.inside("/plugins/say.so")], check=True)
        script = ("cp /plugins/say.so /scratch/say.so; LD_PRELOAD=/scratch/say.so /usr/bin/true 2>/dev/null; "
                  "LD_PRELOAD=/plugins/say.so /usr/bin/true")
        listed = tools("/bin/busybox", "/usr/bin/true")

        self.prints(self.under(box.shell(script), listed), "loaded")  # once, from the image

    def library(self):
        source = os.path.join(self.work, "say.c")
        with open(source, "w", encoding="ascii") as file:
            file.write("#include <unistd.h>\n__attribute__((constructor)) static void say(void) { (void)!write(1, \"loaded\\n\", 7); }\n")
        subprocess.run(["gcc", "-shared", "-fPIC", "-o", f"{self.work}/say.so", source], check=True)
        return f"{self.work}/say.so"


    @only_rung(NO_GRANTS)
    def test_what_is_neither_file_nor_directory_is_not_opened_when_the_image_is_looked_through(self):
        box = self.target()
        pipe = box.bundle.inside("/opt-pipe")
        os.mkfifo(pipe)
        with Openings(pipe) as openings:
            self.becomes({"exec /usr/bin/true": "ok"}, tools("/bin/attack", "/usr/bin/true", "/opt-pipe"), box=box)

            self.assertEqual(openings.so_far(), 0)
            os.close(os.open(pipe, os.O_RDONLY | os.O_NONBLOCK))
            self.assertEqual(openings.so_far(), 1)


class Openings:
    """Counts who opens a file, with inotify(7)."""

    OPENED = 0x20
    EVENT_SIZE = 16

    def __init__(self, path):
        libc = ctypes.CDLL(None, use_errno=True)
        self.descriptor = libc.inotify_init1(os.O_NONBLOCK | os.O_CLOEXEC)
        assert libc.inotify_add_watch(self.descriptor, os.fsencode(path), self.OPENED) > 0

    def __enter__(self):
        return self

    def __exit__(self, *_):
        os.close(self.descriptor)

    def so_far(self):
        try:
            return len(os.read(self.descriptor, 4096)) // self.EVENT_SIZE
        except BlockingIOError:
            return 0


class Scripts(Attacked):
    def target(self):
        box = super().target()
        for name, first in (("listed", "#!/bin/sh\n"), ("other", "#!/bin/sh\n"), ("bare", "")):
            box.bundle.put(f"/opt/{name}", f"{first}echo ran {name} >&2\n")
            os.chmod(box.bundle.inside(f"/opt/{name}"), 0o755)
        return box

    @only_rung(NO_GRANTS)
    def test_a_listed_script_needs_its_interpreter_listed(self):
        box = self.target()

        self.becomes({"exec /opt/listed": "EACCES"}, tools("/bin/attack", "/opt/listed"), box=box)
        self.becomes({"exec /opt/listed": "ok", "exec /opt/other": "EACCES"}, tools("/bin/attack", "/opt/listed", "/bin/sh"),
                     box=self.target())

    @only_rung(NO_GRANTS)
    def test_a_script_that_is_not_listed_is_not_read_by_a_listed_interpreter(self):
        box = self.target().shell("/opt/listed; sh /opt/listed; /opt/other; sh /opt/other; /opt/bare; sh /opt/bare; . /opt/bare")

        result = self.under(box, tools("/bin/busybox", "/opt/listed"))

        self.assertEqual([line for line in result.err.splitlines() if "ran " in line], ["ran listed", "ran listed"])


class Starting(Attacked):
    @only_rung(NO_GRANTS)
    def test_a_program_that_is_not_listed_does_not_start_a_container(self):
        box = self.target().args("/bin/busybox", "true")

        self.fails(self.under(box, tools("/bin/attack")), "grant_unrunnable: tools:", "/bin/busybox")
        self.is_gone(box)

    @only_rung(NO_GRANTS)
    def test_exec_of_a_program_that_is_not_listed_is_refused_before_it_starts(self):
        box = self.target().args("/bin/busybox", "sleep", "100")
        self.succeed(self.under(box, tools("/bin/busybox"), verb="detach"))

        refused = self.fails_to_exec(box, "/bin/attack", "write /scratch/x")

        self.assertIn("tool_denied: tools: the grant does not list /bin/attack", refused.err)
        self.prints(box.exec("/bin/busybox", "ls", "/scratch"), "")
        self.prints(box.exec("/bin/sh", "-c", "/bin/attack 'write /scratch/x' 2>/dev/null || echo no"), "no")

    def fails_to_exec(self, box, *args):
        result = box.exec(*args)
        self.assertNotEqual(result.code, 0, repr(result))
        return result

    @only_rung(NO_GRANTS)
    def test_a_directory_lists_what_lies_beneath_it(self):
        box = self.target()
        os.makedirs(box.bundle.inside("/binaries"))
        os.link(box.bundle.inside("/bin/attack"), box.bundle.inside("/binaries/attack"))
        box = box.args("/bin/attack", "exec /bin/true", "exec /binaries/attack")

        result = self.succeed(self.under(box, tools("/bin")))

        self.outcomes_are(result.out, {"exec /bin/true": "ok"})

    @only_rung(NO_GRANTS)
    def test_a_tool_that_is_not_there_is_named(self):
        box = self.target().args("/bin/attack")

        self.fails(self.under(box, tools("/bin/attack", "/usr/bin/psql")), "path_not_found: tools: there is no /usr/bin/psql")
        self.is_gone(box)


class Mounts(Attacked):
    @only_rung(NO_GRANTS)
    def test_nothing_is_executed_from_a_mount_of_the_engine_unless_all_of_it_is_listed(self):
        box = self.target()
        box.bundle.add_mount("/opt/more", self.tools, options=["bind", "ro"])
        granted = {**READ_ONLY_IMAGE, "readOnly": ["/opt/more"]}

        self.becomes({"exec /opt/more/attack": "EACCES", "read /opt/more/attack": "ok"},
                     tools("/bin/attack", filesystem=granted), box=box)
        box = self.target()
        box.bundle.add_mount("/opt/more", self.tools, options=["bind", "ro"])
        self.becomes({"exec /opt/more/attack": "ok"}, tools("/bin/attack", "/opt/more", filesystem=granted), box=box)
        box = self.target()
        box.bundle.add_mount("/opt/more", self.tools, options=["bind", "ro"])
        self.refused(tools("/bin/attack", "/opt/more/attack", filesystem=granted), "grant_unenforceable: tools: /opt/more/attack",
                     box=box)


class WithoutTheImage(Attacked):
    """rootfs: none, the default: nothing of the image is read but what is listed."""

    @only_rung(NO_GRANTS)
    def test_only_what_is_granted_can_be_read(self):
        self.becomes({"read /work/in/data": "ok", "read /etc/passwd": "EACCES", "read /work/other": {"EACCES", "ENOENT"},
                      "read /etc/key": "EACCES", "read /proc/self/root/etc/passwd": "EACCES", "read /proc/self/status": "ok",
                      "read /dev/zero": "ok", "read /work/in/../../etc/passwd": "EACCES", "read /bin/busybox": "EACCES",
                      "write /scratch/x": "ok", "write /work/out/x": "ok", "write /work/in/x": {"EROFS", "EACCES"},
                      "exec /bin/true": "EACCES"},
                     tools("/bin/attack", filesystem={"readOnly": ["/work/in"], "readWrite": ["/work/out"],
                                                      "tmpfs": [{"path": "/scratch", "size": "1Mi"}]}))

    @only_rung(NO_GRANTS)
    def test_a_granted_directory_never_covers_one_that_begins_the_same(self):
        box = self.target()
        box.bundle.put("/work/inside/data", "other\n")
        os.symlink("/etc/passwd", box.bundle.inside("/work/in/link"))

        self.becomes({"read /work/in/data": "ok", "read /work/inside/data": "EACCES", "read /work/in/link": "EACCES",
                      "read /work/in/../inside/data": "EACCES"},
                     tools("/bin/attack", filesystem={"readOnly": ["/work/in"]}), box=box)

    @only_rung(NO_GRANTS)
    def test_a_mount_of_the_engine_that_is_not_granted_is_not_there(self):
        for filesystem in ({"readOnly": ["/work/in"]}, {"rootfs": "readOnly"}):
            with self.subTest(filesystem):
                box = self.target()
                volume = os.path.join(self.work, f"volume{len(filesystem)}{'rootfs' in filesystem}")
                os.makedirs(volume)
                with open(f"{volume}/key", "w", encoding="ascii") as file:
                    file.write("secret")
                box.bundle.add_mount("/volume", volume, options=["bind"])

                self.becomes({"read /volume/key": {"ENOENT", "EACCES"}, "read /work/in/data": "ok"},
                             tools("/bin/attack", filesystem=filesystem), box=box)

    @only_rung(NO_GRANTS)
    def test_an_exec_session_reads_no_more(self):
        box = self.target().args("/bin/busybox", "sleep", "100")
        self.succeed(self.under(box, tools("/bin/busybox", "/bin/attack", filesystem={"readOnly": ["/work/in"]}), verb="detach"))

        result = self.succeed(box.exec("/bin/attack", "read /work/in/data", "read /etc/passwd", "write /work/out/x", "exec /bin/sh"))

        self.outcomes_are(result.out, {"read /work/in/data": "ok", "read /etc/passwd": "EACCES",
                                       "write /work/out/x": {"EROFS", "EACCES"}, "exec /bin/sh": "ok"})

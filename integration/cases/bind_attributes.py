"""What a bind mount keeps of its source's attributes, and what it may take back.

SPDX-License-Identifier: Apache-2.0
"""

import os
import subprocess

from rungtest import Case, differs


class Attributes(Case):
    def source(self, options):
        """A mount of the host with these attributes of its own; its file system has none."""
        path = os.path.join(self.work, f"source{len(self.containers)}")
        os.mkdir(path)
        subprocess.run(["mount", "-t", "tmpfs", "-o", "strictatime", "tmpfs", path], check=True)
        self.addCleanup(subprocess.run, ["umount", path], check=True)
        subprocess.run(["mount", "-o", f"remount,bind,{options}", path], check=True)
        return path

    def box(self, source, *options, users=False):
        box = self.container(f"c{len(self.containers)}").args("cat", "/proc/self/mounts")
        if users:
            box.bundle.map_users()
        box.bundle.add_mount("/data", self.source(source), options=options)
        return box

    def attributes(self, source, *options, users=False):
        lines = self.succeed(self.box(source, *options, users=users).run()).out.splitlines()
        words = next(line.split()[3] for line in lines if line.split()[1] == "/data")
        return {word for word in words.split(",") if "=" not in word}

    @differs(crun="1.8 keeps the access times alone")
    def test_a_bind_that_names_no_attribute_has_those_of_its_source(self):
        for users in (False, True):
            with self.subTest(users=users):
                self.assertEqual(self.attributes("ro,nosuid,noexec,noatime", "bind", "rprivate", users=users),
                                 {"ro", "nosuid", "noexec", "noatime"})

    @differs(runc="1.1 keeps all when only words like dev are given")
    def test_a_bind_that_names_one_has_no_other(self):
        self.assertEqual(self.attributes("ro,noexec,nosymfollow,nodiratime", "bind", "dev"),
                         {"rw", "nodiratime", "relatime"})
        self.assertEqual(self.attributes("nodev,nosuid,noexec,noatime", "bind", "ro"), {"ro", "noatime"})

    def test_access_times_are_kept_until_another_choice_is_named(self):
        self.assertEqual(self.attributes("noatime", "bind", "atime"), {"rw", "noatime"})
        self.assertEqual(self.attributes("noatime", "bind", "norelatime"), {"rw", "noatime"})
        self.assertEqual(self.attributes("noatime", "bind", "relatime"), {"rw", "relatime"})
        self.assertEqual(self.attributes("noatime", "bind", "nodiratime"), {"rw", "nodiratime", "relatime"})
        self.assertEqual(self.attributes("nodiratime", "bind", "strictatime"), {"rw"})

    @differs(runc="1.1 has another rule", crun="1.8 has another rule")
    def test_what_the_host_has_set_stays_in_a_user_namespace(self):
        self.assertEqual(self.attributes("ro,noexec,nosymfollow,noatime", "bind", "dev", users=True),
                         {"ro", "noexec", "noatime"})
        self.assertEqual(self.attributes("nodev,nosuid,noatime", "bind", "ro", "exec", users=True),
                         {"ro", "nodev", "nosuid", "noatime"})

    @differs(runc="1.1 keeps it without a word", crun="1.8 keeps it without a word")
    def test_in_a_user_namespace_it_cannot_be_taken_back(self):
        for source, word in (("ro", "rw"), ("nosuid", "suid"), ("noexec", "exec"), ("nodev", "dev")):
            with self.subTest(word):
                box = self.box(source, "bind", word, users=True)

                self.fails(box.run(), "operation not permitted")

                self.is_gone(box)

    @differs(crun="1.8 says nothing")
    def test_in_a_user_namespace_access_times_cannot_be_changed(self):
        for source, word in (("nodiratime", "strictatime"), ("relatime", "noatime"), ("noatime", "strictatime")):
            with self.subTest(source=source, word=word):
                self.fails(self.box(source, "bind", word, users=True).run(), "operation not permitted")
        self.assertEqual(self.attributes("noatime", "bind", "noatime", users=True), {"rw", "noatime"})

"""Id-mapped mounts, attributes of whole mount trees, and mount words that mean nothing any more.

SPDX-License-Identifier: Apache-2.0
"""

import os
import subprocess

from rungtest import Case, differs, only_rung

NOBODY = "65534 65534"
SHOW = "stat -c '%u %g' "


class IdMapped(Case):
    def source(self, name="source", uid=0, gid=0):
        path = os.path.join(self.work, name)
        os.makedirs(path)
        for owner in (0, 1):
            file = os.path.join(path, f"f{owner}")
            with open(file, "w", encoding="ascii") as opened:
                opened.write("text\n")
            os.chown(file, uid + owner, gid + owner)
        return path

    def tree(self):
        """A directory with another mounted below it."""
        top, below = self.source("top"), self.source("below")
        os.mkdir(os.path.join(top, "sub"))
        subprocess.run(["mount", "--bind", below, os.path.join(top, "sub")], check=True)
        self.addCleanup(subprocess.run, ["umount", "-l", os.path.join(top, "sub")], check=True)
        return top

    def box(self, source, *options, script, mapped=(0, 100000, 65536), groups=None, users=False):
        box = self.container(f"c{len(self.containers)}").shell(script)
        mount = {"destination": "/data", "type": "bind", "source": source, "options": ["bind", *options]}
        for field, mapping in (("uidMappings", mapped), ("gidMappings", groups or mapped)):
            if mapping:
                mount[field] = [{"containerID": mapping[0], "hostID": mapping[1], "size": mapping[2]}]
        box.config["mounts"].append(mount)
        if users:
            box.bundle.map_users()
        return box

    @differs(runc="1.1 does not know it", crun="1.8 needs the option")
    def test_owners_are_mapped_with_and_without_a_user_namespace(self):
        source = self.source()

        self.prints(self.box(source, script=SHOW + "/data/f1", users=True).run(), "1 1")
        self.prints(self.box(source, script=SHOW + "/data/f1").run(), "100001 100001")

    @differs(runc="1.1 does not know it", crun="1.8 needs the option")
    def test_users_and_groups_have_mappings_of_their_own(self):
        box = self.box(self.source(uid=10, gid=20), script=SHOW + "/data/f1", mapped=(10, 1000, 5), groups=(20, 2000, 5))

        self.prints(box.run(), "1001 2001")

    @differs(runc="1.1 does not know it", crun="1.8 needs the option")
    def test_what_is_written_belongs_to_the_owner_on_the_host(self):
        source = self.source()

        self.prints(self.box(source, script="touch /data/new && stat -c '%u %g' /data/new", users=True).run(), "0 0")

        self.assertEqual(os.stat(os.path.join(source, "new")).st_uid, 0)

    @differs(runc="1.1 does not know it", crun="1.8 needs the option")
    def test_a_user_without_a_mapping_cannot_write(self):
        result = self.box(self.source(), script="touch /data/new").run()

        self.assertNotEqual(result.code, 0)
        self.assertIn("Value too large for", result.err)

    @differs(runc="1.1 does not know it", crun="1.8 maps the tree for both words")
    def test_the_tree_is_mapped_by_its_own_word_only(self):
        top = self.tree()
        script = "; ".join(SHOW + file for file in ("/data/f1", "/data/sub/f1"))

        self.prints(self.box(top, "rbind", "idmap", script=script).run(), "100001 100001\n1 1")
        self.prints(self.box(top, "rbind", "ridmap", script=script).run(), "100001 100001\n100001 100001")
        self.prints(self.box(top, "rbind", "idmap", script=script, users=True).run(), "1 1\n" + NOBODY)

    @differs(runc="1.1 does not know it", crun="1.8 needs a mapping")
    def test_without_mappings_those_of_the_user_namespace_hold(self):
        box = self.box(self.source(), "idmap", script=SHOW + "/data/f1", mapped=None, users=True)

        self.prints(box.run(), "1 1")

    @differs(runc="1.1 does not know it")
    def test_a_mapping_may_be_given_within_the_option(self):
        box = self.box(self.source(), "idmap=uids=1-100001-10;gids=1-100001-10", script=SHOW + "/data/f1", mapped=None)

        self.prints(box.run(), "100001 100001")

    @differs(runc="1.1 does not know it", crun="1.8 takes it as relative to itself")
    def test_a_relative_source_begins_at_the_bundle(self):
        box = self.box("inner", script=SHOW + "/data")
        os.mkdir(os.path.join(box.bundle.path, "inner"))

        self.prints(box.run(), "100000 100000")

    @differs(runc="1.1 does not know it", crun="1.8 fails")
    def test_what_an_earlier_entry_has_mounted_can_be_mapped(self):
        for users, seen in ((False, "100001 100001"), (True, "1 1")):
            with self.subTest(users=users):
                box = self.box(self.source(f"source{users}"), script=SHOW + "/again/f1", mapped=None, users=users)
                again = {"destination": "/again", "type": "bind", "source": os.path.join(box.bundle.rootfs, "data"),
                         "options": ["rbind"]}
                for field in ("uidMappings", "gidMappings"):
                    again[field] = [{"containerID": 0, "hostID": 100000, "size": 65536}]
                box.config["mounts"].append(again)

                self.prints(box.run(), seen)

    @only_rung("1.1 and 1.8 do not know it")
    def test_other_attributes_and_propagation_go_with_a_mapping(self):
        script = SHOW + "/data/f1; touch /data/x 2>/dev/null || echo refused; grep -c ' /data .*shared' /proc/self/mountinfo"
        box = self.box(self.source(), "ro", "shared", script=script)

        self.assertEqual(self.succeed(box.run()).out.split("\n")[:3], ["100001 100001", "refused", "1"])

    @differs(runc="1.1 ignores the mappings", crun="1.8 ignores or words them otherwise")
    def test_what_cannot_be_mapped_is_an_error_that_says_why(self):
        source = self.source()
        half = self.box(source, script="true", groups=None)
        del half.config["mounts"][-1]["gidMappings"]
        self.fails(half.run(), "must have both uid and gid mappings")

        alone = self.box(source, "idmap", script="true", mapped=None)
        self.fails(alone.run(), "must have both uid and gid mappings")

        fresh = self.box(source, script="true")
        fresh.config["mounts"][-1].update(type="tmpfs", options=[])
        self.fails(fresh.run(), "only supported for bind-mounts")
        for box in (half, alone, fresh):
            self.is_gone(box)

    @differs(runc="1.1 ignores the mappings", crun="1.8 ignores the mappings")
    def test_a_file_system_that_cannot_is_named(self):
        box = self.box("/proc/bus", script="true")

        self.fails(box.run(), "/proc/bus", "proc", "does not support id-mapped mounts")

        self.is_gone(box)


class Trees(Case):
    def tree(self):
        """A directory with a tmpfs, and one more below that."""
        top = os.path.join(self.work, "tree")
        for place in ("", "a", "a/b"):
            path = os.path.join(top, place)
            os.mkdir(path)
            if place:
                subprocess.run(["mount", "-t", "tmpfs", "none", path], check=True)
        self.addCleanup(subprocess.run, ["umount", "-l", os.path.join(top, "a")], check=True)
        return top

    def options_of(self, *options, kind="bind", source=None):
        """The options of each mount of the tree, from the top."""
        box = self.container(f"c{len(self.containers)}").args("cat", "/proc/self/mountinfo")
        box.bundle.add_mount("/data", source or self.top, kind, options)
        lines = [line.split() for line in self.succeed(box.run()).out.splitlines()]
        return [set(line[5].split(",")) for line in sorted(lines, key=lambda line: line[4]) if line[4].startswith("/data")]

    def setUp(self):
        super().setUp()
        self.top = self.tree()

    @differs(crun="1.8 lets the other word win")
    def test_an_attribute_of_the_tree_holds_everywhere_whatever_is_said_of_the_top(self):
        for words in (["rro"], ["rw", "rro"], ["rro", "rw"]):
            with self.subTest(words):
                self.assertTrue(all("ro" in each for each in self.options_of("rbind", *words)))

    def test_an_attribute_of_the_top_stays_there(self):
        top, first, second = self.options_of("rbind", "ro", "nosuid")

        self.assertLessEqual({"ro", "nosuid"}, top)
        self.assertFalse({"ro", "nosuid"} & (first | second))

    @differs(runc="1.1 does not clear noatime", crun="1.8 knows not all of them")
    def test_each_attribute_can_be_set_and_cleared_for_the_tree(self):
        for word in ("nosuid", "nodev", "noexec", "nodiratime", "noatime", "nosymfollow"):
            with self.subTest(word):
                self.assertTrue(all(word in each for each in self.options_of("rbind", f"r{word}")))
                cleared = self.options_of("rbind", word, f"r{word[2:]}")
                self.assertFalse(any(word in each for each in cleared), cleared)

    @differs(crun="1.8 has the kernel refuse it")
    def test_an_access_time_of_the_tree_replaces_what_was_there(self):
        for word in ("noatime", "relatime"):
            with self.subTest(word):
                self.assertTrue(all(word in each for each in self.options_of("rbind", f"r{word}")))
        strict = self.options_of("rbind", "noatime", "rstrictatime")
        self.assertFalse(any({"noatime", "relatime"} & each for each in strict), strict)

    @differs(crun="1.8 takes each of them for a directory")
    def test_a_file_a_fifo_and_a_socket_take_attributes_of_the_tree(self):
        places = {"file": None, "fifo": None, "null": "/dev/null"}
        with open(os.path.join(self.work, "file"), "w", encoding="ascii"):
            os.mkfifo(os.path.join(self.work, "fifo"))
        for name, source in places.items():
            with self.subTest(name):
                options = self.options_of("rbind", "rro", "rnosuid", source=source or os.path.join(self.work, name))
                self.assertLessEqual({"ro", "nosuid"}, options[0])

    @differs(runc="1.1 leaves them out", crun="1.8 leaves them out")
    def test_a_new_file_system_takes_attributes_of_the_tree(self):
        self.assertLessEqual({"ro", "noexec"}, self.options_of("rro", "rnoexec", kind="tmpfs", source="tmpfs")[0])

    @differs(runc="1.1 gives defaults and acl to the file system", crun="1.8 gives acl to the file system")
    def test_words_without_a_meaning_are_accepted(self):
        words = ("iversion", "noiversion", "loud", "silent", "acl", "defaults", "async", "nomand")

        self.options_of("bind", *words)
        self.options_of(*words, kind="tmpfs", source="tmpfs")

"""Bad input: one clear line, runc's exit code, and nothing left.

SPDX-License-Identifier: Apache-2.0
"""

import os
import shutil

from rungtest import Case, differs, host


class Config(Case):
    def broken(self, text):
        box = self.container()
        box.bundle.write()
        path = os.path.join(box.bundle.path, "config.json")
        if text is None:
            os.unlink(path)
        else:
            with open(path, "wb") as file:
                file.write(text)
        return box, self.runtime.call("create", "--bundle", box.bundle.path, box.id)

    def test_a_missing_config_is_named(self):
        box, result = self.broken(None)

        self.fails(result, "config.json")

        self.is_gone(box)

    def test_a_config_that_is_not_json_is_refused(self):
        for number, text in enumerate((b"", b"{", b"[]", b"not json", b"\xff\xfe{}", b'{"process": 7}',
                                       b'{"ociVersion": "1.0.2"} trailing', b"[" * 100000)):
            with self.subTest(text[:20]):
                if self.kind != "rung" and number > 1:
                    continue
                box, result = self.broken(text)

                self.fails(result)

                self.is_gone(box)

    def edited(self, edit, *words):
        box = self.container()
        edit(box)
        result = box.create()
        self.fails(result, *(words if self.kind == "rung" else ()))
        self.is_gone(box)

    def test_a_config_without_a_process_is_refused(self):
        self.edited(lambda box: box.config.pop("process"), "process")

    def test_a_config_without_arguments_is_refused(self):
        self.edited(lambda box: box.args(), "args")

    def test_a_config_without_a_root_is_refused(self):
        self.edited(lambda box: box.config.pop("root"), "root")

    @differs(runc="goes on", crun="goes on")
    def test_a_nul_in_a_path_is_refused(self):
        self.edited(lambda box: box.bundle.add_mount("/a\0b", "/tmp", options=["bind"]))

    @differs(runc="1.1 goes on", crun="goes on")
    def test_an_environment_entry_without_a_value_is_refused(self):
        self.edited(lambda box: box.config["process"]["env"].append("NOTHING"))

    @differs(runc="1.1 goes on", crun="goes on")
    def test_a_version_of_another_major_is_refused(self):
        self.edited(lambda box: box.config.update(ociVersion="2.0.0"), "2.0.0")

    @differs(crun="1.8 refuses it")
    def test_a_newer_version_and_unknown_fields_are_accepted(self):
        box = self.container().args("echo", "fine")
        box.config["ociVersion"] = "1.99.0"
        box.config["somethingNew"] = {"deep": [1, 2]}
        box.config["linux"]["somethingNew"] = "x"
        box.config["process"]["somethingNew"] = None

        self.prints(box.run(), "fine")

    def test_a_missing_root_file_system_is_named(self):
        box = self.container()
        shutil.rmtree(box.bundle.rootfs)

        result = box.create()

        self.fails(result, "rootfs")
        self.is_gone(box)

    def test_a_root_that_is_a_file_is_refused(self):
        def edit(box):
            with open(os.path.join(box.bundle.path, "file"), "w", encoding="ascii"):
                pass
            box.config["root"]["path"] = "file"
        self.edited(edit)

    def test_a_missing_bundle_is_named(self):
        result = self.runtime.call("create", "--bundle", os.path.join(self.work, "no-bundle"), "some")

        self.fails(result, "no-bundle" if self.kind != "crun" else "")


class Programs(Case):
    def refused(self, box, text):
        result = box.create()
        if self.kind == "crun":
            self.assertNotEqual(result.code, 0)
        else:
            self.fails(result, text)
        self.is_gone(box)

    def test_a_program_that_is_not_in_the_path_is_named_at_create(self):
        self.refused(self.container().args("nosuch"), 'exec: "nosuch": executable file not found in $PATH')

    def test_a_program_path_that_does_not_exist_is_named_at_create(self):
        self.refused(self.container().args("/no/such"), 'exec: "/no/such": stat /no/such: no such file or directory')

    def test_a_program_that_is_not_executable_is_named_at_create(self):
        self.refused(self.container().args("/etc/passwd"), 'exec: "/etc/passwd": permission denied')

    def test_a_directory_is_not_a_program(self):
        self.refused(self.container().args("/etc"), 'exec: "/etc":')

    @differs(crun="has wordings of its own")
    def test_a_script_whose_interpreter_is_missing_is_named_in_one_line(self):
        box = self.container().args("/script")
        box.bundle.put("/script", "#!/no/such/interpreter\n", 0o755)

        result = box.run()

        self.assertEqual(result.code, 255 if self.kind == "rung" else 1, repr(result))
        self.assertEqual(result.err, "exec /script: no such file or directory\n")
        self.is_gone(box)

    @differs(crun="has wordings of its own")
    def test_a_script_of_exec_whose_interpreter_is_missing_is_named_in_one_line(self):
        box = self.container().args("sleep", "100")
        box.bundle.put("/script", "#!/no/such/interpreter\n", 0o755)
        self.succeed(box.run_detached())

        result = box.exec("/script")

        self.assertEqual(result.code, 255 if self.kind == "rung" else 1, repr(result))
        self.assertEqual(result.err, "exec /script: no such file or directory\n")


class Identifiers(Case):
    @differs(crun="1.8 takes most of them")
    def test_an_id_that_is_a_path_is_refused_before_the_disk_is_touched(self):
        box = self.container()
        box.bundle.write()
        for name in ("../x", "a/b", "/abs", ".", "..", "a b", "ü", "a\n"):
            with self.subTest(name):
                result = self.runtime.call("create", "--bundle", box.bundle.path, name)

                self.assertEqual(result.code, 1, repr(result))
                if self.kind == "rung":
                    self.fails(result, "invalid container ID format", "invalid character")
        self.assertFalse(os.path.exists(os.path.join(self.work, "x")))

    def test_an_empty_id_is_refused(self):
        box = self.container()
        box.bundle.write()

        self.assertNotEqual(self.runtime.call("create", "--bundle", box.bundle.path, "").code, 0)

    @differs(runc="takes it", crun="takes it")
    def test_an_id_that_looks_like_an_option_is_refused(self):
        box = self.container()
        box.bundle.write()

        self.assertNotEqual(self.runtime.call("create", "--bundle", box.bundle.path, "--", "-x").code, 0)

    def test_an_id_may_have_dots_dashes_plus_and_underscores(self):
        box = self.container("_a+b.c-d").args("true")

        self.succeed(box.run())

    def test_an_id_of_a_thousand_characters_is_refused(self):
        box = self.container()
        box.bundle.write()

        result = self.runtime.call("create", "--bundle", box.bundle.path, "x" * 1100)

        self.assertNotEqual(result.code, 0)


class Places(Case):
    def test_a_root_that_cannot_be_made_is_named(self):
        box = self.container()
        box.bundle.write()
        blocker = os.path.join(self.work, "file")
        with open(blocker, "w", encoding="ascii"):
            pass
        self.runtime.root = os.path.join(blocker, "state")

        self.fails(box.create(), "ot a directory")

        self.assertEqual(host.cgroup_directories(box.id), [])
        self.runtime.root = os.path.join(self.work, "state")

    def test_an_unknown_verb_is_an_error(self):
        self.assertNotEqual(self.runtime.call("levitate").code, 0)

    def test_an_unknown_option_is_an_error(self):
        self.assertNotEqual(self.runtime.call("create", "--levitate", "x").code, 0)

    def test_a_missing_argument_is_an_error(self):
        for verb in ("create", "start", "state", "kill", "delete", "exec"):
            with self.subTest(verb):
                self.assertNotEqual(self.runtime.call(verb).code, 0)

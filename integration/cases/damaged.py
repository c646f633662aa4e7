"""What is left of a container whose state cannot be read: it is removed, and nobody else is harmed.

SPDX-License-Identifier: Apache-2.0
"""

import json
import os

from rungtest import Case, differs, host, only_rung


class Damaged(Case):
    @differs(runc="cannot delete it", crun="cannot delete it")
    def test_a_forced_delete_cleans_up_when_the_state_is_damaged(self):
        for number, text in enumerate(("", "{", "[]", '{"id": 7}')):
            with self.subTest(text):
                box = self.container(f"c{number}").args("sleep", "100")
                self.succeed(box.run_detached())
                with open(os.path.join(self.runtime.root, box.id, "state.json"), "w", encoding="utf-8") as file:
                    file.write(text)

                self.assertNotEqual(box.delete().code, 0)
                self.succeed(box.delete("--force"))

                self.is_gone(box)

    @only_rung("has another record of the first process")
    def test_a_record_of_a_process_that_cannot_be_is_none(self):
        for number, text in enumerate(("-1 0\n", "0 0\n", "x")):
            with self.subTest(text):
                box = self.container(f"c{number}").args("sleep", "100")
                self.succeed(box.run_detached())
                with open(os.path.join(self.runtime.root, box.id, "init"), "w", encoding="ascii") as file:
                    file.write(text)

                self.succeed(box.delete("--force"))

                self.is_gone(box)

    @only_rung("cannot delete a container whose state is damaged")
    def test_a_damaged_state_never_ends_the_processes_of_another_cgroup(self):
        victim = self.container("victim").args("sleep", "100")
        self.succeed(victim.run_detached())
        box = self.container("box").args("sleep", "100")
        box.config["linux"]["cgroupsPath"] = victim.cgroup
        box.bundle.write()
        self.succeed(self.runtime.call("--cgroup-manager", "disabled", "run", "--detach", "--bundle", box.bundle.path, box.id))
        with open(os.path.join(self.runtime.root, box.id, "state.json"), "w", encoding="ascii") as file:
            file.write("{")

        self.succeed(box.delete("--force"))

        self.is_gone(box)
        self.assertEqual(victim.status(), "running")

    @only_rung("cannot delete a container whose state is damaged")
    def test_a_damaged_state_without_a_word_of_the_cgroup_ends_the_process_alone(self):
        box = self.container().args("sleep", "100")
        self.succeed(box.run_detached())
        place = os.path.join(self.runtime.root, box.id)
        with open(os.path.join(place, "init"), encoding="ascii") as file:
            first = file.readline()
        for name, text in (("init", first), ("state.json", "")):
            with open(os.path.join(place, name), "w", encoding="ascii") as file:
                file.write(text)

        result = self.succeed(box.delete("--force"))

        self.assertIn("which cgroup", result.err)
        self.assertFalse(host.is_alive(box.created_pid))
        self.assertFalse(os.path.exists(place))
        for directory in host.cgroup_directories(box.id):
            os.rmdir(directory)

    @only_rung("have another state")
    def test_a_resctrl_class_that_create_did_not_make_stays(self):
        for made in (False, True):
            with self.subTest(made):
                box = self.container().args("sleep", "100")
                self.succeed(box.run_detached())
                place = os.path.join(self.runtime.root, box.id)
                directory = os.path.join(self.work, "resctrl", box.id)
                os.makedirs(directory)
                with open(os.path.join(place, "state.json"), encoding="utf-8") as file:
                    state = json.load(file)
                state["resctrl"] = {"directory": directory, "monitor": "", "own": [directory]}
                with open(os.path.join(place, "state.json"), "w", encoding="utf-8") as file:
                    json.dump(state, file)
                if made:
                    with open(os.path.join(place, "resctrl"), "w", encoding="ascii"):
                        pass

                result = self.succeed(box.delete("--force"))

                self.is_gone(box)
                self.assertEqual(os.path.exists(directory), not made)
                self.assertEqual(directory in result.err, not made)

    @differs(crun="1.8 ends with an error")
    def test_a_damaged_state_of_one_is_a_warning_of_list(self):
        boxes = [self.container().args("sleep", "100") for _ in range(2)]
        for box in boxes:
            self.succeed(box.run_detached())
        place = os.path.join(self.runtime.root, boxes[0].id, "state.json")
        with open(place, encoding="utf-8") as file:
            text = file.read()
        with open(place, "w", encoding="utf-8") as file:
            file.write("{")

        result = self.succeed(self.runtime.call("list", "--quiet"))

        self.assertEqual(result.out.split(), [boxes[1].id])
        self.assertIn(f"load container {boxes[0].id}:", result.err)
        with open(place, "w", encoding="utf-8") as file:
            file.write(text)

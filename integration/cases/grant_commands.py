"""Commands about grants: what is wrong with one, what several come to, its digest, and what this host can enforce.

SPDX-License-Identifier: Apache-2.0
"""

import json
import os

from rungtest import Case, only_rung

NO_GRANTS = "has no grants"
READING = {"grantVersion": "1", "filesystem": {"rootfs": "readOnly"}, "tools": ["/"]}


class Documents(Case):
    def write(self, name, text):
        path = os.path.join(self.work, name)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text if isinstance(text, str) else json.dumps(text))
        return path

    @only_rung(NO_GRANTS)
    def test_check_names_every_mistake_with_its_place(self):
        path = self.write("wrong.yaml", 'grantVersion: "1"\nfilesystem:\n  readwrite: [/work]\ncapabilities: [CAP_NOT_INVENTED]\n')

        result = self.runtime.call("grant", "check", path)

        self.assertEqual(result.code, 1)
        lines = result.out.splitlines()
        self.assertEqual(len(lines), 2, result.out)
        self.assertTrue(lines[0].startswith(f"{path}:3:"), lines[0])
        self.assertIn("grant_unknown_field: filesystem.readwrite", lines[0])
        self.assertTrue(lines[1].startswith(f"{path}:4:"), lines[1])
        self.assertIn("capability_unknown", lines[1])

    @only_rung(NO_GRANTS)
    def test_check_of_a_sound_grant_prints_nothing(self):
        result = self.succeed(self.runtime.call("grant", "check", self.write("good.json", READING)))

        self.assertEqual(result.out, "")

    @only_rung(NO_GRANTS)
    def test_check_answers_programs_in_json(self):
        path = self.write("wrong.json", {**READING, "tool": []})

        result = self.runtime.call("grant", "check", "--json", path)

        self.assertEqual(result.code, 1)
        self.assertEqual([(one["file"], one["code"], one["field"]) for one in json.loads(result.out)],
                         [(path, "grant_unknown_field", "tool")])

    @only_rung(NO_GRANTS)
    def test_a_digest_is_of_what_a_grant_says_and_not_of_how(self):
        one = self.write("one.json", READING)
        same = self.write("same.yaml", "tools: [/]\nfilesystem: {rootfs: readOnly}\ngrantVersion: \"1\"\n")
        other = self.write("other.json", {**READING, "tools": ["/bin/sh"]})

        lines = self.succeed(self.runtime.call("grant", "digest", one, same, other)).out.splitlines()

        digests = [line.split()[0] for line in lines]
        self.assertRegex(digests[0], "^sha256:[0-9a-f]{64}$")
        self.assertEqual(digests[0], digests[1])
        self.assertNotEqual(digests[0], digests[2])

    @only_rung(NO_GRANTS)
    def test_a_meet_is_what_both_allow_and_a_grant_again(self):
        one = self.write("one.json", {**READING, "limits": {"pids": 10, "memory": "64Mi"}})
        two = self.write("two.json", {**READING, "tools": ["/bin"], "limits": {"pids": 20}})

        met = self.succeed(self.runtime.call("grant", "meet", one, two)).out
        turned = self.succeed(self.runtime.call("grant", "meet", two, one)).out

        self.assertEqual(met, turned)
        document = json.loads(met)
        self.assertEqual(document["tools"], ["/bin"])
        self.assertEqual(document["limits"], {"memory": "64Mi", "pids": 10})
        self.succeed(self.runtime.call("grant", "check", self.write("met.json", met)))

    @only_rung(NO_GRANTS)
    def test_what_is_no_grant_and_what_is_no_command_is_one_line(self):
        self.fails(self.runtime.call("grant", "digest", self.write("wrong.json", "{}")), "wrong.json", "grantVersion")
        self.fails(self.runtime.call("grant", "meet", os.path.join(self.work, "missing")), "missing")
        self.fails(self.runtime.call("grant", "chekc", self.write("good.json", READING)), 'no "chekc"')


class Doctor(Documents):
    @only_rung(NO_GRANTS)
    def test_the_doctor_says_of_each_field_whether_it_is_enforced(self):
        answers = json.loads(self.succeed(self.runtime.call("doctor", "--json")).out)

        by_field = {one["field"]: one for one in answers}
        self.assertTrue(by_field["filesystem.rootfs: readOnly"]["enforced"])
        self.assertFalse(by_field["isolation.minimum: microvm"]["enforced"])
        for one in answers:
            self.assertEqual(one["enforced"], one["missing"] == "", one)
        lines = self.succeed(self.runtime.call("doctor")).out.splitlines()
        self.assertEqual([line.split("  ")[0] for line in lines], [one["field"] for one in answers])

    @only_rung(NO_GRANTS)
    def test_the_doctor_says_no_to_a_grant_that_would_not_start(self):
        enforceable = self.write("good.json", READING)
        not_enforceable = self.write("wrong.json", {**READING, "isolation": {"minimum": "microvm"}})

        self.succeed(self.runtime.call("doctor", enforceable))
        result = self.runtime.call("doctor", enforceable, not_enforceable)

        self.assertEqual(result.code, 1)
        self.assertIn("wrong.json: grant_unenforceable: isolation.minimum", result.err)

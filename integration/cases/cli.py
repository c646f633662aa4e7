"""The command line: flags as engines and people write them.

SPDX-License-Identifier: Apache-2.0
"""

import json
import os

from rungtest import Case, differs, only_rung
from rungtest.runtime import run


class Flags(Case):
    def test_a_long_flag_may_have_one_dash_and_follow_the_id(self):
        box = self.container().args("echo", "fine")
        box.bundle.write()

        self.prints(self.runtime.call("run", "-bundle", box.bundle.path, box.id) if self.kind != "crun" else box.run(),
                    "fine")

    @differs(crun="has another layout")
    def test_help_of_every_verb_names_the_verb(self):
        name = os.path.basename(self.runtime.path)
        for verb in ("create", "run", "exec", "start", "state", "kill", "delete", "list", "spec", "features"):
            for flag in ("-h", "--help"):
                with self.subTest(f"{verb} {flag}"):
                    lines = self.succeed(self.runtime.call(verb, flag)).out.splitlines()
                    self.assertEqual(lines[0], "NAME:")
                    self.assertIn(f"{name} {verb}", lines[1])

    @differs(crun="has another wording")
    def test_an_unknown_verb_has_no_help_topic(self):
        result = self.runtime.call("foo", "-h")

        self.assertEqual(result.code, 3)
        self.assertIn("No help topic for 'foo'", result.out + result.err)

    @only_rung("do not have runsc's flags")
    def test_flags_of_runsc_are_accepted(self):
        self.succeed(self.runtime.call("list"))
        for words in (["--platform=kvm"], ["--platform", "systrap"], ["--strace"], ["-strace=true"],
                      ["--debug-log=/x/", "--debug-log-format", "json"], ["--overlay2=root:self"],
                      ["--file-access=shared"], ["--host-uds=open"], ["--nvproxy=true"], ["--directfs=false"],
                      ["--network=host"], ["--network=sandbox"]):
            with self.subTest(words):
                result = self.runtime.call(*words, "list")
                self.assertEqual((result.code, result.err), (0, ""), repr(result))

        self.fails(self.runtime.call("--network=other", "list"), "other")
        said = self.succeed(self.runtime.call("--debug", "--platform=kvm", "list")).err
        self.assertIn("--platform=kvm", said)

    def test_a_spec_is_written_once(self):
        self.succeed(self.runtime.call("spec", "--bundle", self.work))

        with open(os.path.join(self.work, "config.json"), encoding="utf-8") as file:
            self.assertEqual(json.load(file)["process"]["args"], ["sh"])
        self.assertNotEqual(self.runtime.call("spec", "--bundle", self.work).code, 0)

    @differs(crun="1.8 writes none")
    def test_a_rootless_spec_maps_the_caller(self):
        self.succeed(self.runtime.call("spec", "--rootless", "--bundle", self.work))

        with open(os.path.join(self.work, "config.json"), encoding="utf-8") as file:
            config = json.load(file)
        self.assertEqual(config["linux"]["uidMappings"], [{"containerID": 0, "hostID": os.geteuid(), "size": 1}])
        self.assertIn({"type": "user"}, config["linux"]["namespaces"])


class Descriptors(Case):
    LIST = "ls /proc/self/fd | sort -n | tr '\\n' ' '"

    def passed(self, count, options=(), exec_in=None):
        """What /proc/self/fd shows when the caller has `count` more descriptors, from 3 on."""
        def prepare():
            source = os.open("/dev/null", os.O_RDONLY)
            for number in range(3, 3 + count):
                os.dup2(source, number)
            if source >= 3 + count:
                os.close(source)
        extra = {"prepare": prepare, "pass_fds": tuple(range(3, 3 + count))}
        if exec_in:
            return exec_in.exec("sh", "-c", self.LIST, options=options, **extra)
        return self.container().shell(self.LIST).run(*options, **extra)

    def test_preserved_descriptors_and_no_others_reach_the_program(self):
        self.prints(self.passed(4, ["--preserve-fds", "2"]), "0 1 2 3 4 5")

    def test_preserved_descriptors_reach_exec(self):
        box = self.container().args("sleep", "100")
        self.succeed(box.run_detached())

        self.prints(self.passed(2, ["--preserve-fds=2"], exec_in=box), "0 1 2 3 4 5")

    @differs(runc="refuses a gap", crun="1.8 lists others")
    def test_more_descriptors_than_there_are_is_no_error(self):
        self.prints(self.passed(2, ["--preserve-fds", "100"]), "0 1 2 3 4 5")

    @differs(runc="1.1 finds its own descriptors there", crun="does not look")
    def test_preserving_what_is_not_there_is_an_error(self):
        box = self.container()

        self.fails(box.run("--preserve-fds", "2"), "preserved-fd 0 (of 2)")

        self.is_gone(box)

    @only_rung("take it")
    def test_a_number_of_descriptors_is_not_negative(self):
        self.fails(self.container().run("--preserve-fds", "-1"), "--preserve-fds")

    @differs(crun="1.8 passes one more")
    def test_activated_sockets_come_first(self):
        def prepare():
            source = os.open("/dev/null", os.O_RDONLY)
            for number in (3, 4, 5):
                os.dup2(source, number)
        box = self.container().shell(self.LIST + "; echo; echo $LISTEN_FDS $LISTEN_PID")
        box.bundle.write()
        call = self.runtime.command("run", "--bundle", box.bundle.path, "--preserve-fds", "1", box.id)

        # The shell gives its own process id to what it becomes.
        result = run(["/bin/sh", "-c", 'export LISTEN_FDS=2 LISTEN_PID=$$; exec "$@"', "sh", *call],
                     prepare=prepare, pass_fds=(3, 4, 5))

        self.prints(result, "0 1 2 3 4 5 6 \n2 1")

"""System call filters of the config.

SPDX-License-Identifier: Apache-2.0
"""

import signal

from rungtest import Case, differs


class Seccomp(Case):
    def filtered(self, script, *rules, default="SCMP_ACT_ALLOW", **more):
        box = self.container().shell(script)
        box.config["linux"]["seccomp"] = {"defaultAction": default, "architectures": ["SCMP_ARCH_X86_64"],
                                          "syscalls": list(rules), **more}
        return box

    def test_a_refused_call_fails_with_not_permitted(self):
        box = self.filtered("mkdir /x 2>&1; true", {"names": ["mkdir", "mkdirat"], "action": "SCMP_ACT_ERRNO"})

        self.assertIn("Operation not permitted", self.succeed(box.run()).out)

    def test_a_refused_call_fails_with_the_errno_of_the_rule(self):
        box = self.filtered("mkdir /x 2>&1; true",
                            {"names": ["mkdir", "mkdirat"], "action": "SCMP_ACT_ERRNO", "errnoRet": 28})

        self.assertIn("No space left on device", self.succeed(box.run()).out)

    def test_a_rule_may_look_at_an_argument(self):
        box = self.filtered("chmod 700 /tmp && echo allowed; chmod 777 /tmp 2>/dev/null || echo refused",
                            {"names": ["chmod"], "action": "SCMP_ACT_ERRNO",
                             "args": [{"index": 1, "value": 0o777, "op": "SCMP_CMP_EQ"}]},
                            {"names": ["fchmodat"], "action": "SCMP_ACT_ERRNO",
                             "args": [{"index": 2, "value": 0o777, "op": "SCMP_CMP_EQ"}]})

        self.prints(box.run(), "allowed\nrefused")

    def test_a_rule_equal_to_the_default_is_ignored(self):
        self.prints(self.filtered("echo fine", {"names": ["mkdir"], "action": "SCMP_ACT_ALLOW"}).run(), "fine")

    def test_a_call_may_kill(self):
        # Whether the shell makes the directory itself or a child of it does, that process dies.
        box = self.filtered("(mkdir /x); echo $?",
                            {"names": ["mkdir", "mkdirat"], "action": "SCMP_ACT_KILL_PROCESS"})

        self.prints(box.run(), str(128 + signal.SIGSYS))

    def test_names_that_the_kernel_does_not_have_are_ignored(self):
        box = self.filtered("echo fine", {"names": ["no_such_call_at_all"], "action": "SCMP_ACT_ERRNO"})

        self.prints(box.run(), "fine")

    @differs(runc="1.1 does not know it")
    def test_unknown_names_are_an_error_when_the_annotation_says_so(self):
        box = self.filtered("echo fine", {"names": ["no_such_call_at_all"], "action": "SCMP_ACT_ERRNO"})

        box.config["annotations"] = {"run.oci.seccomp_fail_unknown_syscall": "1"}
        self.fails(box.run(), "no_such_call_at_all")
        self.is_gone(box)

        box.config["annotations"] = {"run.oci.seccomp_fail_unknown_syscall": "0"}
        self.prints(box.run(), "fine")

    def test_an_unknown_action_is_an_error(self):
        box = self.filtered("echo", {"names": ["mkdir"], "action": "SCMP_ACT_PRAY"})

        self.fails(box.run())

        self.is_gone(box)

    def test_the_filter_is_in_force_for_exec(self):
        box = self.filtered("sleep 100", {"names": ["mkdir", "mkdirat"], "action": "SCMP_ACT_ERRNO"})
        self.succeed(box.run_detached())

        self.assertIn("Operation not permitted", box.exec("mkdir", "/x").err)

    def test_the_filter_is_in_force_without_no_new_privileges(self):
        box = self.filtered("mkdir /x 2>&1; grep -E 'Seccomp:|NoNewPrivs' /proc/self/status",
                            {"names": ["mkdir", "mkdirat"], "action": "SCMP_ACT_ERRNO"})
        box.config["process"]["noNewPrivileges"] = False

        out = self.succeed(box.run()).out

        self.assertIn("Operation not permitted", out)
        self.assertIn("Seccomp:\t2", out)
        self.assertIn("NoNewPrivs:\t0", out)

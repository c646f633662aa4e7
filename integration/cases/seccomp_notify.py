"""System calls that a profile leaves to a seccomp agent.

SPDX-License-Identifier: Apache-2.0
"""

import errno
import os
import time

from rungtest import Case, differs, host
from rungtest.agent import Agent

MKDIR = 83  # of x86_64


class Notified(Case):
    def agent(self, **how):
        agent = Agent(os.path.join(self.work, "agent.sock"), **how)
        self.addCleanup(agent.close)
        return agent

    def left_open(self, *names, script="true", new_privileges=True, **more):
        """A container whose profile leaves `names` to the agent."""
        box = self.container().shell(script)
        box.config["process"]["noNewPrivileges"] = not new_privileges
        box.config["linux"]["seccomp"] = {
            "defaultAction": "SCMP_ACT_ALLOW", "architectures": ["SCMP_ARCH_X86_64"],
            "listenerPath": os.path.join(self.work, "agent.sock"), "listenerMetadata": "some words",
            "syscalls": [{"names": list(names), "action": "SCMP_ACT_NOTIFY"}], **more}
        return box


class Agents(Notified):
    def test_an_agent_decides_with_and_without_no_new_privileges(self):
        agent = self.agent(errnos={MKDIR: errno.ENOMEDIUM})
        for new_privileges in (True, False):
            with self.subTest(new_privileges):
                box = self.left_open("mkdir", script="mkdir /x 2>&1; true", new_privileges=new_privileges)

                self.assertIn("No medium found", self.succeed(box.run()).out)
        self.assertEqual([count for _, count in agent.messages], [1, 1])

    def test_a_call_that_the_agent_lets_go_on_happens(self):
        self.agent()

        self.prints(self.left_open("mkdir", script="mkdir /x && ls -d /x").run(), "/x")

    @differs(runc="has the version of the specification there", crun="1.8 leaves the annotations out")
    def test_the_agent_is_told_about_the_container(self):
        agent = self.agent()
        box = self.left_open("mkdir")
        box.config["annotations"] = {"dev.example.a": "1"}

        self.succeed(box.create())
        pid = box.pid()

        self.assertEqual(agent.messages, [({
            "ociVersion": "0.2.0", "fds": ["seccompFd"], "pid": pid, "metadata": "some words",
            "state": {"ociVersion": "1.0.2", "id": box.id, "status": "creating", "pid": pid,
                      "bundle": box.bundle.path, "annotations": {"dev.example.a": "1"}}}, 1)])

    @differs(crun="1.8 tells the process as the container's")
    def test_exec_has_a_listener_of_its_own(self):
        agent = self.agent(errnos={MKDIR: errno.ENOMEDIUM})
        box = self.left_open("mkdir", script="sleep 100")
        self.succeed(box.run_detached())

        self.assertIn("No medium found", box.exec("mkdir", "/x").err)

        first, second = (message for message, _ in agent.messages)
        self.assertEqual((second["state"]["status"], second["state"]["pid"]), ("running", box.pid()))
        self.assertNotEqual(second["pid"], first["pid"])

    @differs(crun="1.8 waits for ever")
    def test_calls_that_a_start_needs_may_be_left_open(self):
        self.agent()
        names = ("execve", "openat", "openat2", "open", "read", "close", "fcntl", "close_range", "setresuid", "capset",
                 "chdir", "fchdir", "newfstatat", "sendmsg", "recvmsg", "sendto", "prctl")
        for new_privileges in (True, False):
            with self.subTest(new_privileges):
                box = self.left_open(*names, script="echo fine", new_privileges=new_privileges)

                self.prints(box.run(), "fine")

    def test_when_the_agent_hangs_up_the_calls_do_not_exist(self):
        self.agent(hangs_up=True)

        box = self.left_open("mkdir", script="mkdir /x 2>&1; true")

        self.assertIn(os.strerror(errno.ENOSYS), self.succeed(box.run()).out)

    def test_a_hook_of_the_container_sees_no_other_descriptors(self):
        self.agent()
        box = self.left_open("mkdir")
        script = "[ $(ls /proc/self/fd | wc -l) -eq 4 ]"
        box.config["hooks"] = {"startContainer": [{"path": "/bin/sh", "args": ["sh", "-c", script]}]}

        self.succeed(box.run())

    @differs(runc="1.1 does not know it", crun="1.8 does not know it")
    def test_the_caller_may_be_made_unkillable_while_it_waits(self):
        self.agent(errnos={MKDIR: errno.ENOMEDIUM})
        box = self.left_open("mkdir", script="mkdir /x 2>&1; true",
                             flags=["SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV"])

        self.assertIn("No medium found", self.succeed(box.run()).out)


class Refused(Notified):
    @differs(crun="1.8 words it otherwise")
    def test_without_an_agent_there_is_no_container(self):
        box = self.left_open("mkdir")

        self.fails(box.run(), "failed to connect with seccomp agent")

        self.is_gone(box)

    def test_an_abstract_address_nobody_listens_at_is_no_agent(self):
        box = self.left_open("mkdir", listenerPath=f"@{self.word}")

        self.fails(box.run())

        self.is_gone(box)

    @differs(runc="1.1 words it a little otherwise", crun="1.8 goes on")
    def test_without_an_address_there_is_no_container(self):
        box = self.left_open("mkdir", listenerPath="")

        self.fails(box.run(), "seccomp listenerPath is not set")

        self.is_gone(box)

    @differs(crun="1.8 waits for ever")
    def test_write_cannot_be_left_open(self):
        self.agent()

        self.fails(self.left_open("write").run(), "SCMP_ACT_NOTIFY cannot be used for the write syscall")

    @differs(crun="1.8 waits for ever")
    def test_leaving_open_is_no_default(self):
        self.agent()

        box = self.left_open("mkdir", defaultAction="SCMP_ACT_NOTIFY")

        self.fails(box.run(), "SCMP_ACT_NOTIFY cannot be used as default action")

    @differs(crun="1.8 needs the agent")
    def test_without_a_rule_for_it_the_agent_may_be_missing(self):
        self.prints(self.left_open(script="echo fine", syscalls=[]).run(), "fine")


class Profiles(Case):
    @differs(runc="1.1 takes half a minute", crun="1.8 takes half a minute")
    def test_names_that_repeat_many_times_take_no_time(self):
        box = self.container().args("true")
        names = ["mkdir", "mkdirat", "no_such_call"] * 33334
        box.config["linux"]["seccomp"] = {"defaultAction": "SCMP_ACT_ALLOW",
                                          "syscalls": [{"names": names, "action": "SCMP_ACT_ERRNO"}]}
        began = time.monotonic()

        self.succeed(box.run())

        self.assertLess(time.monotonic() - began, 10 * host.PATIENCE)

    def flags_of(self, **flags):
        box = self.container(f"c{len(self.containers)}").args("true")
        box.config["linux"]["seccomp"] = {"defaultAction": "SCMP_ACT_ALLOW", **flags, "syscalls": [
            {"names": ["mkdir"], "action": "SCMP_ACT_ERRNO"}]}
        box.bundle.write()
        err = self.succeed(self.runtime.call("--debug", "run", "--bundle", box.bundle.path, box.id)).err
        return err.split("seccomp filter flags: ")[1].split('"')[0].split()[0]

    @differs(runc="1.1 sets none by default", crun="says nothing of them")
    def test_the_flags_are_those_of_the_profile(self):
        self.assertEqual(self.flags_of(), "4")
        self.assertEqual(self.flags_of(flags=[]), "0")
        self.assertEqual(self.flags_of(flags=["SECCOMP_FILTER_FLAG_LOG", "SECCOMP_FILTER_FLAG_TSYNC"]), "2")

    @differs(runc="1.1 knows no flags", crun="1.8 accepts it")
    def test_an_unknown_flag_is_an_error(self):
        box = self.container().args("true")
        box.config["linux"]["seccomp"] = {"defaultAction": "SCMP_ACT_ALLOW", "flags": ["SECCOMP_FILTER_FLAG_X"],
                                          "syscalls": []}

        self.fails(box.run(), "SECCOMP_FILTER_FLAG_X")

    @differs(runc="1.1 needs getcwd")
    def test_a_profile_may_forbid_what_the_start_itself_uses(self):
        for new_privileges in (True, False):
            with self.subTest(new_privileges):
                box = self.container(f"c{new_privileges}").args("true")
                box.config["process"]["noNewPrivileges"] = not new_privileges
                names = ["close_range", "fsopen", "fsconfig", "fspick", "openat2", "open_tree", "move_mount",
                         "mount_setattr", "getcwd", "sendto", "recvmsg"]
                box.config["linux"]["seccomp"] = {"defaultAction": "SCMP_ACT_ALLOW", "syscalls": [
                    {"names": names, "action": "SCMP_ACT_ERRNO", "errnoRet": errno.ENOSYS}]}

                self.succeed(box.run())

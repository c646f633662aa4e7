"""Seccomp agents: calls that a filter leaves to somebody outside, and what that one is told.

SPDX-License-Identifier: Apache-2.0
"""

import errno
import json
import os
import platform

from rungtest import host
from rungtest.agent import Agent

MKDIR = {"x86_64": 83, "aarch64": 34}[platform.machine()]


class _Listening:
    """An agent for the time of a case."""

    def __init__(self, t, **how):
        self.agent = Agent(os.path.join(t.work, "agent.sock"), **how)

    def __enter__(self):
        return self.agent

    def __exit__(self, *_):
        self.agent.close()


def _messages(agent, count=1):
    """What it was told, once so many messages are there: its thread may be a moment behind."""
    try:
        host.wait_until(lambda: len(agent.messages) >= count, 2, "the agent's messages")
    except AssertionError:
        pass  # then there are fewer, and that is the fact
    return agent.messages


def _leave_open(t, *names, script="mkdir /tmp/x 2>&1 | sed 's/.*: //'; test -d /tmp/x && echo made", **more):
    t.linux["seccomp"] = {"defaultAction": "SCMP_ACT_ALLOW", "listenerPath": os.path.join(t.work, "agent.sock"),
                          "syscalls": [{"names": list(names), "action": "SCMP_ACT_NOTIFY"}], **more}
    t.box.shell(script)


def the_agent_refuses_a_call(t):
    with _Listening(t, errnos={MKDIR: errno.ENOMEDIUM}):
        _leave_open(t, "mkdir", "mkdirat")
        t.run()


def the_agent_lets_a_call_go_on(t):
    with _Listening(t):
        _leave_open(t, "mkdir", "mkdirat")
        t.run()


def an_agent_and_new_privileges(t):
    t.process["noNewPrivileges"] = False
    with _Listening(t, errnos={MKDIR: errno.ENOMEDIUM}):
        _leave_open(t, "mkdir", "mkdirat")
        t.run()


def what_the_agent_is_told(t):
    t.config["annotations"] = {"dev.example.a": "1"}
    with _Listening(t) as agent:
        _leave_open(t, "mkdir", "mkdirat", listenerMetadata="some words")
        t.create()
        t.note("messages", len(_messages(agent)))
        for message, descriptors in agent.messages:
            state = message.get("state", {})
            t.note("descriptors", f"{descriptors} {message.get('fds')}")
            t.note("metadata", message.get("metadata"))
            t.note("process", message.get("pid") == t.box.created_pid)
            t.note("state", json.dumps({name: state.get(name) for name in ("id", "status", "bundle", "annotations")}, sort_keys=True))
            t.note("process of the state", state.get("pid") == t.box.created_pid)


def an_agent_without_metadata(t):
    with _Listening(t) as agent:
        _leave_open(t, "mkdir", "mkdirat")
        t.run()
        t.note("metadata", [message.get("metadata") for message, _ in _messages(agent)])


def exec_has_a_listener_of_its_own(t):
    with _Listening(t, errnos={MKDIR: errno.ENOMEDIUM}) as agent:
        _leave_open(t, "mkdir", "mkdirat", script="sleep 100")
        t.detach()
        t.exec("sh", "-c", "mkdir /tmp/x 2>&1 | sed 's/.*: //'")
        t.note("messages", len(_messages(agent, 2)))
        t.note("states", " ".join(message.get("state", {}).get("status", "") for message, _ in agent.messages))


def an_agent_that_hangs_up(t):
    with _Listening(t, hangs_up=True):
        _leave_open(t, "mkdir", "mkdirat")
        t.run()


def no_agent(t):
    _leave_open(t, "mkdir", "mkdirat")
    t.run()


def no_agent_at_create(t):
    _leave_open(t, "mkdir", "mkdirat")
    t.create()
    t.left()


def no_listener_path(t):
    _leave_open(t, "mkdir", "mkdirat")
    del t.linux["seccomp"]["listenerPath"]
    t.run()


def a_relative_listener_path(t):
    _leave_open(t, "mkdir", "mkdirat", listenerPath="agent.sock")
    t.run()


def a_listener_path_without_a_call_for_it(t):
    with _Listening(t) as agent:
        _leave_open(t)
        t.linux["seccomp"]["syscalls"] = []
        t.run()
        t.note("messages", len(_messages(agent)))


def metadata_without_a_listener_path(t):
    t.linux["seccomp"] = {"defaultAction": "SCMP_ACT_ALLOW", "listenerMetadata": "some words"}
    t.run()


def an_action_that_needs_an_agent_by_default(t):
    with _Listening(t):
        _leave_open(t)
        t.linux["seccomp"].update({"defaultAction": "SCMP_ACT_NOTIFY", "syscalls": []})
        t.run()


def the_call_that_tells_the_agent(t):
    with _Listening(t):
        _leave_open(t, "write")
        t.run()


def an_agent_in_a_user_namespace(t):
    t.box.bundle.map_users()
    with _Listening(t, errnos={MKDIR: errno.ENOMEDIUM}):
        _leave_open(t, "mkdir", "mkdirat")
        t.run()

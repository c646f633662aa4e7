"""Pause, resume and the list of processes.

SPDX-License-Identifier: Apache-2.0
"""

import json


def pause_and_resume(t):
    t.detach()
    t.call("pause", t.box.id)
    t.state()
    t.outside("paused")
    t.call("resume", t.box.id)
    t.state()
    t.outside("resumed")
    t.exec("true")


def verbs_on_a_paused_container(t):
    t.detach()
    t.call("pause", t.box.id)
    t.exec("true")
    t.start()
    t.delete()
    t.state()


def a_forced_delete_of_a_paused_container(t):
    t.detach()
    t.call("pause", t.box.id)
    t.delete("--force")
    t.left()


def pause_in_every_other_state(t):
    t.call("pause", t.box.id, label="pause of none")
    t.call("resume", t.box.id, label="resume of none")
    t.detach()
    t.call("resume", t.box.id, label="resume of a running one")
    t.stop()
    t.call("pause", t.box.id, label="pause of a stopped one")
    t.call("resume", t.box.id, label="resume of a stopped one")


def processes_as_json(t):
    t.detach()
    result = t.runtime.call("ps", "--format", "json", t.box.id)
    t.note("exit code", result.code)
    t.note("processes", "its own" if json.loads(result.out or "[]") == [t.box.created_pid] else result.out)
    t.note("errors", result.err)


def processes_as_a_table(t):
    t.detach()
    result = t.runtime.call("ps", t.box.id)
    t.note("exit code", result.code)
    t.note("head", " ".join(result.out.splitlines()[0].split()) if result.out else "nothing")
    t.note("lines", len(result.out.splitlines()))


def processes_of_other_states(t):
    t.call("ps", t.box.id, label="ps of none", output=False)
    t.detach()
    t.stop()
    t.call("ps", t.box.id, label="ps of a stopped one", output=False)

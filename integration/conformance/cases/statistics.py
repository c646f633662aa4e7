"""events: the shape of the statistics, the numbers that config.json decides, and what ends the watching.

SPDX-License-Identifier: Apache-2.0
"""

import json

MEBI = 1 << 20
# Fields that exist as soon as there is a kernel file behind them; runc 1.1 knows fewer.
LIMITS = (("memory", "usage", "limit"), ("memory", "swap", "limit"), ("memory", "kernel", "limit"), ("pids", "limit"))


def _statistics(t, *options, box=None):
    t.leave_out("crun")  # 1.8 has no such verb
    result = t.runtime.call("events", "--stats", *options, (box or t.box).id)
    t.note("exit code", result.code)
    lines = result.out.splitlines()
    t.note("lines", len(lines))
    return json.loads(lines[0]) if lines else {}


def _at(found, *names):
    for name in names:
        found = found.get(name, {}) if isinstance(found, dict) else {}
    return json.dumps(found)


def the_shape_of_statistics(t):
    t.detach()
    found = _statistics(t)
    t.note("type", found.get("type"))
    t.note("names the container", found.get("id") == t.box.id)
    for section, content in sorted(found.get("data", {}).items()):
        t.note(f"data {section}", " ".join(sorted(content)) if isinstance(content, dict) else json.dumps(content))


def limits_in_statistics(t):
    t.resources.update({"memory": {"limit": 64 * MEBI, "swap": 96 * MEBI}, "pids": {"limit": 33}})
    t.detach()
    found = _statistics(t)
    for names in LIMITS:
        t.note(" ".join(names), _at(found.get("data", {}), *names))


def the_number_of_processes_in_statistics(t):
    t.ready("sleep 100 & sleep 100 & : >/ready; wait")
    t.note("processes", _at(_statistics(t).get("data", {}), "pids", "current"))


def the_numbers_are_the_kernels(t):
    t.detach()
    found = _statistics(t).get("data", {})
    usage = int(_at(found, "memory", "usage", "usage") or 0)
    t.note("memory is used", usage > 0)
    t.note("the most is no less", int(_at(found, "memory", "usage", "max")) >= usage)
    per_processor = found.get("cpu", {}).get("usage", {}).get("percpu", [])
    t.note("each processor", all(number >= 0 for number in per_processor))


def throttling_in_statistics(t):
    t.resources["cpu"] = {"quota": 2000, "period": 20000}
    t.ready("(while :; do :; done) & sleep 0.5; : >/ready; wait")
    throttled = _statistics(t).get("data", {}).get("cpu", {}).get("throttling", {})
    t.note("was throttled", throttled.get("throttledPeriods", 0) > 0)
    t.note("fields", " ".join(sorted(throttled)))


def statistics_of_a_created_container(t):
    t.create()
    t.note("processes", _at(_statistics(t).get("data", {}), "pids", "current") != "{}")


def statistics_of_a_paused_container(t):
    t.detach()
    t.call("pause", t.box.id)
    t.note("has memory", bool(_statistics(t).get("data", {}).get("memory")))


def statistics_of_a_stopped_container(t):
    t.detach()
    t.stop()
    t.leave_out("crun")
    t.call("events", "--stats", t.box.id)


def statistics_of_no_container(t):
    t.leave_out("crun")
    t.call("events", "--stats", t.box.id)


def watching_ends_with_the_container(t):
    t.leave_out("crun", "runc")  # 1.1 goes on for ever
    t.box.args("sleep", "1")
    t.detach()
    result = t.runtime.call("events", "--interval", "300ms", t.box.id, seconds=30)
    types = {json.loads(line)["type"] for line in result.out.splitlines()}
    t.must(result.code == 0 and types == {"stats"} and len(result.out.splitlines()) >= 2, f"statistics until the end: {result}")


def intervals_that_are_none(t):
    t.leave_out("crun")
    t.detach()
    for value in ("0s", "-1s", "soon"):
        t.call("events", "--interval", value, t.box.id, label=f"events every {value}", output=False)


def a_process_killed_for_want_of_memory(t):
    t.leave_out("crun", "runc")  # 1.1 goes on for ever
    t.resources["memory"] = {"limit": 24 * MEBI, "swap": 24 * MEBI}
    t.box.shell("sleep 1; dd if=/dev/zero of=/dev/null bs=60M count=1 2>/dev/null; sleep 1")
    t.detach()
    result = t.runtime.call("events", "--interval", "100s", t.box.id, seconds=30)
    types = {json.loads(line)["type"] for line in result.out.splitlines()}
    t.must(result.code == 0 and "oom" in types, f"the want of memory is told: {result}")

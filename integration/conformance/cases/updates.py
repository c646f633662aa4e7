"""update: each flag, documents, and values that cannot be meant; the control files tell what became of them.

SPDX-License-Identifier: Apache-2.0
"""

import json

MEBI = 1 << 20


def _changed(t, *flags, before=None, **how):
    """A running container whose limits were `before`, and its control files after the update."""
    t.resources.update(before or {})
    t.detach()
    t.call("update", *flags, t.box.id, **how)
    t.outside("running")


def memory_in_bytes(t):
    _changed(t, "--memory", str(64 * MEBI))


def memory_with_a_unit(t):
    _changed(t, "--memory", "64M", "--memory-swap", "96M")


def memory_lifted(t):
    _changed(t, "--memory", "-1", "--memory-swap", "-1", before={"memory": {"limit": 64 * MEBI, "swap": 64 * MEBI}})


def memory_and_swap_raised_together(t):
    _changed(t, "--memory", str(256 * MEBI), "--memory-swap", str(512 * MEBI), before={"memory": {"limit": 64 * MEBI, "swap": 64 * MEBI}})


def memory_and_swap_lowered_together(t):
    _changed(t, "--memory", str(32 * MEBI), "--memory-swap", str(64 * MEBI), before={"memory": {"limit": 256 * MEBI, "swap": 256 * MEBI}})


def swap_alone(t):
    _changed(t, "--memory-swap", str(256 * MEBI), before={"memory": {"limit": 64 * MEBI, "swap": 128 * MEBI}})


def swap_below_the_memory(t):
    _changed(t, "--memory-swap", str(32 * MEBI), before={"memory": {"limit": 64 * MEBI, "swap": 128 * MEBI}})


def a_reservation(t):
    _changed(t, "--memory-reservation", str(32 * MEBI))


def memory_below_the_usage(t):
    t.box.shell("dd if=/dev/zero of=/dev/shm/full bs=1M count=20 2>/dev/null; : >/ready; sleep 100")
    t.resources["memory"] = {"limit": 128 * MEBI}
    t.ready(t.process["args"][2])
    document = {"memory": {"limit": 4096, "checkBeforeUpdate": True}}
    t.call("update", "--resources", t.file("resources.json", json.dumps(document)), t.box.id)
    t.state()
    t.outside("running")


def kernel_memory(t):
    _changed(t, "--kernel-memory", str(64 * MEBI), "--kernel-memory-tcp", str(32 * MEBI))


def processor_shares(t):
    _changed(t, "--cpu-share", "512")


def a_quota_and_a_period(t):
    _changed(t, "--cpu-quota", "20000", "--cpu-period", "50000")


def a_quota_alone(t):
    _changed(t, "--cpu-quota", "30000", before={"cpu": {"quota": 20000, "period": 50000}})


def a_period_alone(t):
    _changed(t, "--cpu-period", "40000", before={"cpu": {"quota": 20000, "period": 50000}})


def a_quota_lifted(t):
    _changed(t, "--cpu-quota", "-1", before={"cpu": {"quota": 20000, "period": 50000}})


def a_burst(t):
    _changed(t, "--cpu-burst", "1000", before={"cpu": {"quota": 20000, "period": 50000}})


def an_idle_group(t):
    _changed(t, "--cpu-idle", "1")


def realtime_share(t):
    _changed(t, "--cpu-rt-period", "1000000", "--cpu-rt-runtime", "1000")


def processors_and_memory_nodes(t):
    _changed(t, "--cpuset-cpus", "0", "--cpuset-mems", "0")


def processors_that_do_not_exist(t):
    _changed(t, "--cpuset-cpus", "100000")


def a_block_weight(t):
    _changed(t, "--blkio-weight", "500")


def a_process_limit(t):
    _changed(t, "--pids-limit", "77", before={"pids": {"limit": 33}})


def a_process_limit_without_bounds(t):
    _changed(t, "--pids-limit", "-1", before={"pids": {"limit": 33}})


def a_process_limit_below_the_number_of_processes(t):
    t.ready("for i in 1 2 3 4 5 6; do sleep 100 & done; : >/ready; wait")
    t.call("update", "--pids-limit", "2", t.box.id)
    t.outside("running")
    t.exec("true")


def cache_schemata_where_there_are_none(t):
    _changed(t, "--l3-cache-schema", "L3:0=f", "--mem-bw-schema", "MB:0=50")


def many_flags_together(t):
    _changed(t, "--memory", str(64 * MEBI), "--memory-swap", str(64 * MEBI), "--memory-reservation", str(32 * MEBI), "--cpu-share", "256", "--cpu-quota", "30000",
             "--cpu-period", "60000", "--cpuset-cpus", "0", "--pids-limit", "50")


def the_short_flag_of_a_document(t):
    _changed(t, "-r", t.file("resources.json", json.dumps({"pids": {"limit": 40}})))


def a_document_from_standard_input(t):
    document = {"memory": {"limit": 64 * MEBI}, "cpu": {"shares": 300, "cpus": "0"}, "pids": {"limit": 40}}
    _changed(t, "--resources", "-", stdin=json.dumps(document))


def a_document_with_zeros(t):
    document = {"memory": {"limit": 0, "swap": 0, "reservation": 0}, "cpu": {"shares": 0, "quota": 0, "period": 0, "cpus": "", "mems": ""},
                "pids": {"limit": 40}, "blockIO": {"weight": 0}}
    _changed(t, "--resources", t.file("resources.json", json.dumps(document)),
             before={"memory": {"limit": 64 * MEBI}, "cpu": {"shares": 300}})


def an_empty_document(t):
    _changed(t, "--resources", t.file("resources.json", "{}"), before={"memory": {"limit": 64 * MEBI}})


def flags_beside_a_document(t):
    _changed(t, "--resources", t.file("resources.json", json.dumps({"pids": {"limit": 40}})), "--pids-limit", "50")


def a_document_with_unknown_fields(t):
    _changed(t, "--resources", t.file("resources.json", json.dumps({"pids": {"limit": 40}, "magic": 1})))


def device_rules_in_a_document(t):
    document = {"devices": [{"allow": True, "type": "c", "major": 1, "minor": 1, "access": "rwm"}], "pids": {"limit": 40}}
    _changed(t, "--resources", t.file("resources.json", json.dumps(document)))


def documents_that_are_none(t):
    t.detach()
    for text in ("", "{", "[]", '{"memory": 5}', '{"memory": {"limit": "5"}}', '{"pids": {"limit": 1.5}}'):
        t.call("update", "--resources", t.file("resources.json", text), t.box.id, label=f"update by {text!r}")
    t.call("update", "--resources", "/does/not/exist", t.box.id, label="update by no file")
    t.outside("running")


def values_that_are_none(t):
    t.detach()
    for flag, value in (("--memory", "much"), ("--memory", "1Q"), ("--memory-swap", "x"), ("--cpu-share", "many"), ("--cpu-quota", "1e3"),
                        ("--cpu-period", "-5"), ("--pids-limit", "several"), ("--blkio-weight", "70000"), ("--memory-reservation", "")):
        t.call("update", flag, value, t.box.id, label=f"update {flag} {value!r}", output=False)
    t.outside("running")


def nothing_to_update(t):
    _changed(t, before={"memory": {"limit": 64 * MEBI}})


def a_created_container(t):
    t.create()
    t.call("update", "--pids-limit", "50", t.box.id)
    t.outside("created")
    t.start()
    t.outside("running")


def a_paused_container(t):
    t.detach()
    t.call("pause", t.box.id)
    t.call("update", "--pids-limit", "50", t.box.id)
    t.state()
    t.call("resume", t.box.id)
    t.outside("running")


def a_stopped_container(t):
    t.detach()
    t.stop()
    t.call("update", "--pids-limit", "50", t.box.id)


def no_container(t):
    t.call("update", "--pids-limit", "50", t.box.id)


def an_unrelated_limit_leaves_the_devices(t):
    t.resources["devices"] = [{"allow": False, "access": "rwm"}, {"allow": True, "type": "c", "major": 1, "minor": 11, "access": "r"}]
    t.detach()
    t.outside("running")
    t.call("update", "--pids-limit", "50", t.box.id)
    t.outside("updated")


def devices_stay_usable_meanwhile(t):
    t.ready("(while echo x >/dev/null; do :; done; echo lost >/lost) 2>/dev/null & : >/ready; wait")
    for number in range(20):
        t.runtime.call("update", "--pids-limit", str(50 + number), t.box.id)
    t.exec("sh", "-c", "test -e /lost && echo lost || echo usable")

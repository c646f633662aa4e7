"""Hooks of every kind: order, input, environment, namespaces, failures and time-outs.

SPDX-License-Identifier: Apache-2.0
"""

import json
import os

KINDS = ("prestart", "createRuntime", "createContainer", "startContainer", "poststart", "poststop")


def _hook(t, script, **more):
    # It takes its input first: crun dies of SIGPIPE when a hook ends before the state is written.
    if "grep -o" not in script:
        script = f"cat >/dev/null; {script}"
    return {"path": "/bin/sh", "args": ["sh", "-c", script], **more}


def _log(t):
    path = os.path.join(t.work, "log")
    if not os.path.exists(path):
        return "nothing"
    with open(path, encoding="utf-8") as file:
        return file.read()


def _bind_log(t):
    """The hooks inside write to the same file, which is bound into the container."""
    t.file("log")
    t.mount("/log", os.path.join(t.work, "log"), "bind")


def the_order_of_all_kinds(t):
    _bind_log(t)
    inside = ("startContainer",)
    t.config["hooks"] = {kind: [_hook(t, f"echo {kind} >>{'/log' if kind in inside else os.path.join(t.work, 'log')}")] for kind in KINDS}
    t.box.shell("echo process >>/log; sleep 100")
    t.create()
    t.note("after create", _log(t))
    t.start()
    t.kill()
    t.box.wait_stopped()
    t.delete()
    lines = _log(t).split()
    # poststart runs beside the process: which of the two writes first is open.
    t.note("in the end", " ".join(sorted(lines)))
    t.note("order", " ".join(line for line in lines if line != "process"))


def two_hooks_of_a_kind(t):
    t.config["hooks"] = {kind: [_hook(t, f"echo {kind} {number} >>{t.work}/log") for number in (1, 2, 3)]
                         for kind in ("prestart", "createRuntime", "poststart", "poststop")}
    t.detach()
    t.stop()
    t.delete()
    t.note("log", _log(t))


def what_each_hook_reads(t):
    t.mount("/log", t.directory("logs", 0o777), "bind")
    t.config["annotations"] = {"org.example.key": "a/b \"quoted\" <x> ü"}
    t.config["hooks"] = {kind: [{"path": "/bin/sh", "args": [
        "sh", "-c", f"cat >{'/log' if kind == 'startContainer' else os.path.join(t.work, 'logs')}/{kind}"]}] for kind in KINDS}
    t.create()
    t.start()
    t.stop()
    t.delete()
    for kind in KINDS:
        with open(os.path.join(t.work, "logs", kind), encoding="utf-8") as file:
            text = file.read()
        t.note(f"{kind} reads lines", len(text.strip().splitlines()))
        state = json.loads(text)
        state.pop("ociVersion", None)
        state["pid"] = "a process" if state.get("pid") else "none"
        t.note(f"{kind} reads", json.dumps(state, sort_keys=True, ensure_ascii=False))


def the_environment_of_a_hook(t):
    for kind in ("createRuntime", "createContainer", "startContainer", "poststart"):
        where = "/log" if kind == "startContainer" else os.path.join(t.work, "log")
        t.config["hooks"] = {kind: [{"path": "/bin/busybox" if kind == "startContainer" else "/usr/bin/env",
                                     "args": ["sh", "-c", f"cat >/dev/null; /bin/busybox env >{where}"] if kind == "startContainer" else
                                     ["env", "sh", "-c", f"cat >/dev/null; env >{where}"], "env": ["ONE=1", "PATH=/usr/bin:/bin"]}]}
        t.config["mounts"] = t.config["mounts"][:7]
        _bind_log(t)
        t.box.args("true")
        t.step(f"run with {kind}", t.box.run())
        names = sorted(line for line in _log(t).splitlines() if not line.startswith(("_=", "PWD=", "SHLVL=")))
        t.note(f"{kind} has", " ".join(names))


def a_hook_without_an_environment(t):
    t.process["env"].append("LD_PRELOAD=/evil.so")
    t.config["hooks"] = {"createRuntime": [{"path": "/bin/busybox", "args": ["sh", "-c", f"cat >/dev/null; /bin/busybox env >{t.work}/log"]}]}
    t.run()
    t.must("evil" not in _log(t) and "ENGINE" not in _log(t), "a hook has the image's environment")
    t.note("variables", " ".join(sorted(line.split("=")[0] for line in _log(t).splitlines())))


def a_start_container_hook_without_an_environment(t):
    t.process["env"].append("FROM=config")
    t.config["hooks"] = {"startContainer": [{"path": "/bin/busybox", "args": ["sh", "-c", "cat >/dev/null; /bin/busybox env >/found"]}]}
    t.run()
    t.note("variables", " ".join(sorted(line.split("=")[0] for line in t.box.bundle.read("/found").splitlines())))


def the_namespaces_of_each_hook(t):
    for kind in ("prestart", "createRuntime", "createContainer", "startContainer", "poststart"):
        t.config["mounts"] = t.config["mounts"][:7]
        _bind_log(t)
        where = "/log" if kind == "startContainer" else os.path.join(t.work, "log")
        t.config["hooks"] = {kind: [{"path": "/bin/busybox", "args": [
            "sh", "-c", f"cat >/dev/null; for n in mnt net pid uts ipc; do /bin/busybox readlink /proc/self/ns/$n; done >{where}"]}]}
        t.box.args("sleep", "100")
        t.step(f"run with {kind}", t.box.run_detached())
        own = [os.readlink(f"/proc/self/ns/{name}") for name in ("mnt", "net", "pid", "uts", "ipc")]
        t.note(f"{kind} shares with the host", [line.split(":")[0] for line in _log(t).split() if line in own])
        t.box.delete("--force")


def the_directory_of_a_hook(t):
    t.config["hooks"] = {kind: [_hook(t, f"pwd >>{t.work}/log")] for kind in ("prestart", "createRuntime", "poststart", "poststop")}
    t.detach()
    t.stop()
    t.delete()
    t.note("directories", _log(t))


def the_descriptors_of_a_hook(t):
    t.config["hooks"] = {kind: [_hook(t, f"ls /proc/self/fd | sed 's/^/{kind} /' >>{t.work}/log")] for kind in ("createRuntime", "poststart")}
    t.detach()
    lines = [line for line in _log(t).splitlines() if line.split()[1] in ("0", "1", "2") or int(line.split()[1]) > 3]
    t.note("descriptors", " / ".join(lines))


def the_output_of_a_hook(t):
    t.config["hooks"] = {"createRuntime": [_hook(t, "echo out; echo err >&2")]}
    t.run()


def a_failing_hook_of_each_kind(t):
    for kind in KINDS:
        t.config["hooks"] = {kind: [{"path": "/bin/busybox", "args": ["sh", "-c", "cat >/dev/null; echo because of this >&2; exit 3"]}]}
        t.box.args("sleep", "100")
        t.step(f"create with {kind}", t.box.create())
        t.step(f"start with {kind}", t.box.start())
        t.step(f"state with {kind}", t.runtime.call("state", t.box.id), output=False)
        t.step(f"delete with {kind}", t.box.delete("--force"))
        t.left(f"after {kind}")


def a_failing_hook_of_a_run(t):
    for kind in KINDS:
        t.config["hooks"] = {kind: [_hook(t, "false")]}
        t.box.args("true")
        t.step(f"run with {kind}", t.box.run())
        t.left(f"after {kind}")


def a_hook_after_one_that_failed(t):
    t.config["hooks"] = {"createRuntime": [_hook(t, "exit 1"), _hook(t, f"echo second >>{t.work}/log")],
                         "poststop": [_hook(t, f"echo poststop >>{t.work}/log")]}
    t.create()
    t.note("log", _log(t))


def a_failing_poststop_hook_before_another(t):
    t.config["hooks"] = {"poststop": [_hook(t, "exit 1"), _hook(t, f"echo second >>{t.work}/log")]}
    t.detach()
    t.stop()
    t.delete()
    t.note("log", _log(t))
    t.left()


def a_hook_that_dies_of_a_signal(t):
    t.config["hooks"] = {"createRuntime": [_hook(t, "kill -9 $$")]}
    t.create()
    t.left()


def a_hook_that_takes_too_long(t):
    t.config["hooks"] = {"createRuntime": [_hook(t, "exec sleep 30", timeout=1)]}
    t.create()
    t.left()


def a_hook_that_is_quick_enough(t):
    t.config["hooks"] = {"createRuntime": [_hook(t, "exit 0", timeout=20)]}
    t.create()


def a_time_limit_that_is_none(t):
    for seconds in (0, -1):
        t.config["hooks"] = {"createRuntime": [_hook(t, "exit 0", timeout=seconds)]}
        t.step(f"run with timeout {seconds}", t.box.args("true").run())


def a_hook_that_does_not_exist(t):
    t.config["hooks"] = {"createRuntime": [{"path": "/there/is/no/such/hook"}]}
    t.create()
    t.left()


def a_hook_that_is_not_executable(t):
    t.config["hooks"] = {"createRuntime": [{"path": t.file("hook", "#!/bin/sh\n", 0o644)}]}
    t.create()
    t.left()


def a_hook_with_a_relative_path(t):
    for kind in ("createRuntime", "startContainer"):
        t.config["hooks"] = {kind: [{"path": "bin/true"}]}
        t.step(f"create with {kind}", t.box.create())
        t.box.delete("--force")


def a_hook_without_a_path(t):
    t.config["hooks"] = {"createRuntime": [{"args": ["true"]}]}
    t.create()
    t.left()


def a_hook_without_arguments(t):
    t.config["hooks"] = {"createRuntime": [{"path": t.file("hook", f"#!/bin/sh\ncat >/dev/null\necho $# $0 >{t.work}/log\n", 0o755)}]}
    t.create()
    t.note("log", _log(t))


def the_name_of_a_hook(t):
    t.config["hooks"] = {"createRuntime": [{"path": "/bin/busybox", "args": ["sh", "-c", f"cat >/dev/null; tr '\\0' ' ' </proc/$$/cmdline >{t.work}/log"]}]}
    t.create()
    t.note("log", _log(t))


def a_hook_that_does_not_read(t):
    t.config["annotations"] = {f"key{number}": "x" * 1000 for number in range(150)}
    t.config["hooks"] = {"createRuntime": [_hook(t, "exit 0")]}
    t.create()


def a_hook_that_leaves_a_process_behind(t):
    t.config["hooks"] = {"createRuntime": [_hook(t, "sleep 1 >/dev/null 2>&1 &")]}
    t.create()
    t.start()


def create_container_hooks_may_write_to_a_read_only_root(t):
    t.config["root"]["readonly"] = True
    t.config["hooks"] = {"createContainer": [_hook(t, f"echo written >{t.box.bundle.rootfs}/by-hook")]}
    t.shell("cat /by-hook")


def a_start_container_hook_sees_the_read_only_root(t):
    t.config["root"]["readonly"] = True
    t.config["hooks"] = {"startContainer": [{"path": "/bin/sh", "args": ["sh", "-c", "echo x >/by-hook"]}]}
    t.run()


def a_start_container_hook_runs_under_the_filter(t):
    t.linux["seccomp"] = {"defaultAction": "SCMP_ACT_ALLOW", "syscalls": [{"names": ["mkdir", "mkdirat"], "action": "SCMP_ACT_ERRNO"}]}
    t.config["hooks"] = {"startContainer": [{"path": "/bin/mkdir", "args": ["mkdir", "/made"]}]}
    t.run()
    t.note("made", os.path.isdir(t.box.bundle.inside("/made")))


def a_start_container_hook_as_a_user(t):
    t.process["user"] = {"uid": 1000, "gid": 1000}
    t.config["hooks"] = {"startContainer": [{"path": "/bin/sh", "args": ["sh", "-c", "id >/tmp/who"]}]}
    t.run()
    t.note("who", t.box.bundle.read("/tmp/who"))


def poststop_hooks_of_a_forced_delete(t):
    t.config["hooks"] = {"poststop": [_hook(t, f"echo poststop >>{t.work}/log")]}
    t.detach()
    t.delete("--force")
    t.note("log", _log(t))


def poststop_hooks_of_a_foreground_run(t):
    t.config["hooks"] = {"poststop": [_hook(t, f"echo poststop >>{t.work}/log")]}
    t.run()
    t.note("log", _log(t))


def poststop_hooks_of_a_created_container(t):
    t.config["hooks"] = {"poststop": [_hook(t, f"echo poststop >>{t.work}/log")]}
    t.create()
    t.delete("--force")
    t.note("log", _log(t))


def poststart_hooks_run_after_the_process_began(t):
    t.config["hooks"] = {"poststart": [_hook(t, f"cat /proc/$(grep -o '\"pid\": *[0-9]*' | grep -o '[0-9]*')/comm >{t.work}/log")]}
    t.detach()
    t.note("command", _log(t))


def a_hook_may_join_a_network_device(t):
    # As libnetwork-setkey: the container's network namespace is there at prestart.
    t.config["hooks"] = {"prestart": [_hook(t, f"readlink /proc/$(grep -o '\"pid\": *[0-9]*' | grep -o '[0-9]*')/ns/net >{t.work}/log")]}
    t.detach()
    t.note("its own", _log(t).strip() == os.readlink(f"/proc/{t.box.created_pid}/ns/net"))


def empty_lists_of_hooks(t):
    t.config["hooks"] = {kind: [] for kind in KINDS}
    t.run()


def an_unknown_kind_of_hook(t):
    t.config["hooks"] = {"sometime": [{"path": "/bin/false"}]}
    t.run()

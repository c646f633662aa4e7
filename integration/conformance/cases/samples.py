"""The files that engines wrote: each is run with a root file system, sources and namespaces made for the test.

SPDX-License-Identifier: Apache-2.0
"""

import json
import os
import shutil

from rungtest.terminal import ConsoleSocket

from conformance import facts

SAMPLES = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "samples")
FILES = ("hostname", "hosts", "resolv.conf", ".containerenv", "termination-log", "docker-init", "catatonit", "init")
NAMESPACE_FILES = {"pid": "pid", "network": "net", "ipc": "ipc", "uts": "uts", "user": "user", "cgroup": "cgroup"}
CAP_SYS_RESOURCE = 24


def _from_files():
    """One case for each file, by what it is."""
    found = []
    for name in sorted(os.listdir(SAMPLES)):
        if name.endswith(".json"):
            run = _process if name.endswith("process.json") else _resources if name.endswith("update-resources.json") else _config
            found.append((name[:-5], lambda t, name=name, run=run: run(t, os.path.join(SAMPLES, name))))
    return found


def _read(path):
    with open(path, encoding="utf-8") as file:
        return json.load(file)


def _config(t, path):
    given = _read(path)
    _take_over(t, given)
    if given["process"].get("terminal"):
        _on_a_terminal(t)
    else:
        t.inside()
    t.create(*_console(t))
    t.state()
    t.outside("created")
    t.start()
    t.outside("running")
    t.inside_exec()
    t.exec("sh", "-c", "exit 3")
    t.kill()
    t.box.wait_stopped()
    t.delete()
    t.left()


def _take_over(t, given):
    own = t.box.config
    given["root"]["path"] = "rootfs"
    if t.kind == "crun":
        given["ociVersion"] = "1.0.2"  # crun before 1.14.2 refuses every newer one
    given["process"]["args"] = ["/bin/sleep", "100"]
    _leave_out_what_this_host_lacks(given["process"])
    if "cgroupsPath" in given["linux"]:
        given["linux"]["cgroupsPath"] = own["linux"]["cgroupsPath"]
    given["mounts"] = [_with_source(t, mount) for mount in given.get("mounts", [])]
    for hooks in given.get("hooks", {}).values():
        hooks[:] = [{"path": "/bin/sh", "args": ["sh", "-c", "cat >/dev/null"]} for _ in hooks]
    if given["linux"].get("uidMappings"):
        host_id = given["linux"]["uidMappings"][0]["hostID"]
        for directory, names, files in os.walk(t.box.bundle.rootfs):
            for name in [*names, *files, "."]:
                os.lchown(os.path.join(directory, name), host_id, host_id)
    own.clear()
    own.update(given)
    _join_a_pod(t, given)


def _leave_out_what_this_host_lacks(process):
    with open("/proc/self/status", encoding="ascii") as file:
        bounding = next(int(line.split()[1], 16) for line in file if line.startswith("CapBnd"))
    for names in process.get("capabilities", {}).values():
        if not bounding >> CAP_SYS_RESOURCE & 1 and "CAP_SYS_RESOURCE" in names:
            names.remove("CAP_SYS_RESOURCE")


def _with_source(t, mount):
    source = mount.get("source", "")
    if mount.get("type") != "bind" or not source.startswith("/") or source.startswith(("/proc", "/sys", "/dev")):
        return mount
    name = os.path.basename(mount["destination"])
    place = os.path.join(t.work, "sources", mount["destination"].strip("/").replace("/", "-"))
    os.makedirs(os.path.dirname(place), exist_ok=True)
    if name not in FILES:
        os.makedirs(place, exist_ok=True)
    elif name.endswith("init"):
        shutil.copy("/bin/busybox", place)
    else:
        with open(place, "w", encoding="ascii") as file:
            file.write("127.0.0.1 localhost\n")
    return {**mount, "source": place}


def _join_a_pod(t, given):
    """Namespaces by path are those of a second container, as in a pod."""
    joined = [entry for entry in given["linux"]["namespaces"] if entry.get("path")]
    if not joined:
        return
    pod = t.second
    if any(entry["type"] == "user" for entry in joined):
        pod.bundle.map_users()
    pod.run_detached()
    for entry in joined:
        entry["path"] = f"/proc/{pod.created_pid}/ns/{NAMESPACE_FILES[entry['type']]}"


def _console(t):
    if not t.process.get("terminal"):
        return ()
    console = ConsoleSocket(os.path.join(t.work, f"console{len(os.listdir(t.work))}"))
    t.consoles.append(console)
    return ("--console-socket", console.path)


def _on_a_terminal(t):
    """The probe on a terminal: what it prints arrives through the master."""
    t.process["args"] = ["/bin/probe"]
    if t.detach(*_console(t)).code != 0:
        return
    terminal = t.consoles[-1].receive()
    t.note_all("inside", facts.of_probe(terminal.read_all().replace("\r", "")))
    terminal.close()
    t.box.wait_stopped()
    t.delete("--force")
    t.process["args"] = ["/bin/sleep", "100"]


def _process(t, path):
    given = _read(path)
    given["args"] = ["/bin/probe"]
    _leave_out_what_this_host_lacks(given)
    t.process["rlimits"] = []
    t.process["oomScoreAdj"] = 0
    t.detach()
    options = ["--process", t.file("process.json", json.dumps(given))]
    if not given.get("terminal"):
        t.inside_exec(options=options)
        return
    console = ConsoleSocket(os.path.join(t.work, "console"))
    t.consoles.append(console)
    if t.exec(options=[*options, "--detach", "--console-socket", console.path]).code == 0:
        terminal = console.receive()
        t.note_all("exec", facts.of_probe(terminal.read_all().replace("\r", "")))
        terminal.close()


def _resources(t, path):
    t.resources["memory"] = {"limit": 512 << 20}
    t.detach()
    t.call("update", "--resources", path, t.box.id)
    t.outside("running")
    t.exec("true")

"""One case under one runtime: the calls that the case makes, and the facts that they leave for the comparison.

SPDX-License-Identifier: Apache-2.0
"""

import itertools
import json
import os
import re
import shutil
import signal
import subprocess
import tempfile
import time

from rungtest import host
from rungtest.container import Container
from rungtest.runtime import Runtime

from conformance import facts, wording

SECONDS = 180  # an idle machine needs three; a busy one is no difference
LONG = ["sleep", "100"]  # what a container does unless its case says otherwise
_numbers = itertools.count(1)


class LeftOut(Exception):
    """The case has nothing to ask of this oracle."""


def _merge(target, document):
    for name, value in document.items():
        if value is None:
            target.pop(name, None)
        elif isinstance(value, dict) and isinstance(target.get(name), dict):
            _merge(target[name], value)
        else:
            target[name] = value


class Trial:
    """`kind` is rung, runc or crun; `facts` grows from name to text; `faults` are what no runtime may do, of rung alone."""

    def __init__(self, kind, path, probe):
        self.kind, self.probe_path = kind, probe
        # As long for every runtime: tables are laid out by the longest word.
        self.word = f"cf{os.getpid():07d}{next(_numbers):04d}"
        self.work = os.path.realpath(tempfile.mkdtemp(prefix=f"{self.word}-"))
        os.chmod(self.work, 0o755)
        self.runtime = Runtime(path, os.path.join(self.work, "state"))
        self.boxes, self.facts, self.faults, self._steps, self._children, self.consoles = [], {}, [], {}, [], []

    # --- the container of the case ---

    @property
    def box(self):
        return self.boxes[0] if self.boxes else self.container()

    @property
    def second(self):
        """A second container beside the first."""
        return self.boxes[1] if self.box and len(self.boxes) > 1 else self.container()

    @property
    def config(self):
        return self.box.config

    @property
    def process(self):
        return self.box.config["process"]

    @property
    def linux(self):
        return self.box.config["linux"]

    @property
    def resources(self):
        return self.box.config["linux"]["resources"]

    def container(self, name=None, cgroup_parent=None):
        made = Container(self.runtime, self.work, f"{self.word}{name or 'abc'[len(self.boxes)]}", cgroup_parent or f"/{self.word}")
        os.link(self.probe_path, made.bundle.inside("/bin/probe"))
        made.args(*LONG)
        self.boxes.append(made)
        return made

    def mount(self, destination, source, *options, kind="bind"):
        self.box.bundle.add_mount(destination, source, kind, options)

    def directory(self, name, mode=0o755, **files):
        """A directory of the host with files in it, for a bind mount."""
        path = os.path.join(self.work, name)
        os.makedirs(path, exist_ok=True)
        os.chmod(path, mode)
        for file, text in files.items():
            self.file(os.path.join(name, file), text)
        return path

    def file(self, name, text="", mode=0o644):
        path = os.path.join(self.work, name)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        os.chmod(path, mode)
        return path

    def patch(self, document, box=None):
        """Merges a piece of config into the container's: null takes a field away, a list replaces (RFC 7386)."""
        _merge((box or self.box).config, document)

    # --- notes ---

    def note(self, name, value):
        if isinstance(value, bool):
            value = "yes" if value else "no"
        self.facts[name] = self.plain(str(value))

    def note_all(self, prefix, found):
        for name, value in found.items():
            self.note(self.plain(f"{prefix}: {name}"), value)

    def leave_out(self, *kinds):
        """Ends the case for oracles that it is not compared with."""
        if self.kind in kinds:
            raise LeftOut

    def must(self, holds, sentence):
        """For what a comparison cannot show, because the oracles are wrong: rung has to do it right."""
        if self.kind == "rung" and not holds:
            self.faults.append(self.plain(sentence))

    def plain(self, text):
        """What differs by nature is cut away: names of this run, of this container, of its directories."""
        for number, box in enumerate(self.boxes):
            mark = "" if number == 0 else str(number + 1)
            text = text.replace(box.bundle.rootfs, f"ROOTFS{mark}").replace(box.bundle.path, f"BUNDLE{mark}")
            text = text.replace(box.id, f"ID{mark}")
            if box.created_pid:
                text = re.sub(rf"\b{box.created_pid}\b", f"PID{mark}", text)
        text = text.replace(self.runtime.root, "STATE").replace(self.work, "WORK").replace(self.word, "WORD")
        text = re.sub(r"\b\d{4}-\d\d-\d\dT[\d:.]+(Z|[+-]\d\d:\d\d)", "TIME", text)
        return re.sub(r"/dev/pts/\d+", "/dev/pts/N", text)

    def step(self, verb, result, output=True):
        """Notes how a call ended. Returns the call's result."""
        count = self._steps[verb] = self._steps.get(verb, 0) + 1
        label = verb if count == 1 else f"{verb} ({count})"
        self.note(f"{label}: exit code", result.code)
        if output:
            self.note(f"{label}: output", result.out)
        if result.code != 0 and result.err.strip():
            self.note(f"{label}: wording", wording.phrases_of(result.err))
        if os.environ.get("CONFORMANCE_MESSAGES"):
            print(f"[{self.kind}] {result}", flush=True)
        # The exit code and the standard error of run and exec may be the process's own.
        if verb.split()[0] not in ("run", "exec"):
            self.must(result.code >= 0 and result.code not in (134, 139), f"{label} crashed: {result}")
            lines = result.err.strip().splitlines()
            self.must(result.code == 0 or len(lines) == 1, f"{label} failed with {len(lines)} lines instead of one: {result.err!r}")
        return result

    # --- verbs ---

    def create(self, *options, box=None, **how):
        return self.step("create", (box or self.box).create(*options, **how))

    def run(self, *options, box=None, **how):
        # A container that is expected to be refused must not keep the case waiting when it is not.
        if (box or self.box).config.get("process", {}).get("args") == LONG:
            (box or self.box).args("true")
        return self.step("run", (box or self.box).run(*options, **how))

    def detach(self, *options, box=None, **how):
        result = self.step("run", (box or self.box).run_detached(*options, **how))
        self._await_program(result, box or self.box)
        return result

    def start(self, box=None, **how):
        result = self.step("start", (box or self.box).start(**how))
        self._await_program(result, box or self.box)
        return result

    @staticmethod
    def _await_program(result, box):
        # The oracles' start returns a moment before the program is executed; until then its filter may be missing.
        deadline = time.monotonic() + 2
        while result.code == 0 and box.created_pid and host.is_alive(box.created_pid) and time.monotonic() < deadline:
            try:
                if os.path.basename(os.readlink(f"/proc/{box.created_pid}/exe")) in ("busybox", "probe"):
                    return
            except OSError:
                pass
            time.sleep(0.005)

    def exec(self, *args, options=(), box=None, **how):
        return self.step("exec", (box or self.box).exec(*args, options=options, **how))

    def kill(self, signal_name="KILL", *options, box=None):
        return self.step(" ".join(("kill", *options, signal_name)), (box or self.box).kill(signal_name, *options))

    def delete(self, *options, box=None):
        return self.step("delete", (box or self.box).delete(*options))

    def call(self, *args, label=None, output=True, **how):
        return self.step(label or args[0], self.runtime.call(*args, **how), output)

    def ready(self, script, *options):
        """Runs a script in the background, and returns once it has set itself up: `: >/ready` marks the place."""
        self.box.shell(script)
        self.detach(*options)
        host.wait_until(lambda: os.path.exists(self.box.bundle.inside("/ready")), 10, "the script's /ready")

    def state(self, box=None):
        """Notes what engines read of `state`."""
        result = self.step("state", self.runtime.call("state", (box or self.box).id), output=False)
        if result.code != 0:
            return None
        found = json.loads(result.out)
        # `created` and `owner` are extras of runc's; the process may be long gone.
        for name in ("ociVersion", "id", "status", "bundle", "rootfs", "annotations", "owner"):
            if name in found and name != "ociVersion":
                self.note(f"state ({self._steps['state']}): {name}", json.dumps(found[name], sort_keys=True))
        self.note(f"state ({self._steps['state']}): pid", "0" if found.get("pid") == 0 else "a process")
        return found

    def shell(self, script, *options, **how):
        """Runs a shell script as the container, in the foreground."""
        self.box.shell(script)
        return self.run(*options, **how)

    def stop(self, box=None):
        """Kills the container's init and waits until the runtime calls it stopped."""
        box = box or self.box
        box.kill("KILL")
        box.wait_stopped()
        host.reap_ended()

    # --- bundles of facts ---

    def inside(self, *options, writes=(), **how):
        """Runs the probe as the container's process, and notes all that it finds."""
        usual = self.process.get("args")
        self.process["args"] = ["/bin/probe", *[word for path in writes for word in ("-w", path)]]
        result = self.step("run", self.box.run(*options, **how), output=False)
        self.process["args"] = usual
        if result.code == 0:
            self.note_all("inside", facts.of_probe(result.out))
        return result

    def inside_exec(self, options=(), writes=(), **how):
        """Runs the probe with exec in the running container."""
        result = self.step("exec", self.box.exec("/bin/probe", *[word for path in writes for word in ("-w", path)], options=options, **how),
                           output=False)
        if result.code == 0:
            self.note_all("exec", facts.of_probe(result.out))
        return result

    def outside(self, label="outside", box=None):
        """Notes what the host sees of the container's init and its cgroups."""
        pid = (box or self.box).created_pid
        if pid and host.is_alive(pid):
            self.note_all(label, facts.of_process(pid))
            self.note_all(label, facts.of_cgroup(pid))

    def left(self, label="left", box=None):
        """Notes what the host still has of a container that should be gone, without any delete."""
        found = self._leftovers(box or self.box)
        self.note(f"{label}: on the host", "; ".join(sorted(found)) or "nothing")
        self.must(not found, f"{label}: {found}")

    def background(self, *command, **how):
        """A process of the host that lives as long as the case."""
        child = subprocess.Popen(command, stdin=subprocess.DEVNULL, **how)
        self._children.append(child)
        return child

    # --- the end ---

    def limit_time(self):
        def too_long(_signal, _frame):
            raise AssertionError(f"the case took longer than {SECONDS} s")
        signal.signal(signal.SIGALRM, too_long)
        signal.alarm(SECONDS)

    def finish(self):
        """A forced delete has to remove everything; then the host is swept, whatever happened."""
        signal.alarm(0)
        try:
            self._delete_all()
        finally:
            for console in self.consoles:
                console.close()
            for child in self._children:
                child.kill()
                child.wait()
            host.sweep(self.word, self.work)
            shutil.rmtree(self.work, ignore_errors=True)

    def _delete_all(self):
        host.reap_orphans()
        left = []
        for box in reversed(self.boxes):
            result = box.delete("--force")
            self.must(result.code == 0, f"the last forced delete: {result}")
        for box in self.boxes:
            left += self._leftovers(box)
        self.note("in the end: on the host", "; ".join(sorted(left)) or "nothing")
        self.must(not left, f"left on the host after delete --force: {left}")

    def _leftovers(self, box):
        if box.created_pid:
            host.reap(box.created_pid)
        found = {f"cgroup {re.sub('^/sys/fs/cgroup', '', path)}" for path in host.cgroup_directories(box.id)}
        found |= {f"mount {path}" for path in host.mounts_below(box.bundle.path)}
        if os.path.exists(os.path.join(self.runtime.root, box.id)):
            found.add("state directory")
        try:
            host.wait_until(lambda: not self._living(box.id), 2)
        except AssertionError:
            found.add("a process")
        host.reap_orphans()
        return sorted(found)

    def _living(self, word):
        own = {child.pid for child in self._children}
        return [pid for pid in host.processes_of(word) if host.is_alive(pid) and pid not in own]

"""The base of every test: containers that are always cleaned up, and leftovers that always fail the test.

SPDX-License-Identifier: Apache-2.0
"""

import functools
import itertools
import os
import shutil
import signal
import tempfile
import unittest

from rungtest import host
from rungtest.container import Container
from rungtest.runtime import Runtime, find_runtime, kind_of

CASE_SECONDS = 60
_numbers = itertools.count(1)


class Case(unittest.TestCase):
    longMessage = True
    seconds = CASE_SECONDS

    @classmethod
    def setUpClass(cls):
        host.become_subreaper()
        cls.runtime_path = find_runtime()
        cls.kind = kind_of(cls.runtime_path)

    def setUp(self):
        # The name is unique over parallel runs; every object that the test makes on the host carries it.
        self.word = f"rt{os.getpid()}n{next(_numbers)}"
        # os.path.realpath: mountinfo has no symlinks in it.
        self.work = os.path.realpath(tempfile.mkdtemp(prefix=f"{self.word}-"))
        os.chmod(self.work, 0o755)
        self.runtime = Runtime(self.runtime_path, os.path.join(self.work, "state"))
        self.containers = []
        self.addCleanup(self._remove_everything)
        signal.signal(signal.SIGALRM, self._too_long)
        signal.alarm(self.seconds * host.PATIENCE)

    def container(self, name=None, cgroup_parent=None):
        name = name or f"c{len(self.containers)}"
        made = Container(self.runtime, self.work, f"{self.word}{name}", cgroup_parent or f"/{self.word}")
        self.containers.append(made)
        return made

    def _too_long(self, _signal, _frame):
        raise AssertionError(f"the case took longer than {self.seconds * host.PATIENCE} s")

    def _remove_everything(self):
        signal.alarm(0)
        try:
            leftovers = self._delete_and_look()
        finally:
            host.sweep(self.word, self.work)
            shutil.rmtree(self.work, ignore_errors=True)
        self.assertEqual(leftovers, [], "left on the host after delete")

    def _delete_and_look(self):
        """Every test ends like this: `delete --force` must succeed, then nothing may be left."""
        leftovers = []
        host.reap_orphans()
        for made in reversed(self.containers):
            result = made.delete("--force")
            # crun 1.8 minds when its root was never made.
            if result.code != 0 and not (self.kind == "crun" and "No such file" in result.err):
                leftovers.append(f"delete --force: {result}")
        for made in self.containers:
            if made.created_pid:
                host.reap(made.created_pid)
            leftovers += self.leftovers_of(made)
        return leftovers

    def leftovers_of(self, container):
        """What the host still has of a container that is gone."""
        found = [f"cgroup {path}" for path in host.cgroup_directories(container.id)]
        found += [f"mount {path}" for path in host.mounts_below(container.bundle.path)]
        state = os.path.join(self.runtime.root, container.id)
        if os.path.exists(state):
            found.append(f"state {state}")
        # A process that was killed may need a moment to be gone.
        try:
            host.wait_until(lambda: not _living(container.id), 2)
        except AssertionError:
            found += [f"process {pid}" for pid in _living(container.id)]
        host.reap_orphans()
        return found

    # --- words that tests use ---

    def succeed(self, result):
        self.assertEqual(result.code, 0, repr(result))
        return result

    def prints(self, result, text):
        """The call succeeded and printed exactly this, up to white space at the ends."""
        self.succeed(result)
        self.assertEqual(result.out.strip(), text.strip(), repr(result))

    def output_of(self, container, script):
        """What a shell script prints inside a fresh run of the container."""
        return self.succeed(container.shell(script).run()).out.strip()

    def fails(self, result, *words, code=1):
        """One clear line on standard error with all of `words` in it, this exit code, and nothing on standard output."""
        self.assertEqual(result.code, code, repr(result))
        plain = result.err.replace('\\"', '"')  # runc quotes its message
        for word in words:
            self.assertIn(word, plain, repr(result))
        if self.kind == "rung":
            self.assertEqual(len(result.err.strip().splitlines()), 1, repr(result))
        return result

    def is_gone(self, container):
        """A failed create leaves nothing behind, without any delete."""
        if container.created_pid:
            host.reap(container.created_pid)
        self.assertEqual(self.leftovers_of(container), [])


def _living(word):
    return [pid for pid in host.processes_of(word) if host.is_alive(pid)]


def only_rung(reason):
    """For what the others do not have. The reason is printed."""
    return differs(runc=reason, crun=reason)


def differs(**reasons):
    """For what an oracle of Debian 12 gets wrong: `@differs(crun="...")`. Never skips on rung."""
    def decorate(test):
        @functools.wraps(test)
        def wrapped(self):
            if self.kind in reasons:
                self.skipTest(f"{self.kind}: {reasons[self.kind]}")
            test(self)
        return wrapped
    return decorate

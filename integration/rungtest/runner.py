"""Runs test modules in a few processes and closes with one line: "N passed, N failed".

SPDX-License-Identifier: Apache-2.0
"""

import importlib
import json
import os
import subprocess
import sys
import threading
import time
import unittest


class Result(unittest.TestResult):
    """Counts, and keeps what failed for a short report."""

    def __init__(self):
        super().__init__()
        self.passed, self.broken, self.skips, self.slowest = 0, [], [], []
        self._started = 0.0

    def startTest(self, test):
        super().startTest(test)
        self._started = time.monotonic()

    def stopTest(self, test):
        super().stopTest(test)
        self.slowest.append((round(time.monotonic() - self._started, 2), sentence(test)))

    def addSuccess(self, test):
        self.passed += 1

    def addFailure(self, test, error):
        self._note(test, error)

    def addError(self, test, error):
        self._note(test, error)

    def addSubTest(self, test, subtest, error):
        if error is not None:
            self._note(subtest, error)

    def addSkip(self, test, reason):
        self.skips.append((sentence(test), reason))

    def _note(self, test, error):
        name = sentence(test)
        text = self._exc_info_to_string(error, test)
        if self.broken and self.broken[-1][0] == name:
            self.broken[-1][1] += text  # a cleanup that fails after its test
        else:
            self.broken.append([name, text])


def sentence(test):
    """test_a_full_disk_is_named of class Errors -> "errors: a full disk is named"."""
    identifier = test.id()
    detail = ""
    if " " in identifier:  # a subtest: "module.Class.test (item=1)"
        identifier, detail = identifier.split(" ", 1)
    parts = identifier.split(".")
    name = parts[-1].removeprefix("test_").replace("_", " ")
    return f"{parts[-3] if len(parts) > 2 else ''}: {name} {detail}".strip()


def run_module(name, pattern):
    """In a worker: runs one module and prints its result as one line of JSON."""
    suite = unittest.defaultTestLoader.loadTestsFromModule(importlib.import_module(name))
    result = Result()
    _filter(suite, pattern).run(result)
    print(json.dumps({"passed": result.passed, "broken": result.broken, "skips": result.skips,
                      "slowest": result.slowest}))


def _filter(suite, pattern):
    kept = unittest.TestSuite()
    for item in suite:
        if isinstance(item, unittest.TestSuite):
            kept.addTest(_filter(item, pattern))
        elif pattern in item.id() or pattern in sentence(item):
            kept.addTest(item)
    return kept


def run_modules(directory, modules, pattern="", jobs=2):
    """Runs the modules, `jobs` at a time, and reports. Returns the exit code."""
    started = time.monotonic()
    totals = {"passed": 0, "broken": [], "skips": [], "slowest": []}
    waiting, lock = list(modules), threading.Lock()

    def work():
        while True:
            with lock:
                if not waiting:
                    return
                name = waiting.pop(0)
            answer = _in_process(directory, name, pattern)
            with lock:
                for key, value in answer.items():
                    totals[key] += value
                _report(name, answer)

    threads = [threading.Thread(target=work) for _ in range(jobs)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for seconds, name in sorted(totals["slowest"], reverse=True)[:3]:
        if seconds > 5:
            print(f"slow: {seconds} s: {name}")
    print(f"took {time.monotonic() - started:.0f} s")
    skipped = f", {len(totals['skips'])} skipped" if totals["skips"] else ""
    print(f"{totals['passed']} passed, {len(totals['broken'])} failed{skipped}", flush=True)
    return 1 if totals["broken"] or not totals["passed"] else 0


def _in_process(directory, name, pattern):
    environment = {**os.environ, "PYTHONPATH": directory, "PYTHONDONTWRITEBYTECODE": "1"}
    done = subprocess.run(
        [sys.executable, "-c", f"from rungtest.runner import run_module; run_module({name!r}, {pattern!r})"],
        env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
    try:
        return json.loads(done.stdout.decode().splitlines()[-1])
    except (IndexError, ValueError):
        text = f"the worker ended with {done.returncode}\n{done.stderr.decode(errors='replace')[-3000:]}"
        return {"passed": 0, "broken": [[name, text]], "skips": [], "slowest": []}


def _report(name, answer):
    for sentence_, reason in answer["skips"]:
        print(f"skipped: {sentence_} ({reason})")
    for sentence_, text in answer["broken"]:
        print(f"FAILED: {sentence_}")
        for line in text.strip().splitlines()[-14:]:
            print(f"    {line[:600]}")
    print(f"{name}: {answer['passed']} passed, {len(answer['broken'])} failed", flush=True)

"""Hands trials to worker processes, and judges a case as soon as every runtime has done it.

SPDX-License-Identifier: Apache-2.0
"""

import concurrent.futures
import importlib
import inspect
import multiprocessing
import os
import shutil
import subprocess
import sys
import tempfile
import time
import traceback

from rungtest import host
from rungtest.runtime import DEFAULT_RUNTIME, find_runtime

from conformance import judge, workplace
from conformance.trial import LeftOut, Trial

HERE = os.path.dirname(os.path.abspath(__file__))


def cases_of(module_name):
    """(name, function) of each case; functions come in the order of the file."""
    module = importlib.import_module(f"conformance.cases.{module_name}")
    found = [(function.__code__.co_firstlineno, name, function) for name, function in inspect.getmembers(module, inspect.isfunction)
             if not name.startswith("_") and function.__module__ == module.__name__]
    named = [(f"{module_name}: {name.replace('_', ' ')}", function) for _, name, function in sorted(found)]
    # Cases that come from files: a generator of (name, function).
    return named + [(f"{module_name}: {name}", function) for name, function in getattr(module, "_from_files", list)()]


def _all_cases(modules):
    names = modules or sorted(name[:-3] for name in os.listdir(os.path.join(HERE, "cases"))
                              if name.endswith(".py") and name != "__init__.py")
    return [case for name in names for case in cases_of(name)]


def _trial(case_name, kind, path, probe):
    """In a worker: one case under one runtime."""
    function = _trial.cases[case_name]
    trial = Trial(kind, path, probe)
    started = time.monotonic()
    trial.limit_time()
    left_out = False
    try:
        function(trial)
    except LeftOut:
        left_out = True
    except Exception as error:  # noqa: BLE001: an oracle may do anything; it is a fact like others
        trial.note("the case", f"broke off: {str(error).splitlines()[0] if str(error) else type(error).__name__}")
        trial.must(False, "".join(traceback.format_exception(error)[-3:]))
    try:
        trial.finish()
    except Exception as error:  # noqa: BLE001
        trial.note("the end of the case", f"broke off: {error}")
        trial.must(False, "".join(traceback.format_exception(error)[-3:]))
    return {"facts": trial.facts, "faults": trial.faults, "left out": left_out, "seconds": time.monotonic() - started}


def _begin_worker(cases):
    host.become_subreaper()
    _trial.cases = cases
    null = os.open(os.devnull, os.O_RDONLY)
    os.dup2(null, 0)
    os.close(null)


def main(chosen):
    cases = [(name, function) for name, function in _all_cases(chosen.modules) if chosen.k in name]
    if chosen.l:
        print("\n".join(name for name, _ in cases))
        return 0
    runtimes = {"rung": find_runtime() if "RUNTIME" in os.environ else DEFAULT_RUNTIME}
    for oracle in judge.ORACLES:
        runtimes[oracle] = shutil.which(oracle)
    for kind, path in runtimes.items():
        if not path or not os.access(path, os.X_OK):
            raise SystemExit(f"there is no {kind}{f' at {path}' if path else ''}; `make` builds rung, deploy/packages installs the others")
    accepted = judge.explanations()
    workplace.make_private()
    tools = tempfile.mkdtemp(prefix="rung-conformance-")
    try:
        probe = os.path.join(tools, "probe")
        subprocess.run(["gcc", "-O1", "-static", "-o", probe, os.path.join(HERE, "probe.c")], check=True)
        return _run(cases, runtimes, probe, accepted, chosen)
    finally:
        shutil.rmtree(tools, ignore_errors=True)


def _run(cases, runtimes, probe, accepted, chosen):
    started, passed, failed, slow = time.monotonic(), 0, 0, []
    context = multiprocessing.get_context("fork")
    with concurrent.futures.ProcessPoolExecutor(chosen.j, context, _begin_worker, (dict(cases),)) as pool:
        running = {name: {kind: pool.submit(_trial, name, kind, path, probe) for kind, path in runtimes.items()} for name, _ in cases}
        for name, futures in running.items():
            observed = {kind: future.result() for kind, future in futures.items()}
            observed = {kind: one for kind, one in observed.items() if not one["left out"]}
            slow += [(one["seconds"], f"{name} ({kind})") for kind, one in observed.items()]
            complaints = judge.judge(name, observed, accepted)
            again = {line.split(":", 1)[0] for line in complaints} & set(judge.ORACLES)
            if again and "rung" not in {line.split(":", 1)[0] for line in complaints}:
                # The oracles have races of their own. Only they get a second try: what rung did stands.
                for kind in again:
                    observed[kind] = pool.submit(_trial, name, kind, runtimes[kind], probe).result()
                complaints = judge.judge(name, observed, accepted)
                if not complaints:
                    print(f"differed once: {name} ({', '.join(sorted(again))})")
            passed, failed = passed + (not complaints), failed + bool(complaints)
            _report(name, observed, complaints, chosen)
    if not chosen.k and not chosen.modules:
        old = judge.stale(accepted)
        failed += len(old)
        for line in old:
            print(f"FAILED: stale explanation: {line}")
    for seconds, name in sorted(slow, reverse=True)[:3]:
        print(f"slowest: {seconds:.1f} s: {name}")
    print(f"{len(accepted)} explanations; took {time.monotonic() - started:.0f} s")
    print(f"{passed} passed, {failed} failed", flush=True)
    return 1 if failed or not passed else 0


def _report(name, observed, complaints, chosen):
    if chosen.facts:
        print(f"== {name}")
        for fact in sorted({fact for one in observed.values() for fact in one["facts"]}):
            values = {kind: one["facts"].get(fact, judge.ABSENT) for kind, one in observed.items()}
            same = len(set(values.values())) == 1
            print(f"  {fact}: {values['rung']}" if same else f"! {fact}: {values}")
    if complaints and chosen.propose:
        print("\n".join(f"{name} | {line.split(': ', 1)[0]} | {line.split(': ', 1)[1]} | " for line in complaints
                        if not line.startswith((" ", "rung:"))))
    elif complaints:
        print(f"FAILED: {name}")
        for complaint in complaints:
            for line in complaint.splitlines():
                print(f"    {line}")
    sys.stdout.flush()

"""Compares what rung did with what an oracle did, and holds each difference against the explanations in accepted.txt.

SPDX-License-Identifier: Apache-2.0
"""

import fnmatch
import os

ORACLES = ("runc", "crun")
FILE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "accepted.txt")
ABSENT = "(absent)"


LARGE = ("inside", "exec", "outside", "created", "running")


def _group(fact):
    group, _, name = fact.partition(": ")
    return None if name in ("", "exit code", "output", "wording") else group


def _groups(facts):
    return {_group(name) for name in facts}


class Explanation:
    """One line of the file: CASE | RUNTIMES | FACT | WHY; case and fact may have * and ? in them.

    "runc?" is a runtime in which the difference comes and goes, so it is never stale.
    """

    def __init__(self, number, line):
        fields = [field.strip() for field in line.split(" | ")]
        if len(fields) != 4 or not all(fields) or not set(fields[1].replace("?", "").split()) <= set(ORACLES):
            raise SystemExit(f"accepted.txt:{number}: a line is CASE | RUNTIMES | FACT | WHY: {line}")
        self.number, self.case, self.runtimes, self.fact, self.why = number, fields[0], fields[1].split(), fields[2], fields[3]
        self.used = {runtime.rstrip("?"): 0 for runtime in self.runtimes}
        self.fickle = {runtime.rstrip("?") for runtime in self.runtimes if runtime.endswith("?")}

    def covers(self, case, runtime, fact):
        return runtime in self.used and fnmatch.fnmatchcase(case, self.case) and fnmatch.fnmatchcase(fact, self.fact)

    def __str__(self):
        return f"accepted.txt:{self.number}: {self.case} | {' '.join(self.runtimes)} | {self.fact}"


def explanations(path=FILE):
    with open(path, encoding="utf-8") as file:
        lines = [(number, line.strip()) for number, line in enumerate(file, 1)]
    return [Explanation(number, line) for number, line in lines if line and not line.startswith("#")]


def differences(rung, other):
    """(fact, rung's value, the other's value) of each fact in which they are not the same.

    Where only one of them got as far as a whole group of facts ("inside: ..."), that is one difference.
    """
    lone = _groups(rung) ^ _groups(other)
    rung, other = ({name: text for name, text in facts.items() if _group(name) not in lone or _group(name) not in LARGE}
                   | {f"{group}: everything": "some facts" for group in lone & _groups(facts) if group in LARGE}
                   for facts in (rung, other))
    return [(fact, rung.get(fact, ABSENT), other.get(fact, ABSENT)) for fact in sorted(set(rung) | set(other))
            if rung.get(fact, ABSENT) != other.get(fact, ABSENT) and not _only_the_oracle_left_something(fact, rung)]


def _only_the_oracle_left_something(fact, rung):
    # What rung leaves is a fault in any case; an oracle may be slow to clean up on a busy machine.
    return fact.endswith(": on the host") and rung.get(fact, "nothing") == "nothing"


def judge(case, observed, accepted):
    """Lines that say what is wrong with the case; none when everything is the same or explained.

    `observed` is {runtime: {"facts": {...}, "faults": [...]}}.
    """
    complaints = [f"rung: {fault}" for fault in observed["rung"]["faults"]]
    for oracle in ORACLES:
        if oracle not in observed:
            continue
        for fact, ours, theirs in differences(observed["rung"]["facts"], observed[oracle]["facts"]):
            explaining = [line for line in accepted if line.covers(case, oracle, fact)]
            for line in explaining:
                line.used[oracle] += 1
            if not explaining:
                complaints += [f"{oracle}: {fact}", f"    rung: {_short(ours)}", f"    {oracle}: {_short(theirs)}"]
    return complaints


def stale(accepted):
    """Explanations of what no longer occurs."""
    return [f"{line}: {runtime} and rung no longer differ in this" for line in accepted
            for runtime, count in line.used.items() if count == 0 and runtime not in line.fickle]


def _short(text):
    return text if len(text) <= 400 else f"{text[:300]} … {text[-90:]}"

"""Every source says its licence, and nothing in the tree is unfinished or belongs to one machine.

SPDX-License-Identifier: Apache-2.0
"""

import re

import tree

# Written in pieces, so that this file does not complain about itself.
UNFINISHED = re.compile(r"\b(TO" r"DO|FIX" r"ME|XX" r"X|HA" r"CK)\b|not imple" r"mented")
MACHINE = re.compile(r"/wo" r"rk/(main|steering|shared|\.library|\.mirror)|/fa" r"rm/|/tmp/bash_" r"jobs")
LICENSED = (".cpp", ".hpp", ".py", ".sh", ".cmake")
EXEMPT = ("LICENSE",)


def complaints_about(path, text):
    found = []
    if path in EXEMPT:
        return found
    if path.endswith(LICENSED) or text.startswith("#!"):
        if "SPDX-License-Identifier: Apache-2.0" not in text[:2000]:
            found.append(f"{path}: no SPDX line near the top")
    for number, line in enumerate(text.splitlines(), 1):
        if UNFINISHED.search(line):
            found.append(f"{path}:{number}: unfinished: {line.strip()[:100]}")
        if MACHINE.search(line):
            found.append(f"{path}:{number}: a path of one machine: {line.strip()[:100]}")
    return found


def check():
    return [complaint for path in tree.tracked() for complaint in complaints_about(path, tree.read(path))]


def self_test():
    licence = "// SPDX-License-Identifier: Apache-2.0\n"
    assert not complaints_about("a.cpp", licence + "int todo_list; // see /work and /workshop/main\n")
    assert complaints_about("a.cpp", "int x;\n"), "a file without a licence"
    assert complaints_about("a.cpp", licence + "// TO" "DO: later\n"), "an unfinished line"
    assert complaints_about("a.cpp", licence + 'open("/wo' 'rk/main");\n'), "a machine's path"

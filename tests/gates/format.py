"""The C++ is formatted as .clang-format says.

SPDX-License-Identifier: Apache-2.0
"""

import os
import subprocess

import tree

COMMAND = ["clang-format-14", "--dry-run", "-Werror", f"--style=file:{tree.ROOT}/.clang-format"]


def complaints_about(arguments, text=None):
    done = subprocess.run(COMMAND + arguments, input=text, capture_output=True, text=True, check=False)
    return sorted({line.split(":")[0].replace(tree.ROOT + "/", "") for line in done.stderr.splitlines()
                   if ": error:" in line}) or ([] if done.returncode == 0 else [done.stderr.strip()[:300]])


def check():
    paths = tree.files("cmd", "lib", "tests", "integration")
    return complaints_about([os.path.join(tree.ROOT, path) for path in paths])


def self_test():
    assert not complaints_about([], "int x = 1;\n")
    assert complaints_about([], "int   x=1 ;\n"), "a badly formatted line"

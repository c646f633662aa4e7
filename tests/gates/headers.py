"""Every header compiles alone: it includes what it uses.

SPDX-License-Identifier: Apache-2.0
"""

import os
import subprocess
from concurrent.futures import ThreadPoolExecutor

import tree

COMMAND = ["g++", "-std=c++20", "-D_GNU_SOURCE", "-fsyntax-only", "-Wall", "-Wextra", "-Werror",
           f"-I{tree.ROOT}/lib", f"-I{tree.ROOT}/cmd", "-x", "c++", "-"]


def complaints_about(text, name):
    # A file that only includes it: `#pragma once` in a main file would be a warning.
    done = subprocess.run(COMMAND, input=text, capture_output=True, text=True, check=False)
    return [] if done.returncode == 0 else [f"{name}: {done.stderr.strip().splitlines()[0][:300]}"]


def check():
    headers = tree.files("cmd", "lib", suffixes=(".hpp",))
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        answers = pool.map(lambda path: complaints_about(f'#include "{tree.ROOT}/{path}"\n', path), headers)
    return [complaint for answer in answers for complaint in answer]


def self_test():
    assert not complaints_about("#include <string>\nstd::string f();\n", "good")
    assert complaints_about("std::string f();\n", "bad"), "a header that uses what it does not include"

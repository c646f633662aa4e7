"""What object files define and need, read with nm.

SPDX-License-Identifier: Apache-2.0
"""

import os
import subprocess


class Object:
    def __init__(self, name):
        self.name, self.defined, self.undefined = name, set(), set()


def objects_of(archive):
    """The members of a static library."""
    done = subprocess.run(["nm", "--format=posix", archive], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise SystemExit(f"nm {archive}: {done.stderr.strip()}")
    members = []
    for line in done.stdout.splitlines():
        fields = line.split()
        if line.endswith("]:"):
            members.append(Object(line[line.index("[") + 1:-2]))
        elif len(fields) >= 2 and members:
            weak_undefined = fields[1] in "wv" and len(fields) == 2
            (members[-1].undefined if fields[1] == "U" or weak_undefined else members[-1].defined).add(fields[0])
    return members


def demangled(names):
    names = sorted(names)
    done = subprocess.run(["c++filt"], input="\n".join(names), capture_output=True, text=True, check=True)
    return dict(zip(names, done.stdout.splitlines()))


def build_directory():
    return os.environ["RUNG_BUILD"]


def archive(layer):
    return os.path.join(build_directory(), f"librung_{layer}.a")


def layers():
    return sorted(name[len("librung_"):-2] for name in os.listdir(build_directory())
                  if name.startswith("librung_") and name.endswith(".a"))


def reachable(start, everything):
    """The objects that `start` pulls in from `everything`, themselves included."""
    home = {symbol: one for one in everything for symbol in one.defined}
    seen, waiting = [], list(start)
    while waiting:
        one = waiting.pop()
        if one in seen:
            continue
        seen.append(one)
        waiting += [home[symbol] for symbol in one.undefined if symbol in home]
    return seen

"""The source tree as the gates see it: which files there are, and what stands in them.

SPDX-License-Identifier: Apache-2.0
"""

import os
import subprocess

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
SOURCES = (".cpp", ".hpp")


def files(*directories, suffixes=SOURCES):
    """Paths relative to the root, sorted."""
    found = []
    for directory in directories:
        for place, names, entries in os.walk(os.path.join(ROOT, directory)):
            names[:] = [name for name in names if not name.startswith((".", "build", "__pycache__"))]
            found += [os.path.relpath(os.path.join(place, entry), ROOT) for entry in entries
                      if entry.endswith(suffixes)]
    return sorted(found)


def tracked():
    """Every file that is committed or is about to be; without Git, every file that is not a build."""
    listed = subprocess.run(["git", "-C", ROOT, "ls-files", "-co", "--exclude-standard"], capture_output=True, text=True,
                            check=False)
    if listed.returncode == 0:
        return sorted(path for path in listed.stdout.splitlines() if os.path.isfile(os.path.join(ROOT, path)))
    return files(".", suffixes=("",))


def read(path):
    with open(os.path.join(ROOT, path), encoding="utf-8", errors="replace") as file:
        return file.read()

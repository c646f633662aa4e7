"""Programs of this host put into a bundle, with the loader and the libraries that they name.

SPDX-License-Identifier: Apache-2.0
"""

import os
import re
import shutil
import subprocess


def put_program(bundle, source, destination=None):
    """Copies a dynamic program, and what ldd says it needs at the very paths it says; returns its loader's path."""
    needed = subprocess.run(["ldd", source], check=True, capture_output=True, text=True).stdout
    loader = None
    for library in re.findall(r"(/\S+) \(0x", needed):
        _copy(library, bundle.inside(library))
        if os.path.basename(library).startswith("ld-"):
            loader = library
    _copy(source, bundle.inside(destination or source))
    return loader


def _copy(source, destination):
    os.makedirs(os.path.dirname(destination), exist_ok=True)
    shutil.copy(os.path.realpath(source), destination)

"""Attacks on a grant: a container with /bin/attack in it (attacks/attack.c), and what becomes of each attempt.

SPDX-License-Identifier: Apache-2.0
"""

import json
import os
import shutil
import subprocess
import tempfile

from rungtest.case import Case

SOURCE = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "attacks", "attack.c")

# The image can be read and run, /scratch and /work/out can be written; everything else is closed.
GRANT = {
    "grantVersion": "1",
    "filesystem": {"rootfs": "readOnly", "readWrite": ["/work/out"], "hidden": ["/secrets", "/etc/key"],
                   "tmpfs": [{"path": "/scratch", "size": "8Mi"}]},
    "tools": ["/"],
}


def grant_with(**sections):
    """GRANT with other sections."""
    return {**GRANT, **sections}


class Attacked(Case):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.tools = tempfile.mkdtemp(prefix="rung-attack-")
        cls.addClassCleanup(shutil.rmtree, cls.tools)
        cls.program = os.path.join(cls.tools, "attack")
        subprocess.run(["gcc", "-O1", "-static", "-o", cls.program, SOURCE], check=True)

    def target(self):
        """A container with something to steal, something to spoil, and a place of its own."""
        box = self.container()
        shutil.copy(self.program, box.bundle.inside("/bin/attack"))
        for directory in ("/work/in", "/work/out", "/work/output", "/scratch"):
            os.makedirs(box.bundle.inside(directory))
        box.bundle.put("/secrets/key", "secret\n")
        box.bundle.put("/etc/key", "secret\n")
        box.bundle.put("/work/in/data", "data\n")
        return box

    def grant_file(self, document, name="grant"):
        path = os.path.join(self.work, f"{name}.json")
        with open(path, "w", encoding="utf-8") as file:
            file.write(document if isinstance(document, str) else json.dumps(document))
        return path

    def under(self, box, *documents, verb="run"):
        """Runs it under these grants; GRANT when none is named."""
        options = []
        for number, document in enumerate(documents or (GRANT,)):
            options += ["--grant", self.grant_file(document, f"grant{number}")]
        return box.run_detached(*options) if verb == "detach" else box.run(*options)

    def becomes(self, expected, *documents, box=None):
        """Makes each attempt in a container under the grants: {"write /x": "EROFS", ...}; a set allows several."""
        box = box or self.target()
        box.args("/bin/attack", *expected)
        result = self.succeed(self.under(box, *documents))
        self.outcomes_are(result.out, expected)

    def outcomes_are(self, text, expected):
        seen = dict(line.rsplit(": ", 1) for line in text.strip().splitlines())
        wrong = {attempt: seen.get(attempt, "not reached") for attempt, wanted in expected.items()
                 if seen.get(attempt) not in (wanted if isinstance(wanted, set) else {wanted})}
        self.assertEqual(wrong, {}, "attempts with another outcome than expected")

    def refused(self, document, *words, box=None):
        """No container comes of it: one line that says why, and nothing is left."""
        box = (box or self.container()).args("true")
        self.fails(self.under(box, document), *words)
        self.is_gone(box)

"""The words of a failed call that an engine or a public suite looks for; everything else of a message is a runtime's own.

SPDX-License-Identifier: Apache-2.0
"""

# Engines decide by these: which exit code `docker run` gives, whether a pod counts as gone, whether to try again.
PHRASES = (
    "container does not exist", "does not exist", "container not running", "container is not running", "no such process",
    "cannot exec in a paused container", "cannot exec in a stopped container", "cannot start a container that has stopped",
    "cannot start an already running container", "that is not stopped", "container with given ID already exists",
    "invalid container ID format", "executable file not found", "no such file or directory", "permission denied", "is a directory",
    "operation not permitted", "not a directory", "chdir to cwd", "must be an absolute path", "must be mounted on ordinary directory",
    "error mounting", "error running", "container's cgroup is not empty", "container's cgroup unexpectedly frozen",
    "bad sub cgroup path", "rejecting memory limit", "rejecting memory+swap limit", "invalid argument", "device or resource busy",
    "is not supported", "cannot allocate tty",
)
# Two that hold a third one, or that say more than it.
IMPLIED = {"container does not exist": "does not exist", "must be mounted on ordinary directory": None}


def phrases_of(message):
    """The phrases in an error message, as one text that can be compared."""
    plain = message.replace('\\"', '"').lower()
    found = [phrase for phrase in PHRASES if phrase.lower() in plain]
    return ", ".join(phrase for phrase in found if phrase not in [IMPLIED.get(other) for other in found]) or "none that engines know"

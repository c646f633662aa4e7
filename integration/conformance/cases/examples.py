"""Good and bad values of each field of config.json: runc is the oracle of what is accepted and what is refused.

SPDX-License-Identifier: Apache-2.0
"""

import copy
import json
import os

EXAMPLES = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "examples")


def _from_files():
    """One case for each file."""
    return [(name[:-5], lambda t, name=name: _each(t, name)) for name in sorted(os.listdir(EXAMPLES)) if name.endswith(".json")]


def _each(t, name):
    # crun 1.8 looks at very little of a config.
    t.leave_out("crun")
    with open(os.path.join(EXAMPLES, name), encoding="utf-8") as file:
        document = json.load(file)
    usual = copy.deepcopy(t.config)
    for kind in ("good", "bad"):
        for piece in document[kind]:
            t.config.clear()
            t.config.update(copy.deepcopy(usual))
            t.patch(piece)
            result = t.box.create()
            t.note(f"{kind} {json.dumps(piece)}", "accepted" if result.code == 0 else "refused")
            if result.code != 0:
                lines = result.err.strip().splitlines()
                t.must(len(lines) == 1, f"{kind} {piece}: {len(lines)} lines instead of one: {result.err!r}")
            t.must(result.code in (0, 1), f"{kind} {piece}: exit code {result.code}")
            t.box.delete("--force")
    t.config.clear()
    t.config.update(usual)


def a_file_that_is_not_there(t):
    t.box.bundle.write()
    os.unlink(os.path.join(t.box.bundle.path, "config.json"))
    t.call("create", "--bundle", t.box.bundle.path, t.box.id)


def texts_that_are_no_config(t):
    for text in ("", "{", "[]", "null", '"text"', "5", "{} {}", "\ufeff{}", "{}", '{"ociVersion": "1.0.2"}'):
        t.box.bundle.write()
        with open(os.path.join(t.box.bundle.path, "config.json"), "w", encoding="utf-8") as file:
            file.write(text)
        t.step(f"create of {text!r}", t.runtime.call("create", "--bundle", t.box.bundle.path, t.box.id))
        t.box.delete("--force")


def the_letters_of_keys(t):
    # Go's library matches keys whatever their case.
    t.box.bundle.write()
    path = os.path.join(t.box.bundle.path, "config.json")
    text = open(path, encoding="utf-8").read().replace('"hostname"', '"HostName"').replace('"args": ["sleep", "100"]', '"ARGS": ["hostname"]')
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
    t.leave_out("crun")
    t.call("run", "--bundle", t.box.bundle.path, t.box.id)


def a_key_twice(t):
    t.box.bundle.write()
    path = os.path.join(t.box.bundle.path, "config.json")
    text = open(path, encoding="utf-8").read().replace('"hostname": "box"', '"hostname": "first", "hostname": "second"').replace(
        '["sleep", "100"]', '["hostname"]')
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
    t.leave_out("crun")
    t.call("run", "--bundle", t.box.bundle.path, t.box.id)


def a_config_of_a_megabyte(t):
    t.config["annotations"] = {f"key{number}": "x" * 1000 for number in range(1000)}
    t.box.args("true")
    t.run()


def a_config_that_is_a_directory(t):
    os.mkdir(os.path.join(t.box.bundle.path, "config.json"))
    t.call("create", "--bundle", t.box.bundle.path, t.box.id)

"""What runs between clone and exec stays inside the list of names in child_symbols.txt.

After clone the child shares nothing it may wait for: no allocation, no lock, no exception.
SPDX-License-Identifier: Apache-2.0
"""

import os

import symbols
import tree

LIST = "tests/gates/child_symbols.txt"


def allowed_names(text):
    return {line.split("#")[0].strip() for line in text.splitlines()} - {""}


def complaints_about(objects, allowed):
    inside = {symbol for one in objects for symbol in one.defined}
    needed = {(one.name, symbol) for one in objects for symbol in one.undefined - inside}
    plain = symbols.demangled({symbol for _, symbol in needed} or {"none"})
    return sorted(f"{name} needs {plain[symbol]}" for name, symbol in needed
                  if symbol not in allowed and plain[symbol] not in allowed
                  and plain[symbol].split("(")[0] not in allowed)


def check():
    if not os.path.exists(os.path.join(tree.ROOT, LIST)):
        return [f"{LIST} is missing"]
    return complaints_about(symbols.objects_of(symbols.archive("child")), allowed_names(tree.read(LIST)))


def self_test():
    one = symbols.Object("a.o")
    one.undefined = {"memcpy", "malloc", "_ZN4rung6kernel6set_idEi"}
    allowed = allowed_names("memcpy  # copies\n\nrung::kernel::set_id\n")
    assert complaints_about([one], allowed) == ["a.o needs malloc"], complaints_about([one], allowed)

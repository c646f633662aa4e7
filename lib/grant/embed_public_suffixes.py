"""Turns Debian's Public Suffix List into the C++ source of what lib/grant/public_suffix.cpp searches.

    embed_public_suffixes.py LIST OUTPUT

One text and no table: a table of pointers would have to be relocated at every start of rung. As numbers, since compilers need not take a
string literal of more than 64 KiB.
SPDX-License-Identifier: Apache-2.0
"""

import sys


def ascii_label(label):
    return label if label.isascii() else "xn--" + label.encode("punycode").decode("ascii")


def line_of(rule):
    """"!www.ck" -> "ck.www!", "*.ck" -> "ck.*"."""
    name = ".".join(reversed([ascii_label(label) for label in rule.removeprefix("!").split(".")]))
    return name + ("!" if rule.startswith("!") else "")


def main(source, output):
    with open(source, encoding="utf-8") as file:
        rules = [line.split()[0] for line in file if line.strip() and not line.startswith("//")]
    lines = sorted({line_of(rule) for rule in rules})
    if len(lines) < 5000:
        raise SystemExit(f"{source}: {len(lines)} rules are too few to be the Public Suffix List")
    with open(output, "w", encoding="ascii") as file:
        file.write('#include "grant/public_suffix_lines.hpp"\n\nnamespace rung::grant {\n\n'
                   'static constexpr char kText[] = {\n')
        file.writelines(",".join(str(byte) for byte in f"{line}\n".encode("ascii")) + ",\n" for line in lines)
        file.write("};\n\nstd::string_view public_suffix_lines() {\n    return {kText, sizeof kText};\n}\n\n"
                   "}  // namespace rung::grant\n")


main(*sys.argv[1:])

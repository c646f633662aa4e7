"""No file of the product has more than 500 lines, no function more than 80, no header more than 150.

Functions are found by their braces, which is enough for formatted code.
SPDX-License-Identifier: Apache-2.0
"""

import re

import tree

FILE_LINES, FUNCTION_LINES, HEADER_LINES = 500, 80, 150
NOISE = re.compile(r'//[^\n]*|/\*.*?\*/|R"(\w*)\(.*?\)\1"|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])+\'|^[ \t]*#[^\n]*', re.S | re.M)


def functions_of(text):
    """(name, lines) of each function body, a lambda inside one not counted apart."""
    text = NOISE.sub(lambda match: re.sub(r"[^\n]", " ", match.group()), text)
    found, stack, head = [], [], 0
    for match in re.finditer(r"[{};]", text):
        mark, at = match.group(), match.start()
        if mark == "{":
            stack.append((_kind(text[head:at], stack), head, at))
        elif mark == "}" and stack:
            kind, began, opened = stack.pop()
            if kind == "function":
                first = began + len(text[began:opened]) - len(text[began:opened].lstrip())
                found.append((_name(text[began:opened]), text.count("\n", first, at) + 1))
        head = at + 1
    return found


def _kind(head, stack):
    if any(kind == "function" for kind, _, _ in stack):
        return "inside"
    if re.search(r"\bnamespace\b|\bextern\s*$", head):
        return "namespace"
    if re.search(r"\b(class|struct|union|enum)\b[^()]*$", head):
        return "type"
    return "function" if ")" in head and not re.search(r"=\s*$", head) else "value"


def _name(head):
    match = re.search(r"([\w:~]+|operator\S+)\s*\(", head)
    return match.group(1) if match else "?"


def complaints_about(path, text):
    found = []
    lines = text.count("\n")
    if lines > FILE_LINES:
        found.append(f"{path}: {lines} lines, more than {FILE_LINES}")
    if path.endswith(".hpp") and lines > HEADER_LINES:
        found.append(f"{path}: {lines} lines, more than {HEADER_LINES} for a header")
    found += [f"{path}: {name} has {count} lines, more than {FUNCTION_LINES}"
              for name, count in functions_of(text) if count > FUNCTION_LINES]
    return found


def check():
    return [complaint for path in tree.files("cmd", "lib") for complaint in complaints_about(path, tree.read(path))]


def self_test():
    body = "    x = {1};\n" * 81
    long_function = f"namespace a {{\nResult<int> b::long_one(int x) const {{\n{body}}}\n}}  // namespace a\n"
    assert not complaints_about("a.cpp", f"struct S {{\n{'    int x = {};' * 10}\n}};\nint f() {{\n return 1;\n}}\n")
    assert ("b::long_one", 83) in functions_of(long_function), functions_of(long_function)
    assert complaints_about("a.cpp", long_function), "a function of 83 lines"
    assert complaints_about("a.cpp", "int x;\n" * 501), "a file of 501 lines"
    assert complaints_about("a.hpp", "int x;\n" * 151), "a header of 151 lines"

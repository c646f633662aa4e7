"""A file includes only what its layer links, as CMakeLists.txt declares it with rung_layer(NAME DEPENDENCY...).

The slow third-party headers stay in .cpp files, each in one layer.
SPDX-License-Identifier: Apache-2.0
"""

import re

import tree

INCLUDE = re.compile(r'^\s*#\s*include\s*["<]([^">]+)[">]', re.M)
# Header -> the only places whose .cpp files may include it; cmd asks seccomp.h for a version.
HEAVY = {"nlohmann/json.hpp": ("config", "cmd", "runtime", "grant", "plan", "seccomp"), "CLI/": ("cmd",), "yaml-cpp/": ("grant",),
         "seccomp.h": ("seccomp", "cmd"), "rpc.pb-c.h": ("criu",)}


def declared_layers(cmake):
    """layer -> the layers that it may include, itself among them."""
    layers = {}
    for match in re.finditer(r"^\s*rung_layer\(([^)]*)\)", cmake, re.M):
        name, *dependencies = match.group(1).split()
        layers[name] = {name} | {one.removeprefix("rung_") for one in dependencies if one.startswith("rung_")}
    return layers


def complaints_about(path, text, layers):
    place = path.split("/")[1] if path.startswith("lib/") else "cmd"
    found = []
    for included in INCLUDE.findall(text):
        layer = included.split("/")[0]
        if "/" in included and layer in layers and place != "cmd" and layer not in layers[place]:
            found.append(f"{path}: includes {included}, but the layer {place} does not link {layer}")
        for prefix, places in HEAVY.items():
            if included.startswith(prefix) and (path.endswith(".hpp") or place not in places):
                found.append(f"{path}: includes {included}, which only .cpp files of {', '.join(places)} may")
    if place != "cmd" and place not in layers:
        found.append(f"{path}: CMakeLists.txt declares no layer {place}")
    return found


def check():
    layers = declared_layers(tree.read("CMakeLists.txt"))
    if not layers:
        return ["CMakeLists.txt declares no layer"]
    return [complaint for path in tree.files("cmd", "lib")
            for complaint in complaints_about(path, tree.read(path), layers)]


def self_test():
    layers = declared_layers("rung_layer(base)\nrung_layer(plan rung_base yaml-cpp)\nrung_layer(runtime rung_plan)\n")
    assert layers["plan"] == {"plan", "base"}, layers
    assert not complaints_about("lib/plan/a.cpp", '#include "base/fd.hpp"\n#include <sys/stat.h>\n', layers)
    assert complaints_about("lib/plan/a.cpp", '#include "runtime/create.hpp"\n', layers), "an include upwards"
    assert complaints_about("lib/plan/a.hpp", "#include <nlohmann/json.hpp>\n", layers), "a heavy header in a header"
    assert complaints_about("lib/base/a.cpp", "#include <CLI/CLI.hpp>\n", layers), "a heavy header in another layer"

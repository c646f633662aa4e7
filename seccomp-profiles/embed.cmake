# Profiles become string literals.
# SPDX-License-Identifier: Apache-2.0
# Writes OUTPUT, a C++ file holding each of PROFILES as a raw string literal.
set(text "// Made from seccomp-profiles/ by the build.\n#include \"seccomp/profiles.hpp\"\n\nnamespace rung::seccomp {\n\n")
set(cases "")
set(names "")
foreach(profile ${PROFILES})
    get_filename_component(name ${profile} NAME_WE)
    file(READ ${profile} json)
    string(APPEND cases "    if (name == \"${name}\") return R\"rung(${json})rung\";\n")
    string(APPEND names "\"${name}\", ")
endforeach()
string(APPEND text "std::string_view profile_text(std::string_view name) {\n${cases}    return {};\n}\n\n")
string(APPEND text "std::vector<std::string_view> profile_names() { return {${names}}; }\n\n}  // namespace rung::seccomp\n")
file(WRITE ${OUTPUT} "${text}")

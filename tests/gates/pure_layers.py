"""Deciding makes no system call: config, grant and plan reach no file, process, clock or network function.

The layers' objects and whatever they pull in from others may need only names of the list below, which compute.
SPDX-License-Identifier: Apache-2.0
"""

import re

import symbols

PURE = ("config", "grant", "plan")

# C names that only compute: inet_pton(3) turns text into an address, an errno's text is a table, and the exception and
# stack machinery aborts, never reads.
C_NAMES = set("""
    __stack_chk_fail __errno_location __dso_handle __gxx_personality_v0 _Unwind_Resume _GLOBAL_OFFSET_TABLE_
    __tls_get_addr __libc_single_threaded inet_ntop inet_pton abort free malloc calloc realloc localeconv strerror strerror_r __xpg_strerror_r strerrordesc_np qsort
    bcmp memchr memcmp memcpy memmove memrchr memset __memcpy_chk __memmove_chk __memset_chk
    strcasecmp strchr strchrnul strcmp strlen strncmp strncasecmp strnlen strrchr strspn strcspn strstr strpbrk
    strtod strtof strtol strtold strtoll strtoul strtoull __isoc23_strtol __isoc23_strtoul
    snprintf vsnprintf __snprintf_chk __vsnprintf_chk isalnum isalpha isdigit isspace isxdigit tolower toupper
    ceil floor log2 pow exp fmod ldexp frexp modf round lround llround log log10 __assert_fail timegm
    SHA256Init SHA256Update SHA256Final
""".split())
C_PREFIXES = ("__cxa_", "__ubsan_", "__asan_", "__sanitizer_")

# Parts of the C++ library, and of the YAML one, that reach outside.
OUTSIDE = re.compile(r"std::(__cxx11::)?(basic_(if|of|f)stream|basic_filebuf|filesystem|thread|random_device|chrono)|"
                     r"std::(cin|cout|cerr|clog)$|YAML::LoadFile|YAML::LoadAllFromFile|std::condition_variable|std::mutex")
CXX_LIBRARY = ("std::", "operator new", "operator delete", "vtable for ", "typeinfo ", "VTT for ", "construction vtable",
               "guard variable", "YAML::", "__gnu_cxx::", "__cxxabiv1::", "non-virtual thunk", "virtual thunk", "TLS ")


def complaints_about(start, everything):
    objects = symbols.reachable(start, everything)
    inside = {symbol for one in everything for symbol in one.defined}
    found = []
    plain = symbols.demangled({symbol for one in objects for symbol in one.undefined} or {"none"})
    for one in objects:
        for symbol in sorted(one.undefined - inside):
            if not _is_pure(symbol, plain[symbol]):
                found.append(f"{one.name} needs {plain[symbol][:120]}")
    return sorted(set(found))


def _is_pure(symbol, plain):
    if symbol == plain:
        return symbol in C_NAMES or symbol.startswith(C_PREFIXES)
    # A return type may stand before the name of a template's function.
    named = any(plain.startswith(prefix) or f" {prefix}" in plain for prefix in CXX_LIBRARY)
    return named and not OUTSIDE.search(plain)


def check():
    everything = [one for layer in symbols.layers() for one in symbols.objects_of(symbols.archive(layer))]
    start = [one for layer in PURE for one in symbols.objects_of(symbols.archive(layer))]
    return complaints_about(start, everything) if start else ["the pure layers have no object"]


def self_test():
    def made(name, *undefined, defined=()):
        one = symbols.Object(name)
        one.undefined, one.defined = set(undefined), set(defined)
        return one
    assert not complaints_about([made("a.o", "memcpy", "_Znwm", "_ZNSt6localeC1Ev")], [])
    assert complaints_about([made("a.o", "openat")], []), "a file call"
    assert complaints_about([made("a.o", "_ZNSt13basic_filebufIcSt11char_traitsIcEE5closeEv")], []), "a file stream"
    writer = made("log.o", "write", defined=["_Z3logv"])
    assert complaints_about([made("a.o", "_Z3logv")], [writer]), "a call through another layer"

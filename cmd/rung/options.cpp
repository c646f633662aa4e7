// Global flags, then the verb's: from words to values.
// SPDX-License-Identifier: Apache-2.0
#include "options.hpp"

#include <algorithm>
#include <utility>

#include "root_directory.hpp"
#include "runsc_flags.hpp"
#include "verb_flags.hpp"

namespace rung::cli {

namespace {

// What the global flags set, before it is given its meaning.
struct GlobalFlags {
    std::string root = {};
    std::string log = {};
    std::string log_format = "text";
    std::string log_level = {};
    bool debug = false;
    bool systemd_cgroup = false;
    std::string cgroup_manager = "cgroupfs";
    bool ignore_cgroups = false;
    std::string network = "sandbox";
    std::string rootless = "auto";
    std::string criu = "criu";
    Words grants = {};
    std::string handler = {};
    bool version = false;
    RunscFlags runsc = {};
};

void declare(Flags& flags, GlobalFlags& values) {
    flags.add("root", &values.root, "where containers are remembered (default: " + default_root() + ")");
    flags.add("log", &values.log, "[file:]PATH, syslog:NAME or journald:NAME; standard error by default");
    flags.add("log-format", &values.log_format, "text or json");
    flags.add("log-level", &values.log_level, "error, warning or debug");
    flags.add("debug", &values.debug, "log decisions too");
    flags.add("systemd-cgroup", &values.systemd_cgroup, "cgroupsPath is slice:prefix:name, made by systemd");
    flags.add("cgroup-manager", &values.cgroup_manager, "cgroupfs, systemd or disabled");
    flags.add("ignore-cgroups", &values.ignore_cgroups, "make no cgroup; limits of config.json do not hold");
    flags.add("network", &values.network,
              "none: only loopback, whatever config.json says; sandbox or host: as it says");
    flags.add("rootless", &values.rootless,
              "false: fail where no cgroup may be made; true or auto: go on if no limit is asked for");
    flags.add("criu", &values.criu, "the criu program for checkpoint and restore");
    flags.add("grant", &values.grants, "narrow every container by this grant; may be repeated");
    flags.add("handler", &values.handler, "how the engine calls this runtime, for the rules of the ceiling");
    flags.add("version,v,V", &values.version, "print the version");
}

Result<log::Format> log_format(const std::string& name) {
    if (name == "text") return log::Format::text;
    // runsc's third format is JSON as well.
    if (name == "json" || name == "json-k8s") return log::Format::json;
    return Error{.message = "invalid log-format: " + name};
}

Result<log::Level> log_level(const GlobalFlags& flags) {
    if (flags.debug || flags.log_level == "debug") return log::Level::debug;
    if (flags.log_level.empty() || flags.log_level == "warning") return log::Level::warn;
    if (flags.log_level == "error") return log::Level::error;
    return Error{.message = "invalid log-level: " + flags.log_level};
}

// True and auto are one: whatever the caller may do is done.
Result<bool> needs_cgroups(const std::string& rootless) {
    if (rootless.empty() || rootless == "auto") return false;
    for (const char* yes : {"true", "1", "t", "T", "TRUE", "True"}) {
        if (rootless == yes) return false;
    }
    for (const char* no : {"false", "0", "f", "F", "FALSE", "False"}) {
        if (rootless == no) return true;
    }
    return Error{.message = "invalid value \"" + rootless + "\" for flag -rootless: not true, false or auto"};
}

Status give_meaning(const GlobalFlags& flags, GlobalOptions& options) {
    options.log_format = TRY(log_format(flags.log_format));
    options.least = TRY(log_level(flags));
    options.log_file = flags.log;
    runtime::Globals& globals = options.globals;
    globals.root = TRY(absolute_path(flags.root.empty() ? default_root() : flags.root));
    globals.root_is_given = !flags.root.empty();
    globals.grant_files = flags.grants;
    globals.handler = flags.handler;
    globals.criu = flags.criu;
    globals.systemd_cgroup = flags.systemd_cgroup || flags.cgroup_manager == "systemd";
    globals.without_cgroups = flags.cgroup_manager == "disabled";
    globals.ignore_cgroups = flags.ignore_cgroups;
    globals.needs_cgroups = TRY(needs_cgroups(flags.rootless));
    globals.without_network = flags.network == "none";
    const std::string& manager = flags.cgroup_manager;
    if (manager != "cgroupfs" && manager != "systemd" && manager != "disabled")
        return Error{.message = "unknown cgroup manager specified: " + manager};
    if (flags.network != "none" && flags.network != "sandbox" && flags.network != "host")
        return Error{.message = "invalid value \"" + flags.network +
                                "\" for flag -network: not none, sandbox or host"};
    options.remarks = flags.runsc.remarks();
    return {};
}

Status check_count(const Entry& entry, size_t count) {
    if (count >= entry.least && count <= entry.most) return {};
    const std::string what = "rung: \"" + std::string{entry.name} + "\" requires ";
    if (entry.most == kAnyNumber) {
        return Error{.message = what + "a minimum of " + std::to_string(entry.least) + " argument(s)"};
    }
    if (entry.most == entry.least) {
        return Error{.message = what + "exactly " + std::to_string(entry.least) + " argument(s)"};
    }
    return Error{.message = what + std::to_string(entry.least) + " to " + std::to_string(entry.most) +
                            " argument(s)"};
}

// ---- help, laid out as runc's, by which tests know it ----

std::string help_of_all(const std::string& program) {
    Flags flags;
    GlobalFlags values;
    declare(flags, values);
    std::string text =
        "NAME:\n   " + program +
        " - Open Container Initiative runtime that runs each task inside a grant\n\nUSAGE:\n   " + program +
        " [global options] verb [options] [arguments...]\n\nVERBS:\n";
    for (const Entry& entry : entries()) {
        std::string line = "   " + std::string{entry.name};
        line.resize(std::max<size_t>(line.size() + 1, 15), ' ');
        text += line + std::string{entry.about} + "\n";
    }
    return text + "\nGLOBAL OPTIONS:\n" + flags.describe() + "\n`" + program +
           " VERB --help` says more. Global flags of runsc are accepted too.\n";
}

std::string help_of(const std::string& program, const Entry& entry, const Flags& flags) {
    const std::string name = program + " " + std::string{entry.name};
    std::string text =
        "NAME:\n   " + name + " - " + std::string{entry.about} + "\n\nUSAGE:\n   " + name + " [options]";
    if (!entry.usage.empty()) text += " " + std::string{entry.usage};
    return text + "\n\nOPTIONS:\n" + flags.describe();
}

}  // namespace

Result<GlobalOptions> parse_globals(const Words& words) {
    Flags flags;
    GlobalFlags values;
    declare(flags, values);
    values.runsc.declare(flags, words);
    Flags::Read read = TRY(flags.read(words, Order::flags_first));

    GlobalOptions options{.rest = std::move(read.rest)};
    TRY(give_meaning(values, options));
    if (values.version) options.rest = {"version"};
    if (read.help || options.rest.empty()) options.rest = {"help"};
    return options;
}

Result<Verb> parse_verb(const Words& words, const std::string& program) {
    const Entry* entry = find_entry(words.at(0));
    if (entry == nullptr) return Verb{Unknown{.name = words[0]}};

    Flags flags;
    Verb verb = entry->blank();
    declare_flags(flags, verb);
    Flags::Read read = TRY(flags.read({words.begin() + 1, words.end()}, entry->order));
    if (std::holds_alternative<Help>(verb)) return Verb{Help{.text = help_of_all(program)}};
    if (read.help) return Verb{Help{.text = help_of(program, *entry, flags)}};
    if (std::holds_alternative<Version>(verb)) return Verb{Version{.program = program}};
    TRY(check_count(*entry, read.rest.size()));
    place_words(verb, std::move(read.rest));
    return verb;
}

}  // namespace rung::cli

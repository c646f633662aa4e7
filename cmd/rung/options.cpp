// Which flags each verb has, and the table of verbs.
// SPDX-License-Identifier: Apache-2.0
#include "options.hpp"

#include <algorithm>
#include <array>
#include <climits>
#include <optional>
#include <utility>

#include "flags.hpp"
#include "root_directory.hpp"

namespace rung::cli {

namespace {

// ---- what each verb takes: its flags, then its positional arguments ----

void declare_bundle(Flags& flags, runtime::CreateOptions& options) {
    flags.add({"bundle", &options.bundle, "the bundle's directory; the working directory by default", 'b'});
    flags.add({"config", &options.config_file, "the configuration's name in the bundle", 'f'});
    flags.add({"grant", &options.grant_files, "narrow the container by this grant; may be repeated"});
}

void declare_creation(Flags& flags, runtime::CreateOptions& options, std::string& pidfd_socket) {
    declare_bundle(flags, options);
    flags.add({"console-socket", &options.console_socket,
               "AF_UNIX socket that receives the terminal's descriptor"});
    flags.add({"pidfd-socket", &pidfd_socket, "not supported"});
    flags.add({"pid-file", &options.pid_file, "file to write the process's id to"});
    flags.add({"no-pivot", &options.no_pivot,
               "move the rootfs to / instead of pivot_root, for a host on a ramdisk"});
    flags.add({"no-new-keyring", &options.no_new_keyring, "keep the caller's session keyring"});
    flags.add({"preserve-fds", &options.preserve_fds, "descriptors to pass on beside stdio, from 3 on"});
}

void declare(Flags& flags, Create& verb) {
    declare_creation(flags, verb.options, verb.pidfd_socket);
}
void place(Create& verb, Words positionals) {
    verb.options.id = std::move(positionals[0]);
}

void declare(Flags& flags, Run& verb) {
    declare_creation(flags, verb.options, verb.pidfd_socket);
    flags.add({"detach", &verb.options.detach, "return when the process runs", 'd'});
    flags.add({"keep", &verb.options.keep, "leave the container when its process has ended"});
    flags.add({"no-subreaper", &verb.options.no_subreaper, "do not reap what the container leaves behind"});
}
void place(Run& verb, Words positionals) {
    verb.options.id = std::move(positionals[0]);
}

void declare(Flags&, Start&) {}
void place(Start& verb, Words positionals) {
    verb.id = std::move(positionals[0]);
}

void declare(Flags&, State&) {}
void place(State& verb, Words positionals) {
    verb.id = std::move(positionals[0]);
}

void declare(Flags& flags, Kill& verb) {
    flags.add({"all", &verb.all, "signal every process of the container", 'a'});
}
void place(Kill& verb, Words positionals) {
    verb.id = std::move(positionals[0]);
    if (positionals.size() > 1) verb.signal = std::move(positionals[1]);
}

void declare(Flags& flags, Delete& verb) {
    flags.add({"force", &verb.force, "kill what still runs; one that does not exist is no error", 'f'});
}
void place(Delete& verb, Words positionals) {
    verb.id = std::move(positionals[0]);
}

void declare(Flags& flags, Exec& verb) {
    runtime::ExecOptions& options = verb.options;
    flags.add({"console-socket", &options.console_socket,
               "AF_UNIX socket that receives the terminal's descriptor"});
    flags.add({"pidfd-socket", &verb.pidfd_socket, "not supported"});
    flags.add({"cwd", &options.cwd, "working directory inside"});
    flags.add({"env", &options.env, "NAME=VALUE; may be repeated", 'e'});
    flags.add({"tty", &options.tty, "give the process a terminal", 't'});
    flags.add({"user", &options.user, "UID[:GID], numbers", 'u'});
    flags.add({"additional-gids", &options.additional_gids, "further group; may be repeated", 'g'});
    flags.add({"process", &options.process_file, "process.json instead of a command", 'p'});
    flags.add({"detach", &options.detach, "return when the process runs", 'd'});
    flags.add({"pid-file", &options.pid_file, "file to write the process's id to"});
    flags.add({"process-label", &verb.process_label, "not supported"});
    flags.add({"apparmor", &verb.apparmor, "not supported"});
    flags.add({"no-new-privs", &options.no_new_privs, "set no_new_privs"});
    flags.add({"cap", &options.capabilities, "add a capability; may be repeated", 'c'});
    flags.add({"preserve-fds", &options.preserve_fds, "descriptors to pass on beside stdio, from 3 on"});
    flags.add({"cgroup", &verb.cgroup, "not supported"});
    flags.add({"ignore-paused", &options.ignore_paused, "even in a paused container"});
}
void place(Exec& verb, Words positionals) {
    verb.options.id = std::move(positionals[0]);
    positionals.erase(positionals.begin());
    // `exec ID -- COMMAND`, as people write it for other tools.
    if (!positionals.empty() && positionals[0] == "--") positionals.erase(positionals.begin());
    verb.options.args = std::move(positionals);
}

void declare(Flags& flags, List& verb) {
    flags.add({"format", &verb.format, "table or json", 'f'});
    flags.add({"quiet", &verb.quiet, "only the ids", 'q'});
}

void declare(Flags& flags, Spec& verb) {
    flags.add({"bundle", &verb.bundle, "the bundle's directory; the working directory by default", 'b'});
    flags.add({"rootless", &verb.rootless, "not supported"});
}

void declare(Flags& flags, Plan& verb) {
    declare_bundle(flags, verb.options);
    flags.add({"json", &verb.json, "for programs"});
}

void declare(Flags&, Features&) {}
void declare(Flags&, Version&) {}
void declare(Flags&, Help&) {}
void declare(Flags&, Unknown&) {}

void place(List&, const Words&) {}
void place(Spec&, const Words&) {}
void place(Plan&, const Words&) {}
void place(Features&, const Words&) {}
void place(Version&, const Words&) {}
void place(Help&, const Words&) {}
void place(Unknown&, const Words&) {}

// ---- the table of verbs ----

constexpr size_t kAnyNumber = INT_MAX;

struct Entry {
    std::string_view name = {};
    std::string_view usage = {};
    std::string_view about = {};
    size_t least = 0;  // positional arguments
    size_t most = 0;
    Order order = Order::interspersed;
    Verb (*blank)() = nullptr;  // its options, all at their defaults
};

constexpr std::array<Entry, 13> kEntries = {{
    {"create", "<container-id>", "make a container; its process waits for start", 1, 1, Order::interspersed,
     []() -> Verb { return Create{}; }},
    {"start", "<container-id>", "let a created container's process go", 1, 1, Order::interspersed,
     []() -> Verb { return Start{}; }},
    {"run", "<container-id>", "create and start a container, and wait for its end", 1, 1, Order::interspersed,
     []() -> Verb { return Run{}; }},
    {"exec", "<container-id> <command> [argument...]", "one more process in a running container", 1,
     kAnyNumber, Order::flags_first, []() -> Verb { return Exec{}; }},
    {"state", "<container-id>", "what a container is doing, as JSON", 1, 1, Order::interspersed,
     []() -> Verb { return State{}; }},
    {"list", "", "every container under --root", 0, 0, Order::interspersed, []() -> Verb { return List{}; }},
    {"kill", "<container-id> [signal]", "signal a container's first process, with SIGTERM by default", 1, 2,
     Order::interspersed, []() -> Verb { return Kill{}; }},
    {"delete", "<container-id>", "remove a stopped container and all that was made for it", 1, 1,
     Order::interspersed, []() -> Verb { return Delete{}; }},
    {"plan", "", "what a bundle and its grants come to, without running anything", 0, 0, Order::interspersed,
     []() -> Verb { return Plan{}; }},
    {"spec", "", "write a config.json to start from", 0, 0, Order::interspersed,
     []() -> Verb { return Spec{}; }},
    {"features", "", "what this runtime supports, as JSON", 0, 0, Order::interspersed,
     []() -> Verb { return Features{}; }},
    {"version", "", "the version of rung", 0, 0, Order::interspersed, []() -> Verb { return Version{}; }},
    {"help", "", "this text", 0, kAnyNumber, Order::interspersed, []() -> Verb { return Help{}; }},
}};

const Entry* find_entry(const std::string& name) {
    const auto found = std::find_if(kEntries.begin(), kEntries.end(),
                                    [&](const Entry& entry) { return entry.name == name; });
    return found == kEntries.end() ? nullptr : &*found;
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

// ---- global options ----

// What the flags set, before it is given its meaning.
struct GlobalValues {
    std::string root = {};
    std::string log = {};
    std::string log_format = "text";
    bool debug = false;
    bool systemd_cgroup = false;
    std::string cgroup_manager = "cgroupfs";
    std::string ignored = {};
    Words grants = {};
    bool version = false;
};

void declare(Flags& flags, GlobalValues& values) {
    flags.add({"root", &values.root, "where containers are remembered; /run/rung by default"});
    flags.add({"log", &values.log, "file for the log; standard error by default"});
    flags.add({"log-format", &values.log_format, "text or json"});
    flags.add({"debug", &values.debug, "log decisions too"});
    flags.add(
        {"systemd-cgroup", &values.systemd_cgroup, "cgroupsPath is slice:prefix:name, made by systemd"});
    flags.add({"cgroup-manager", &values.cgroup_manager, "cgroupfs or systemd"});
    flags.add({"rootless", &values.ignored, "accepted and without effect"});
    flags.add({"criu", &values.ignored, "accepted and without effect"});
    flags.add({"grant", &values.grants, "narrow every container by this grant; may be repeated"});
    flags.add({"version", &values.version, "print the version", 'v'});
}

// "\nOptions:\n..." or nothing.
std::string section(std::string_view title, const std::string& lines) {
    return lines.empty() ? "" : "\n" + std::string{title} + ":\n" + lines;
}

std::string help_of(const Entry& entry, const Flags& flags) {
    std::string usage =
        "rung [global options] " + std::string{entry.name} + " [options] " + std::string{entry.usage};
    return usage + "\n" + std::string{entry.about} + "\n" + section("Options", flags.help());
}

std::string help_of_rung() {
    Flags flags;
    GlobalValues values;
    declare(flags, values);
    std::string verbs;
    for (const Entry& entry : kEntries) {
        std::string line = "  " + std::string{entry.name};
        line.resize(14, ' ');
        verbs += line + std::string{entry.about} + "\n";
    }
    return "rung [global options] VERB [options] [arguments]\nAn OCI container runtime that runs each task "
           "inside a grant.\n" +
           section("Verbs", verbs) + section("Global options", flags.help()) +
           "\n`rung VERB --help` says more.\n";
}

}  // namespace

Result<GlobalOptions> parse_globals(const Words& words) {
    Flags flags;
    GlobalValues values;
    declare(flags, values);
    Read read = TRY(flags.read(words, Order::flags_first));

    GlobalOptions options{.rest = std::move(read.positionals)};
    if (values.log_format == "json")
        options.log_format = log::Format::json;
    else if (values.log_format != "text")
        return Error{.message = "invalid log-format: " + values.log_format};
    if (values.cgroup_manager != "cgroupfs" && values.cgroup_manager != "systemd") {
        return Error{.message = "--cgroup-manager=" + values.cgroup_manager + " is not supported"};
    }
    options.log_file = values.log;
    options.least = values.debug ? log::Level::debug : log::Level::warn;
    options.globals.root = TRY(absolute_path(values.root.empty() ? default_root() : values.root));
    options.globals.systemd_cgroup = values.systemd_cgroup || values.cgroup_manager == "systemd";
    options.globals.grant_files = std::move(values.grants);
    if (values.version) options.rest = {"version"};
    if (read.help || options.rest.empty()) options.rest = {"help"};
    return options;
}

Result<Verb> parse_verb(const Words& words) {
    const Entry* entry = find_entry(words.at(0));
    if (entry == nullptr) return Verb{Unknown{.name = words[0]}};

    Flags flags;
    Verb verb = entry->blank();
    std::visit([&](auto& alternative) { declare(flags, alternative); }, verb);
    Read read = TRY(flags.read({words.begin() + 1, words.end()}, entry->order));
    if (std::holds_alternative<Help>(verb)) return Verb{Help{.text = help_of_rung()}};
    if (read.help) return Verb{Help{.text = help_of(*entry, flags)}};
    TRY(check_count(*entry, read.positionals.size()));
    std::visit([&](auto& alternative) { place(alternative, std::move(read.positionals)); }, verb);
    return verb;
}

}  // namespace rung::cli

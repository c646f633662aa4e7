// Declares every flag to CLI11, which converts values and writes the help; the reading order is Go's and is done here.
// SPDX-License-Identifier: Apache-2.0
#include "options.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <climits>
#include <optional>
#include <utility>

#include "base/path.hpp"
#include "root_directory.hpp"

namespace rung::cli {

namespace {

using Words = std::vector<std::string>;

constexpr int kMostPreservedDescriptors = 1 << 20;  // more than fs.nr_open lets a process have by default

enum class Order { interspersed, flags_first };

struct Sorted {
    bool help = false;
    Words flags = {};  // "--name" and "--name", "value", as CLI11 takes them
    Words positionals = {};
};

// "-bundle=x" -> {"bundle", "x"}.
struct Flag {
    std::string name = {};
    std::optional<std::string> value = {};
};

Flag split_flag(const std::string& word) {
    const size_t begin = word.find_first_not_of('-');
    const size_t equals = word.find('=', begin);
    if (equals == std::string::npos) return {.name = word.substr(begin), .value = {}};
    return {.name = word.substr(begin, equals - begin), .value = word.substr(equals + 1)};
}

bool is_flag(const std::string& word) {
    return word.size() > 1 && word[0] == '-' && word.find_first_not_of('-') != std::string::npos;
}

const CLI::Option* find_option(const CLI::App& app, const std::string& name) {
    return app.get_option_no_throw((name.size() == 1 ? "-" : "--") + name);
}

// Flags with their values to one side, the rest to the other. Errors are worded as Go's flag package words them.
Result<Sorted> sort_words(const CLI::App& app, const Words& words, Order order) {
    Sorted sorted;
    for (size_t index = 0; index < words.size(); ++index) {
        const std::string& word = words[index];
        const bool ends = word == "--" || (order == Order::flags_first && !is_flag(word));
        if (ends) {
            const auto from = words.begin() + static_cast<std::ptrdiff_t>(index) + (word == "--" ? 1 : 0);
            sorted.positionals.insert(sorted.positionals.end(), from, words.end());
            break;
        }
        if (!is_flag(word)) {
            sorted.positionals.push_back(word);
            continue;
        }
        const Flag flag = split_flag(word);
        if (flag.name == "help" || flag.name == "h") {
            sorted.help = true;
            break;
        }
        const CLI::Option* option = find_option(app, flag.name);
        if (option == nullptr) return Error{.message = "flag provided but not defined: -" + flag.name};
        const std::string name = "--" + option->get_lnames().front();
        if (option->get_items_expected_max() == 0) {
            sorted.flags.push_back(flag.value ? name + "=" + *flag.value : name);
            continue;
        }
        if (!flag.value && index + 1 == words.size()) {
            return Error{.message = "flag needs an argument: -" + flag.name};
        }
        sorted.flags.push_back(name);
        sorted.flags.push_back(flag.value ? *flag.value : words[++index]);
    }
    return sorted;
}

// CLI11 throws; nothing beyond this function does.
Status give_values(CLI::App& app, Words flags) {
    std::reverse(flags.begin(), flags.end());  // it takes them from the back
    try {
        app.parse(std::move(flags));
    } catch (const CLI::Error& error) {
        return Error{.message = error.what()};
    }
    return {};
}

// As with Go's flags, the last value counts.
void prepare(CLI::App& app) {
    app.set_help_flag();
    app.option_defaults()->multi_option_policy(CLI::MultiOptionPolicy::TakeLast);
}

// One that may be given several times, a value each time.
void add_list(CLI::App& app, const char* name, Words& values, const char* about) {
    app.add_option(name, values, about)->expected(1)->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
}

// ---- what each verb takes: its flags, then its positional arguments ----

void declare_bundle(CLI::App& app, runtime::CreateOptions& options) {
    app.add_option("-b,--bundle", options.bundle, "the bundle's directory; the working directory by default");
    app.add_option("-f,--config", options.config_file, "the configuration's name in the bundle");
    add_list(app, "--grant", options.grant_files, "narrow the container by this grant; may be repeated");
}

void declare_creation(CLI::App& app, runtime::CreateOptions& options, std::string& pidfd_socket) {
    declare_bundle(app, options);
    app.add_option("--console-socket", options.console_socket,
                   "AF_UNIX socket that receives the terminal's descriptor");
    app.add_option("--pidfd-socket", pidfd_socket, "not supported");
    app.add_option("--pid-file", options.pid_file, "file to write the process's id to");
    app.add_flag("--no-pivot", options.no_pivot,
                 "move the rootfs to / instead of pivot_root, for a host on a ramdisk");
    app.add_flag("--no-new-keyring", options.no_new_keyring, "keep the caller's session keyring");
    app.add_option("--preserve-fds", options.preserve_fds, "descriptors to pass on beside stdio, from 3 on")
        ->check(CLI::Range(0, kMostPreservedDescriptors));
}

void declare(CLI::App& app, Create& verb) {
    declare_creation(app, verb.options, verb.pidfd_socket);
}
void place(Create& verb, Words positionals) {
    verb.options.id = std::move(positionals[0]);
}

void declare(CLI::App& app, Run& verb) {
    declare_creation(app, verb.options, verb.pidfd_socket);
    app.add_flag("-d,--detach", verb.options.detach, "return when the process runs");
    app.add_flag("--keep", verb.options.keep, "leave the container when its process has ended");
    app.add_flag("--no-subreaper", verb.options.no_subreaper, "do not reap what the container leaves behind");
}
void place(Run& verb, Words positionals) {
    verb.options.id = std::move(positionals[0]);
}

void declare(CLI::App&, Start&) {}
void place(Start& verb, Words positionals) {
    verb.id = std::move(positionals[0]);
}

void declare(CLI::App&, State&) {}
void place(State& verb, Words positionals) {
    verb.id = std::move(positionals[0]);
}

void declare(CLI::App& app, Kill& verb) {
    app.add_flag("-a,--all", verb.all, "signal every process of the container");
}
void place(Kill& verb, Words positionals) {
    verb.id = std::move(positionals[0]);
    if (positionals.size() > 1) verb.signal = std::move(positionals[1]);
}

void declare(CLI::App& app, Delete& verb) {
    app.add_flag("-f,--force", verb.force, "kill what still runs; one that does not exist is no error");
}
void place(Delete& verb, Words positionals) {
    verb.id = std::move(positionals[0]);
}

void declare(CLI::App& app, Exec& verb) {
    runtime::ExecOptions& options = verb.options;
    app.add_option("--console-socket", options.console_socket,
                   "AF_UNIX socket that receives the terminal's descriptor");
    app.add_option("--pidfd-socket", verb.pidfd_socket, "not supported");
    app.add_option("--cwd", options.cwd, "working directory inside");
    add_list(app, "-e,--env", options.env, "NAME=VALUE; may be repeated");
    app.add_flag("-t,--tty", options.tty, "give the process a terminal");
    app.add_option("-u,--user", options.user, "UID[:GID], numbers");
    app.add_option("-g,--additional-gids", options.additional_gids, "further group; may be repeated")
        ->expected(1)
        ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
    app.add_option("-p,--process", options.process_file, "process.json instead of a command");
    app.add_flag("-d,--detach", options.detach, "return when the process runs");
    app.add_option("--pid-file", options.pid_file, "file to write the process's id to");
    app.add_option("--process-label", verb.process_label, "not supported");
    app.add_option("--apparmor", verb.apparmor, "not supported");
    app.add_flag("--no-new-privs", options.no_new_privs, "set no_new_privs");
    add_list(app, "-c,--cap", options.capabilities, "add a capability; may be repeated");
    app.add_option("--preserve-fds", options.preserve_fds, "descriptors to pass on beside stdio, from 3 on")
        ->check(CLI::Range(0, kMostPreservedDescriptors));
    app.add_option("--cgroup", verb.cgroup, "not supported");
    app.add_flag("--ignore-paused", options.ignore_paused, "even in a paused container");
}
void place(Exec& verb, Words positionals) {
    verb.options.id = std::move(positionals[0]);
    positionals.erase(positionals.begin());
    // `exec ID -- COMMAND`, as people write it for other tools.
    if (!positionals.empty() && positionals[0] == "--") positionals.erase(positionals.begin());
    verb.options.args = std::move(positionals);
}

void declare(CLI::App& app, List& verb) {
    app.add_option("-f,--format", verb.format, "table or json");
    app.add_flag("-q,--quiet", verb.quiet, "only the ids");
}

void declare(CLI::App& app, Spec& verb) {
    app.add_option("-b,--bundle", verb.bundle, "the bundle's directory; the working directory by default");
    app.add_flag("--rootless", verb.rootless, "not supported");
}

void declare(CLI::App& app, Plan& verb) {
    declare_bundle(app, verb.options);
    app.add_flag("--json", verb.json, "for programs");
}

void declare(CLI::App&, Features&) {}
void declare(CLI::App&, Version&) {}
void declare(CLI::App&, Help&) {}
void declare(CLI::App&, Unknown&) {}

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
    Verb blank = {};
};

const std::vector<Entry>& entries() {
    static const std::vector<Entry> table = {
        {"create", "<container-id>", "make a container; its process waits for start", 1, 1,
         Order::interspersed, Create{}},
        {"start", "<container-id>", "let a created container's process go", 1, 1, Order::interspersed,
         Start{}},
        {"run", "<container-id>", "create and start a container, and wait for its end", 1, 1,
         Order::interspersed, Run{}},
        {"exec", "<container-id> <command> [argument...]", "one more process in a running container", 1,
         kAnyNumber, Order::flags_first, Exec{}},
        {"state", "<container-id>", "what a container is doing, as JSON", 1, 1, Order::interspersed, State{}},
        {"list", "", "every container under --root", 0, 0, Order::interspersed, List{}},
        {"kill", "<container-id> [signal]", "signal a container's first process, with SIGTERM by default", 1,
         2, Order::interspersed, Kill{}},
        {"delete", "<container-id>", "remove a stopped container and all that was made for it", 1, 1,
         Order::interspersed, Delete{}},
        {"plan", "", "what a bundle and its grants come to, without running anything", 0, 0,
         Order::interspersed, Plan{}},
        {"spec", "", "write a config.json to start from", 0, 0, Order::interspersed, Spec{}},
        {"features", "", "what this runtime supports, as JSON", 0, 0, Order::interspersed, Features{}},
        {"version", "", "the version of rung", 0, 0, Order::interspersed, Version{}},
        {"help", "", "this text", 0, kAnyNumber, Order::interspersed, Help{}},
    };
    return table;
}

const Entry* find_entry(const std::string& name) {
    const auto& table = entries();
    const auto found =
        std::find_if(table.begin(), table.end(), [&](const Entry& entry) { return entry.name == name; });
    return found == table.end() ? nullptr : &*found;
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
struct GlobalFlags {
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

void declare(CLI::App& app, GlobalFlags& flags) {
    app.add_option("--root", flags.root, "where containers are remembered (" + default_root() + ")");
    app.add_option("--log", flags.log, "file for the log; standard error by default");
    app.add_option("--log-format", flags.log_format, "text or json");
    app.add_flag("--debug", flags.debug, "log decisions too");
    app.add_flag("--systemd-cgroup", flags.systemd_cgroup,
                 "cgroupsPath is slice:prefix:name, made by systemd");
    app.add_option("--cgroup-manager", flags.cgroup_manager, "cgroupfs or systemd");
    app.add_option("--rootless", flags.ignored, "accepted and without effect");
    app.add_option("--criu", flags.ignored, "accepted and without effect");
    add_list(app, "--grant", flags.grants, "narrow every container by this grant; may be repeated");
    app.add_flag("-v,--version", flags.version, "print the version");
}

std::string help_of(const CLI::App& app, const Entry& entry) {
    std::string text = app.help();
    text.insert(text.find('\n', text.find("Usage:")), " " + std::string{entry.usage});
    return text;
}

std::string help_of_rung() {
    CLI::App app{"rung: an OCI container runtime that runs each task inside a grant", "rung"};
    prepare(app);
    GlobalFlags flags;
    declare(app, flags);
    std::string text = app.help() + "Verbs:\n";
    for (const Entry& entry : entries()) {
        std::string line = "  " + std::string{entry.name};
        line.resize(std::max<size_t>(line.size() + 1, 30), ' ');
        text += line + std::string{entry.about} + "\n";
    }
    return text + "\n`rung VERB --help` says more.\n";
}

}  // namespace

Result<GlobalOptions> parse_globals(const Words& words) {
    CLI::App app;
    prepare(app);
    GlobalFlags flags;
    declare(app, flags);
    Sorted sorted = TRY(sort_words(app, words, Order::flags_first));
    TRY(give_values(app, std::move(sorted.flags)));

    GlobalOptions options{.rest = std::move(sorted.positionals)};
    if (flags.log_format == "json")
        options.log_format = log::Format::json;
    else if (flags.log_format != "text")
        return Error{.message = "invalid log-format: " + flags.log_format};
    if (flags.cgroup_manager != "cgroupfs" && flags.cgroup_manager != "systemd") {
        return Error{.message = "--cgroup-manager=" + flags.cgroup_manager + " is not supported"};
    }
    options.log_file = flags.log;
    options.least = flags.debug ? log::Level::debug : log::Level::warn;
    options.globals.root = TRY(absolute_path(flags.root.empty() ? default_root() : flags.root));
    options.globals.systemd_cgroup = flags.systemd_cgroup || flags.cgroup_manager == "systemd";
    options.globals.grant_files = std::move(flags.grants);
    if (flags.version) options.rest = {"version"};
    if (sorted.help || options.rest.empty()) options.rest = {"help"};
    return options;
}

Result<Verb> parse_verb(const Words& words) {
    const Entry* entry = find_entry(words.at(0));
    if (entry == nullptr) return Verb{Unknown{.name = words[0]}};

    CLI::App app{std::string{entry->about}, "rung " + std::string{entry->name}};
    prepare(app);
    Verb verb = entry->blank;
    std::visit([&](auto& alternative) { declare(app, alternative); }, verb);
    Sorted sorted = TRY(sort_words(app, {words.begin() + 1, words.end()}, entry->order));
    if (std::holds_alternative<Help>(verb)) return Verb{Help{.text = help_of_rung()}};
    if (sorted.help) return Verb{Help{.text = help_of(app, *entry)}};
    TRY(check_count(*entry, sorted.positionals.size()));
    TRY(give_values(app, std::move(sorted.flags)));
    std::visit([&](auto& alternative) { place(alternative, std::move(sorted.positionals)); }, verb);
    return verb;
}

}  // namespace rung::cli

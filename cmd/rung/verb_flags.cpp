// The table of verbs. Flags and their short forms are runc's; what only crun has is said.
// SPDX-License-Identifier: Apache-2.0
#include "verb_flags.hpp"

#include <algorithm>
#include <utility>

namespace rung::cli {

namespace {

void declare_bundle(Flags& flags, runtime::CreateOptions& options) {
    flags.add("bundle,b", &options.bundle, "the bundle's directory; the working directory by default");
    flags.add("config,f", &options.config_file,
              "another configuration file; a relative name starts in the bundle");
    flags.add("grant", &options.grant_files, "narrow the container by this grant; may be repeated");
}

void declare_creation(Flags& flags, runtime::CreateOptions& options) {
    declare_bundle(flags, options);
    flags.add("console-socket", &options.console_socket,
              "AF_UNIX socket that receives the terminal's descriptor");
    flags.add("pidfd-socket", &options.pidfd_socket, "AF_UNIX socket that receives a pidfd of the process");
    flags.add("pid-file", &options.pid_file, "file to write the process's id to");
    flags.add("no-pivot", &options.no_pivot,
              "move the rootfs to / instead of pivot_root, for a host on a ramdisk");
    flags.add("no-new-keyring", &options.no_new_keyring, "keep the caller's session keyring");
    flags.add("preserve-fds", &options.preserve_fds, "descriptors to pass on beside stdio, from 3 on");
    flags.add("no-subreaper", &options.no_subreaper, "do not reap what the container leaves behind");
}

void declare(Flags& flags, Create& verb) {
    declare_creation(flags, verb.options);
}
void place(Create& verb, Words words) {
    verb.options.id = std::move(words[0]);
}

void declare(Flags& flags, Run& verb) {
    declare_creation(flags, verb.options);
    flags.add("detach,d", &verb.options.detach, "return when the process runs");
    flags.add("keep", &verb.options.keep, "leave the container when its process has ended");
}
void place(Run& verb, Words words) {
    verb.options.id = std::move(words[0]);
}

void declare(Flags&, Start&) {}
void place(Start& verb, Words words) {
    verb.id = std::move(words[0]);
}

void declare(Flags&, State&) {}
void place(State& verb, Words words) {
    verb.id = std::move(words[0]);
}

void declare(Flags& flags, Kill& verb) {
    flags.add("all,a", &verb.all, "signal every process of the container");
    flags.add("regex,r", &verb.regex, "every container whose id this regular expression fits");
}
void place(Kill& verb, Words words) {
    verb.id = std::move(words[0]);
    if (words.size() > 1) verb.signal = std::move(words[1]);
}

void declare(Flags& flags, Delete& verb) {
    flags.add("force,f", &verb.force, "kill what still runs; one that does not exist is no error");
    flags.add("regex,r", &verb.regex, "every container whose id this regular expression fits");
}
void place(Delete& verb, Words words) {
    verb.id = std::move(words[0]);
}

void declare(Flags&, Pause&) {}
void place(Pause& verb, Words words) {
    verb.id = std::move(words[0]);
}

void declare(Flags&, Resume&) {}
void place(Resume& verb, Words words) {
    verb.id = std::move(words[0]);
}

void declare(Flags& flags, Ps& verb) {
    flags.add("format,f", &verb.format, "table or json");
}
void place(Ps& verb, Words words) {
    verb.id = std::move(words[0]);
    words.erase(words.begin());
    verb.arguments = std::move(words);
}

void declare(Flags& flags, Exec& verb) {
    runtime::ExecOptions& options = verb.options;
    flags.add("console-socket", &options.console_socket,
              "AF_UNIX socket that receives the terminal's descriptor");
    flags.add("pidfd-socket", &options.pidfd_socket, "AF_UNIX socket that receives a pidfd of the process");
    flags.add("cwd", &options.cwd, "working directory inside");
    flags.add("env,e", &options.env, "NAME=VALUE; may be repeated");
    flags.add("tty,t", &options.tty, "give the process a terminal");
    flags.add("user,u", &options.user, "UID[:GID], numbers");
    flags.add("additional-gids,g", &options.additional_gids, "further group; may be repeated");
    flags.add("process,p", &options.process_file, "process.json instead of a command");
    flags.add("detach,d", &options.detach, "return when the process runs");
    flags.add("pid-file", &options.pid_file, "file to write the process's id to");
    flags.add("process-label", &options.process_label, "SELinux label");
    flags.add("apparmor", &options.apparmor, "AppArmor profile");
    flags.add("no-new-privs", &options.no_new_privs, "set no_new_privs");
    flags.add("cap,c", &options.capabilities, "add a capability; may be repeated");
    flags.add("preserve-fds", &options.preserve_fds, "descriptors to pass on beside stdio, from 3 on");
    flags.add("cgroup", &options.cgroups,
              "[CONTROLLER[,CONTROLLER...]:]PATH below the container's cgroup; may be repeated");
    flags.add("ignore-paused", &options.ignore_paused, "even in a paused container");
}
void place(Exec& verb, Words words) {
    verb.options.id = std::move(words[0]);
    words.erase(words.begin());
    // `exec ID -- COMMAND`, as people write it for other tools.
    if (!words.empty() && words[0] == "--") words.erase(words.begin());
    verb.options.args = std::move(words);
}

void declare(Flags& flags, List& verb) {
    flags.add("format,f", &verb.format, "table or json");
    flags.add("quiet,q", &verb.quiet, "only the ids");
}

void declare(Flags& flags, Spec& verb) {
    flags.add("bundle,b", &verb.bundle, "the bundle's directory; the working directory by default");
    flags.add("file,f", &verb.file, "the file to write instead of the bundle's config.json");
    flags.add("rootless", &verb.rootless, "for a container of an ordinary user");
}

void declare(Flags& flags, Plan& verb) {
    declare_bundle(flags, verb.options);
    flags.add("json", &verb.json, "for programs");
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

}  // namespace

const std::vector<Entry>& entries() {
    constexpr Order kAnywhere = Order::interspersed;
    static const std::vector<Entry> table = {
        {"create", "<container-id>", "make a container; its process waits for start", 1, 1, kAnywhere,
         Create{}},
        {"start", "<container-id>", "let a created container's process go", 1, 1, kAnywhere, Start{}},
        {"run", "<container-id>", "create and start a container, and wait for its end", 1, 1, kAnywhere,
         Run{}},
        {"exec", "<container-id> <command> [argument...]", "one more process in a running container", 1,
         kAnyNumber, Order::flags_first, Exec{}},
        {"state", "<container-id>", "what a container is doing, as JSON", 1, 1, kAnywhere, State{}},
        {"list", "", "every container under --root", 0, 0, kAnywhere, List{}},
        {"kill", "<container-id> [signal]", "signal a container's first process, with SIGTERM by default", 1,
         2, kAnywhere, Kill{}},
        {"delete", "<container-id>", "remove a stopped container and all that was made for it", 1, 1,
         kAnywhere, Delete{}},
        {"pause", "<container-id>", "stop every process of a container where it is", 1, 1, kAnywhere,
         Pause{}},
        {"resume", "<container-id>", "let a paused container go on", 1, 1, kAnywhere, Resume{}},
        {"ps", "<container-id> [ps options]", "the processes of a container", 1, kAnyNumber,
         Order::flags_first, Ps{}},
        {"plan", "", "what a bundle and its grants come to, without running anything", 0, 0, kAnywhere,
         Plan{}},
        {"spec", "", "write a config.json to start from", 0, 0, kAnywhere, Spec{}},
        {"features", "", "what this runtime supports, as JSON", 0, 0, kAnywhere, Features{}},
        {"version", "", "the version", 0, 0, kAnywhere, Version{}},
        {"help", "", "this text", 0, kAnyNumber, kAnywhere, Help{}},
    };
    return table;
}

const Entry* find_entry(const std::string& name) {
    const auto& table = entries();
    const auto found =
        std::find_if(table.begin(), table.end(), [&](const Entry& entry) { return entry.name == name; });
    return found == table.end() ? nullptr : &*found;
}

void declare_flags(Flags& flags, Verb& verb) {
    std::visit([&](auto& alternative) { declare(flags, alternative); }, verb);
}

void place_words(Verb& verb, Words words) {
    std::visit([&](auto& alternative) { place(alternative, std::move(words)); }, verb);
}

}  // namespace rung::cli

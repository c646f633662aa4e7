// The table of verbs. Flags and their short forms are runc's; what only crun has is said.
// SPDX-License-Identifier: Apache-2.0
#include "verb_flags.hpp"

#include <algorithm>
#include <array>
#include <iterator>
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

void declare(Flags&, Mounts&) {}
void place(Mounts& verb, Words words) {
    verb.change = std::move(words[0]);
    verb.id = std::move(words[1]);
    verb.file = std::move(words[2]);
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

struct Limit {
    std::string_view name = {};
    std::string_view about = {};
};

constexpr std::array<Limit, 18> kLimits = {
    {{"blkio-weight", "weight of block device access, 10 to 1000"},
     {"cpu-period", "length of a period in microseconds"},
     {"cpu-quota", "time in each period in microseconds, -1 for no limit"},
     {"cpu-burst", "time that may be saved up for a burst, in microseconds"},
     {"cpu-share", "processor time relative to others'"},
     {"cpu-rt-period", "length of a real-time period in microseconds"},
     {"cpu-rt-runtime", "real-time time in each period in microseconds"},
     {"cpuset-cpus", "processors to use, such as 0-2,5"},
     {"cpuset-mems", "memory nodes to use"},
     {"cpu-idle", "1: run only when nobody else wants to"},
     {"memory", "memory in bytes or with a unit such as 64M, -1 for no limit"},
     {"memory-reservation", "memory to leave it when memory is short"},
     {"memory-swap", "memory and swap together, -1 for no limit"},
     {"kernel-memory", ""},
     {"kernel-memory-tcp", ""},
     {"pids-limit", "number of processes, -1 for no limit"},
     {"l3-cache-schema", "Intel RDT: share of the third-level cache"},
     {"mem-bw-schema", "Intel RDT: share of the memory bandwidth"}}};

void declare(Flags& flags, Update& verb) {
    flags.add("resources,r", &verb.resources,
              "file with linux.resources, - for standard input; no other flag counts then");
    for (const Limit& limit : kLimits)
        flags.add(limit.name, &verb.limits[std::string{limit.name}], std::string{limit.about});
}
void place(Update& verb, Words words) {
    verb.id = std::move(words[0]);
    std::erase_if(verb.limits, [](const auto& limit) { return limit.second.empty(); });
}

void declare(Flags& flags, Events& verb) {
    flags.add("interval", &verb.interval, "time between statistics, such as 5s or 100ms");
    flags.add("stats", &verb.stats, "print statistics once");
}
void place(Events& verb, Words words) {
    verb.id = std::move(words[0]);
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

void declare(Flags&, Wait&) {}
void place(Wait& verb, Words words) {
    verb.id = std::move(words[0]);
}

void declare(Flags& flags, Do& verb) {
    flags.add("root", &verb.root, "the tree that it sees, read-only; the host's by default");
    flags.add("cwd", &verb.cwd, "working directory; the caller's by default");
}
void place(Do& verb, Words words) {
    verb.args = std::move(words);
}

void declare_criu(Flags& flags, runtime::CriuOptions& options) {
    flags.add("image-path", &options.image_path, "directory of CRIU's images; \"checkpoint\" by default");
    flags.add("work-path", &options.work_path, "directory of CRIU's logs");
    flags.add("tcp-established", &options.tcp_established, "with open TCP connections");
    flags.add("ext-unix-sk", &options.external_unix_sockets, "with connections to UNIX sockets outside");
    flags.add("shell-job", &options.shell_job, "with a terminal of the caller's");
    flags.add("file-locks", &options.file_locks, "with file locks");
    flags.add("lazy-pages", &options.lazy_pages, "memory follows when it is touched (userfaultfd)");
    flags.add("manage-cgroups-mode", &options.manage_cgroups_mode, "soft, full, strict or ignore");
    flags.add("empty-ns", &options.empty_namespaces,
              "network: a namespace of this kind is made, and left empty");
    flags.add("auto-dedup", &options.auto_dedup, "drop pages that are in two images");
}

void declare(Flags& flags, Checkpoint& verb) {
    runtime::CheckpointOptions& options = verb.options;
    declare_criu(flags, options.criu);
    flags.add("parent-path", &options.parent_path, "an earlier pre-dump, relative to the image path");
    flags.add("leave-running", &options.leave_running, "let the container go on afterwards");
    flags.add("pre-dump", &options.pre_dump, "only the memory; the container goes on");
    flags.add("page-server", &options.page_server, "ADDRESS:PORT that takes the memory");
    flags.add("status-fd", &options.status_fd,
              "descriptor that gets a zero byte when lazy pages can be asked for");
    flags.add("tcp-skip-in-flight", &options.tcp_skip_in_flight,
              "without TCP connections that are being made");
    flags.add("link-remap", &options.link_remap, "with files that have been unlinked");
}
void place(Checkpoint& verb, Words words) {
    verb.options.id = std::move(words[0]);
}

void declare(Flags& flags, Restore& verb) {
    runtime::CreateOptions& container = verb.options.container;
    declare_criu(flags, verb.options.criu);
    flags.add("bundle,b", &container.bundle, "the bundle's directory; the working directory by default");
    flags.add("console-socket", &container.console_socket,
              "AF_UNIX socket that receives the terminal's descriptor");
    flags.add("detach,d", &container.detach, "return when the process runs");
    flags.add("pid-file", &container.pid_file, "file to write the process's id to");
    flags.add("no-subreaper", &container.no_subreaper, "do not reap what the container leaves behind");
    flags.add("no-pivot", &container.no_pivot, "accepted and without effect: CRIU mounts");
    flags.add("lsm-profile", &verb.options.lsm_profile, "TYPE:NAME, another security profile than before");
    flags.add("lsm-mount-context", &verb.options.lsm_mount_context, "another mount context than before");
}
void place(Restore& verb, Words words) {
    verb.options.container.id = std::move(words[0]);
}

void declare(Flags& flags, GrantDocuments& verb) {
    flags.add("json", &verb.json, "what is wrong, for a program");
}
void place(GrantDocuments& verb, Words words) {
    verb.action = std::move(words[0]);
    verb.files.assign(std::make_move_iterator(words.begin() + 1), std::make_move_iterator(words.end()));
}

void declare(Flags& flags, Doctor& verb) {
    flags.add("json", &verb.json, "for a program");
}
void place(Doctor& verb, Words words) {
    verb.files = std::move(words);
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

template <typename Alternative>
Verb blank() {
    return Alternative{};
}

}  // namespace

std::span<const Entry> entries() {
    constexpr Order kAnywhere = Order::interspersed;
    static constexpr Entry kTable[] = {
        {"create", "<container-id>", "make a container; its process waits for start", 1, 1, kAnywhere,
         blank<Create>},
        {"start", "<container-id>", "let a created container's process go", 1, 1, kAnywhere, blank<Start>},
        {"run", "<container-id>", "create and start a container, and wait for its end", 1, 1, kAnywhere,
         blank<Run>},
        {"exec", "<container-id> <command> [argument...]", "one more process in a running container", 1,
         kAnyNumber, Order::flags_first, blank<Exec>},
        {"state", "<container-id>", "what a container is doing, as JSON", 1, 1, kAnywhere, blank<State>},
        {"list", "", "every container under --root", 0, 0, kAnywhere, blank<List>},
        {"kill", "<container-id> [signal]", "signal a container's first process, with SIGTERM by default", 1,
         2, kAnywhere, blank<Kill>},
        {"delete", "<container-id>", "remove a stopped container and all that was made for it", 1, 1,
         kAnywhere, blank<Delete>},
        {"pause", "<container-id>", "stop every process of a container where it is", 1, 1, kAnywhere,
         blank<Pause>},
        {"resume", "<container-id>", "let a paused container go on", 1, 1, kAnywhere, blank<Resume>},
        {"ps", "<container-id> [ps options]", "the processes of a container", 1, kAnyNumber,
         Order::flags_first, blank<Ps>},
        {"update", "<container-id>", "change a container's limits", 1, 1, kAnywhere, blank<Update>},
        {"mounts", "add|remove <container-id> <file>",
         "change what a running container has mounted by a JSON list", 3, 3, kAnywhere, blank<Mounts>},
        {"events", "<container-id>", "a container's statistics, and what was killed for want of memory", 1, 1,
         kAnywhere, blank<Events>},
        {"checkpoint", "<container-id>", "save a container's processes as files, with CRIU", 1, 1, kAnywhere,
         blank<Checkpoint>},
        {"restore", "<container-id>", "make a container from such files", 1, 1, kAnywhere, blank<Restore>},
        {"wait", "<container-id>", "wait for a container's process, and print its exit status as JSON", 1, 1,
         kAnywhere, blank<Wait>},
        {"do", "<command> [argument...]", "run a command in a sandbox that sees this host's files, read-only",
         1, kAnyNumber, Order::flags_first, blank<Do>},
        {"plan", "", "what a bundle and its grants come to, without running anything", 0, 0, kAnywhere,
         blank<Plan>},
        {"grant", "check|meet|digest <file>...",
         "what is wrong with grants, what they come to together, and their digests", 2, kAnyNumber, kAnywhere,
         blank<GrantDocuments>},
        {"doctor", "[grant...]", "what this host can enforce, and whether it can enforce these grants", 0,
         kAnyNumber, kAnywhere, blank<Doctor>},
        {"spec", "", "write a config.json to start from", 0, 0, kAnywhere, blank<Spec>},
        {"features", "", "what this runtime supports, as JSON", 0, 0, kAnywhere, blank<Features>},
        {"version", "", "the version", 0, 0, kAnywhere, blank<Version>},
        {"help", "", "this text", 0, kAnyNumber, kAnywhere, blank<Help>},
    };
    return kTable;
}

const Entry* find_entry(const std::string& name) {
    const auto table = entries();
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

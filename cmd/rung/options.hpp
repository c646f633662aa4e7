// The command line as values: global options first, then one struct per verb.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>
#include <variant>
#include <vector>

#include "base/log.hpp"
#include "base/result.hpp"
#include "runtime/checkpoint.hpp"
#include "runtime/runtime.hpp"

namespace rung::cli {

struct Create {
    runtime::CreateOptions options = {};
};
struct Run {
    runtime::CreateOptions options = {};
};
struct Start {
    std::string id = {};
};
struct State {
    std::string id = {};
};
struct Kill {
    std::string id = {};
    std::string signal = "SIGTERM";
    bool all = false;
    bool regex = false;  // `id` is a regular expression; crun
};
struct Delete {
    std::string id = {};
    bool force = false;
    bool regex = false;
};
struct Pause {
    std::string id = {};
};
struct Resume {
    std::string id = {};
};
struct Ps {
    std::string id = {};
    std::string format = "table";
    std::vector<std::string> arguments = {};  // for ps(1)
};
struct Update {
    std::string id = {};
    std::string resources = {};                      // a file, "-" for standard input
    std::map<std::string, std::string> limits = {};  // the other flags by name, those that were given
};
struct Events {
    std::string id = {};
    std::string interval = "5s";
    bool stats = false;
};
struct Exec {
    runtime::ExecOptions options = {};
};
struct List {
    std::string format = "table";
    bool quiet = false;
};
struct Spec {
    std::string bundle = {};  // empty = the working directory
    std::string file = {};    // empty = config.json in the bundle; crun
    bool rootless = false;
};
struct Mounts {
    std::string change = {};  // "add" or "remove"
    std::string id = {};
    std::string file = {};
};
struct Wait {
    std::string id = {};
};
struct Do {
    std::vector<std::string> args = {};
    std::string root = "/";  // the tree it sees, read-only
    std::string cwd = {};    // empty = the working directory
};
struct Checkpoint {
    runtime::CheckpointOptions options = {};
};
struct Restore {
    runtime::RestoreOptions options = {};
};
struct Features {};
struct Plan {
    runtime::CreateOptions options = {};
    bool json = false;
};
struct GrantDocuments {
    std::string action = {};  // "check", "meet" or "digest"
    std::vector<std::string> files = {};
    bool json = false;
};
struct Doctor {
    std::vector<std::string> files = {};  // grants that have to be enforceable
    bool json = false;
};
struct Version {
    std::string program = {};
};
struct Help {
    std::string text = {};
};
struct Unknown {
    std::string name = {};
};
using Verb = std::variant<Create, Run, Start, State, Kill, Delete, Pause, Resume, Ps, Update, Events, Exec,
                          List, Spec, Features, Plan, Version, Help, Unknown, Wait, Do, Checkpoint, Restore,
                          Mounts, GrantDocuments, Doctor>;

struct GlobalOptions {
    runtime::Globals globals = {};
    std::string log_file = {};  // empty = standard error
    log::Format log_format = log::Format::text;
    log::Level least = log::Level::warn;
    std::vector<std::string> rest = {};  // the verb and what belongs to it
    std::vector<std::string> remarks =
        {};  // for the log, once it is open: what was accepted and has no effect
};

// Global flags end at the verb.
Result<GlobalOptions> parse_globals(const std::vector<std::string>& words);

// `words` begins with the verb. Flags may follow the container's id, except for `exec`, where everything from there on is the
// container's business. `program` is the name that help and version give.
Result<Verb> parse_verb(const std::vector<std::string>& words, const std::string& program = "rung");

}  // namespace rung::cli

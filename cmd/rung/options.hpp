// The command line as values: global options first, then one struct per verb. The only file that knows CLI11 is options.cpp.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <variant>
#include <vector>

#include "base/log.hpp"
#include "base/result.hpp"
#include "runtime/runtime.hpp"

namespace rung::cli {

struct Create {
    runtime::CreateOptions options = {};
    std::string pidfd_socket = {};
};
struct Run {
    runtime::CreateOptions options = {};
    std::string pidfd_socket = {};
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
};
struct Delete {
    std::string id = {};
    bool force = false;
};
struct Exec {
    runtime::ExecOptions options = {};
    std::string process_label = {};
    std::string apparmor = {};
    std::string cgroup = {};
    std::string pidfd_socket = {};
};
struct List {
    std::string format = "table";
    bool quiet = false;
};
struct Spec {
    std::string bundle = ".";
    bool rootless = false;
};
struct Features {};
struct Plan {
    runtime::CreateOptions options = {};
    bool json = false;
};
struct Version {};
struct Help {
    std::string text = {};
};
struct Unknown {
    std::string name = {};
};
using Verb = std::variant<Create, Run, Start, State, Kill, Delete, Exec, List, Spec, Features, Plan, Version,
                          Help, Unknown>;

struct GlobalOptions {
    runtime::Globals globals = {};
    std::string log_file = {};  // empty = standard error
    log::Format log_format = log::Format::text;
    log::Level least = log::Level::warn;
    std::vector<std::string> rest = {};  // the verb and what belongs to it
};

// Flags are read as Go programs read them, since that is what engines were written against: `-name` is `--name`, `--name=value` is
// `--name value`, `--` ends them. Global flags end at the verb.
Result<GlobalOptions> parse_globals(const std::vector<std::string>& words);

// `words` begins with the verb. Flags may follow the container's id, except for `exec`, where everything from there on is the
// container's business.
Result<Verb> parse_verb(const std::vector<std::string>& words);

}  // namespace rung::cli

// rung do: a sandbox for one command without an image. It sees the top directories of a tree, read-only, and has the rest for itself.
// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <nlohmann/json.hpp>

#include "base/path.hpp"
#include "base/scope_exit.hpp"
#include "config/parse.hpp"
#include "kernel/files.hpp"
#include "root_directory.hpp"
#include "verbs.hpp"

namespace rung::cli {

namespace {

using Json = nlohmann::json;

// Made anew in the sandbox rather than seen: the kernel's views of the whole host, and what is for scratch.
bool is_own(const std::string& name) {
    return name == "proc" || name == "sys" || name == "dev" || name == "tmp" || name == "run";
}

Result<Json> bind_mounts(const std::string& root, const std::string& rootfs) {
    Json mounts = Json::array();
    for (const std::string& name : TRY(kernel::list_directory(root))) {
        if (is_own(name)) continue;
        const std::string source = path::join(root, name);
        struct stat status = {};
        if (lstat(source.c_str(), &status) != 0) continue;  // gone since
        if (S_ISLNK(status.st_mode)) {
            char target[4096] = "";
            if (readlink(source.c_str(), target, sizeof target - 1) < 0 ||
                symlink(target, path::join(rootfs, name).c_str()) != 0)
                return errno_error(source, errno);
        } else if (S_ISDIR(status.st_mode)) {
            mounts.push_back({{"destination", "/" + name},
                              {"type", "bind"},
                              {"source", source},
                              {"options", {"rbind", "rprivate", "rro", "rnosuid", "rnodev"}}});
        }
    }
    return mounts;
}

std::vector<std::string> environment() {
    std::vector<std::string> entries;
    for (char** entry = environ; *entry != nullptr; ++entry) {
        const std::string text = *entry;
        if (text.find('=') != std::string::npos && !text.starts_with("RUNG_")) entries.push_back(text);
    }
    return entries;
}

void become_caller(Json& config, const Do& verb, const std::string& cwd) {
    Json& process = config["process"];
    process["args"] = verb.args;
    process["env"] = environment();
    process["cwd"] = cwd;
    process["terminal"] = isatty(STDIN_FILENO) == 1;
    process["user"] = {{"uid", geteuid()}, {"gid", getegid()}};
    if (geteuid() != 0) {
        config["linux"]["uidMappings"] = {{{"containerID", geteuid()}, {"hostID", geteuid()}, {"size", 1}}};
        config["linux"]["gidMappings"] = {{{"containerID", getegid()}, {"hostID", getegid()}, {"size", 1}}};
        config["linux"]["namespaces"].push_back({{"type", "network"}});
    }
}

Result<std::string> write_bundle(const Do& verb, const std::string& bundle) {
    const std::string rootfs = bundle + "/rootfs";
    TRY(kernel::make_directory(rootfs, 0755));
    Json config = Json::parse(config::default_spec_json({.rootless = geteuid() != 0}));
    become_caller(config, verb, TRY(absolute_path(verb.cwd.empty() ? "." : verb.cwd)));
    config["root"] = {{"path", "rootfs"}, {"readonly", false}};
    // Before the mounts of proc, dev and sys, which may lie below.
    Json mounts = TRY(bind_mounts(TRY(absolute_path(verb.root)), rootfs));
    for (const Json& mount : config["mounts"])
        mounts.push_back(mount);
    config["mounts"] = std::move(mounts);
    for (const char* scratch : {"/tmp", "/run"}) {
        config["mounts"].push_back({{"destination", scratch},
                                    {"type", "tmpfs"},
                                    {"source", "tmpfs"},
                                    {"options", {"nosuid", "nodev", "mode=1777"}}});
    }
    return config.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace

Result<int> perform(const runtime::Globals& globals, const Do& verb) {
    char bundle[] = "/tmp/rung-do-XXXXXX";
    if (mkdtemp(bundle) == nullptr) return errno_error("make a directory in /tmp", errno);
    const std::string name = path::file_name(bundle);
    const ScopeExit remove_bundle{[&] { (void)kernel::remove_tree_at(AT_FDCWD, bundle); }};
    if (chmod(bundle, 0755) != 0) return errno_error(bundle, errno);
    const std::string text = TRY(write_bundle(verb, bundle));
    const Fd directory = TRY(kernel::open_at(AT_FDCWD, bundle, O_RDONLY | O_DIRECTORY));
    TRY(kernel::write_file_atomically(directory.get(), {.name = "config.json", .text = text}));
    return runtime::run(globals, {.id = name, .bundle = bundle});
}

}  // namespace rung::cli

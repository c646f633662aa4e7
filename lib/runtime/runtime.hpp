// The verbs of an OCI runtime as functions: cmd/rung parses options and calls these.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "config/resources.hpp"

namespace rung::runtime {

struct Globals {
    std::string root = {};         // state directory, absolute; where containers are remembered
    bool root_is_given = false;    // by the caller, who is wrong if nothing is there
    std::string own_program = {};  // rung's own path, beside which its helper programs are
    bool systemd_cgroup = false;
    // No cgroup is made: processes stay in the caller's, and a limit is refused, or config.json's limits do not hold.
    bool without_cgroups = false;
    bool ignore_cgroups = false;
    bool needs_cgroups = false;  // where one may not be made the container fails, limits or not
    // A network namespace with only loopback, even if config.json names another.
    bool without_network = false;
    std::vector<std::string> grant_files = {};  // global --grant (runtimeArgs)
    std::string handler = {};                   // --handler: how the engine calls this runtime
    std::string called_as = {};  // the name of the program, where neither --handler nor the engine says
    std::string criu = "criu";   // the program for checkpoint and restore
};

struct CreateOptions {
    std::string id = {};
    std::string bundle = {};                  // as given; empty = the working directory
    std::string config_file = "config.json";  // relative to the bundle
    std::string pid_file = {};                // relative to the caller's working directory
    std::string console_socket = {};
    std::string pidfd_socket = {};              // receives a pidfd of the container's process
    std::vector<std::string> grant_files = {};  // create/run --grant
    bool no_pivot = false;
    bool no_new_keyring = false;
    int preserve_fds = 0;
    bool detach = false;        // run only
    bool keep = false;          // run only: leave the container when its process ends
    bool no_subreaper = false;  // run only
};

struct ExecOptions {
    std::string id = {};
    std::string process_file = {};  // --process; empty: built from the fields below
    std::vector<std::string> args = {};
    std::vector<std::string> env = {};  // added to the container's
    std::optional<std::string> cwd = {};
    std::optional<std::string> user = {};  // UID[:GID], strictly numeric (CVE-2026-30892)
    std::vector<uint32_t> additional_gids = {};
    std::vector<std::string> capabilities = {};
    std::optional<bool> no_new_privs = {};
    bool tty = false;
    bool detach = false;
    std::string pid_file = {};
    std::string console_socket = {};
    std::string pidfd_socket = {};
    std::string apparmor = {};              // profile; empty: the container's
    std::string process_label = {};         // SELinux; empty: the container's
    std::vector<std::string> cgroups = {};  // [CONTROLLER[,CONTROLLER]:]PATH below the container's cgroup
    int preserve_fds = 0;
    bool ignore_paused = false;
};

struct ContainerInfo {
    std::string oci_version = {};
    std::string id = {};
    int pid = 0;              // 0 when stopped
    std::string status = {};  // "creating", "created", "running", "paused", "stopped"
    std::string bundle = {};
    std::string rootfs = {};
    std::string created = {};  // RFC 3339
    std::string owner = {};    // user name or uid
    std::map<std::string, std::string> annotations = {};
};

// A failure leaves nothing behind: no cgroup, mount, process or state directory.
Status create(const Globals& globals, const CreateOptions& options);
// The exit code of the container's process (128+N for signal N), or 0 with `detach`.
Result<int> run(const Globals& globals, const CreateOptions& options);
Status start(const Globals& globals, const std::string& id);
Result<int> exec(const Globals& globals, const ExecOptions& options);
// `all`: every process of the container's cgroup, not only init. Fails with "container not running" on a stopped one unless `all`.
Status kill(const Globals& globals, const std::string& id, int signal, bool all);
// `force`: kills what still runs, and succeeds for an id that does not exist.
Status remove(const Globals& globals, const std::string& id, bool force);
// Every process of the container stops where it is, and goes on with `resume`. Only a running or created container can be paused.
Status pause(const Globals& globals, const std::string& id);
Status resume(const Globals& globals, const std::string& id);
// Of the whole cgroup, sorted; none for a stopped container.
Result<std::vector<int>> processes(const Globals& globals, const std::string& id);
// Blocks until the container's process has ended; its exit code, 128+N for signal N.
Result<int> wait(const Globals& globals, const std::string& id);
// Changes the limits that `resources` names, in a container that has not stopped; device rules are passed over, as in runc. Under a
// grant nothing may become wider than the grant.
Status update(const Globals& globals, const std::string& id, const config::Resources& resources);

// By a file with a JSON list of mounts, as in config.json. A container under a grant keeps the mounts it has.
enum class MountChange { add, remove };
Status change_mounts(const Globals& globals, const std::string& id, MountChange change,
                     const std::string& file);
Result<ContainerInfo> inspect(const Globals& globals, const std::string& id);
Result<std::vector<ContainerInfo>> list(const Globals& globals);  // by id; a missing root is an empty list

// What `rung plan` prints for this bundle and these grants.
Result<std::string> describe_plan(const Globals& globals, const CreateOptions& options, bool json);

}  // namespace rung::runtime

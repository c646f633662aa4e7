// State: what rung remembers of one container, and the directory under --root that holds it.
//
//   ROOT/ID/config.json    the text of config.json at create: `exec` decides by what the container was made from
//   ROOT/ID/state.json     everything known before the first process exists; written once
//   ROOT/ID/status         the same for scripts that know crun's file of that name
//   ROOT/ID/notify         what is shown to a container whose caller listens for its readiness
//   ROOT/ID/init           "PID STARTTIME" of the container's first process, and its cgroup in a second line; written once, before that
//                          process may go on
//   ROOT/ID/resctrl        present once the container's resctrl directories are made
//   ROOT/ID/exec.fifo      present while the container is created but not started
//
// Every file appears under its name only when complete, so a rung killed at any instruction leaves what `delete --force` understands.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/fd.hpp"
#include "base/result.hpp"
#include "cgroup/cgroup.hpp"
#include "plan/image_facts.hpp"
#include "runtime/process.hpp"
#include "runtime/resctrl.hpp"

namespace rung::runtime {

// `fallback`: the ceiling's defaultGrant, for a container that brings none.
enum class SourceKind { grant, drop_box, fallback, ceiling };

// A grant or the ceiling as it arrived, kept so that `exec` decides by the same text.
struct GrantSource {
    std::string name = {};  // "--grant FILE", "annotation dev.rung.grant", "grant.json"
    std::string text = {};
    SourceKind kind = SourceKind::grant;
    size_t rule = 0;  // of a ceiling: the index of the one for this container
    bool operator==(const GrantSource&) const = default;
};

struct State {
    std::string id = {};
    std::string oci_version = {};
    std::string bundle = {};
    std::string rootfs = {};
    std::string created = {};  // RFC 3339, UTC
    uint32_t owner_uid = 0;
    std::map<std::string, std::string> annotations = {};
    std::vector<GrantSource> grants = {};
    plan::ImageFacts image = {};    // as it was when the container was made: `exec` decides by the same
    std::string grant_digest = {};  // of what they together allow; empty without a grant
    bool grants_are_known = true;   // false when the file does not say: nothing may then be decided by it
    cgroup::Cgroup cgroup = {};
    std::optional<ResctrlGroup> resctrl = {};
    bool new_keyring = true;             // and so has each `exec`
    bool private_pid_namespace = false;  // the end of init is the end of every process
    bool has_poststart_hooks = false;
    bool has_poststop_hooks = false;
    // Where mounts are made on the host: the id of the mount that showed the rootfs before. One that differs is ours.
    std::optional<uint64_t> rootfs_mount = {};
    // What the standard streams were: "/dev/null", "pipe:[123]". A pipe has to be given again when the processes are restored.
    std::vector<std::string> streams = {};
    bool operator==(const State&) const = default;
};

std::string cgroup_to_text(const cgroup::Cgroup& cgroup);  // one line of JSON
std::optional<cgroup::Cgroup> cgroup_from_text(std::string_view text);
std::string state_to_json(const State& state);
// The same and the process as crun's `status` file has them, which scripts of its users read; rung itself never does. `streams`: where the
// process's standard streams lead.
std::string crun_status(const State& state, const ProcessIdentity& init,
                        const std::vector<std::string>& streams);
Result<State> state_from_json(std::string_view json);

enum class Phase { creating, created, running, paused, stopped };
std::string phase_name(Phase phase);

// One container's directory, open; destroyed without effect on the disk.
class StateDirectory {
  public:
    // Makes ROOT (0711) and ROOT/ID (0700). "container with given ID already exists" when the name is taken.
    static Result<StateDirectory> claim(const std::string& root, const std::string& id);
    // "container does not exist" when there is none.
    static Result<StateDirectory> open(const std::string& root, const std::string& id);

    // Waits for the exclusive lock that every verb which changes the container holds; released with this object.
    Status lock();
    // The same without waiting: false when another process holds it.
    Result<bool> try_lock();
    void unlock();
    // True once another process has removed the container, perhaps while this one waited for the lock.
    bool is_removed() const;
    // True while another process holds it.
    bool is_being_changed() const;

    Status write_config(const std::string& text);
    Status write_state(const State& state);
    Status write_init(const ProcessIdentity& init, const cgroup::Cgroup& cgroup);
    Status write_crun_status();  // of what was written before
    // The FIFO under a provisional name; announce_created() gives it its real one.
    Result<Fd> make_start_fifo();
    Status announce_created();
    void forget_start_fifo();

    // What is shown to a container whose caller listens for its readiness (notify.hpp).
    Status make_notify_directory();
    std::optional<std::string> notify_directory() const;  // its path, when there is one

    Result<std::string> read_config() const;
    // Nothing when create was killed before it wrote any: then there is nothing but the directory.
    Result<std::optional<State>> read_state() const;
    std::optional<ProcessIdentity> read_init() const;
    // What stands beside it: a cgroup that is certainly the container's, whatever became of state.json.
    std::optional<cgroup::Cgroup> read_cgroup() const;
    // Whether the resctrl directories that the state names are the container's own, and not those of somebody who came first.
    Status note_resctrl();
    bool has_resctrl() const;
    bool start_fifo_is_announced() const;
    bool start_fifo_is_unannounced() const;
    Result<Fd> open_start_fifo() const;  // O_WRONLY | O_NONBLOCK; ENXIO when nothing waits on it

    // Where it is, without symlinks.
    Result<std::string> path() const;

    Status remove();  // the directory and all in it; what is gone already is fine

  private:
    StateDirectory(std::string root, std::string id, Fd directory);

    std::string root_ = {};
    std::string id_ = {};
    Fd directory_ = {};
    bool locked_ = false;
};

std::string notify_directory_of(const std::string& root, const std::string& id);

// "[A-Za-z0-9_+][A-Za-z0-9_+.-]*", at most 1024 bytes; checked before any disk is touched (crun 1.20).
Status check_id(const std::string& id);

// Where a container stands, from its files and the kernel.
Phase phase_of(const StateDirectory& directory, const State& state);

}  // namespace rung::runtime

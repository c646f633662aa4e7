// What rung and CRIU say to each other, as values, and their form on the wire (criu/rpc.proto). Pure.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"

namespace rung::criu {

enum class Task { version, check_features, dump, pre_dump, restore };

// unset: CRIU's own default, which a configuration file may change.
enum class CgroupMode { unset, ignore, soft, full, strict };
std::optional<CgroupMode> parse_cgroup_mode(std::string_view name);

struct PageServer {
    std::string address = {};
    int port = 0;
    bool operator==(const PageServer&) const = default;
};
Result<PageServer> parse_page_server(const std::string& text);  // ADDRESS:PORT, [ADDRESS]:PORT

struct Pair {
    std::string key = {};
    std::string value = {};
    bool operator==(const Pair&) const = default;
};

struct Inherited {
    std::string key = {};
    int number = 0;
};

// Descriptors are CRIU's own (Program::further).
struct Options {
    int images_directory = -1;
    int work_directory = -1;  // -1: the images'
    pid_t pid = 0;            // dump only
    std::string root = {};
    std::string log_file = {};
    std::string config_file = {};  // whose settings win
    std::string parent_images = {};
    std::string freezer = {};
    std::string lsm_profile = {};
    std::string lsm_mount_context = {};
    std::optional<PageServer> page_server = {};
    CgroupMode cgroup_mode = CgroupMode::unset;
    uint32_t empty_namespaces = 0;             // CLONE_NEW*
    std::vector<Pair> external_mounts = {};    // dump: mount point and name; restore: name and source
    std::vector<Pair> joined_namespaces = {};  // kind and path
    std::vector<Pair> cgroup_roots = {};       // controllers and path
    std::vector<std::string> external = {};    // "net[INODE]:NAME"
    std::vector<Inherited> inherited = {};
    bool leave_running = false;
    bool external_unix_sockets = false;
    bool tcp_established = false;
    bool tcp_skip_in_flight = false;
    bool shell_job = false;
    bool file_locks = false;
    bool link_remap = false;
    bool track_memory = false;
    bool auto_dedup = false;
    bool lazy_pages = false;
};

struct Features {
    bool memory_tracking = false;
    bool lazy_pages = false;
    bool operator==(const Features&) const = default;
};

std::string encode_version_request();
std::string encode_feature_request(const Features& asked);
std::string encode_request(Task task, const Options& options);
// To a notification: whether CRIU may go on.
std::string encode_answer(bool go_on);

struct Version {
    int major = 0;
    int minor = 0;
    int sublevel = 0;
    auto operator<=>(const Version&) const = default;
};

struct Response {
    enum class Kind { notification, result };
    Kind kind = Kind::result;
    std::string task = {};  // as the protocol spells it: "DUMP"
    bool success = false;
    int error_number = 0;
    std::string error_text = {};
    std::string script = {};  // of a notification: "post-restore"
    pid_t pid = 0;            // of the restored process; 0 when it is not said
    Version version = {};
    Features features = {};
};
Result<Response> decode_response(std::string_view bytes);

// "/proc/PID/cgroup" as CRIU wants it: each controller with its path; the unified hierarchy has no controller.
std::vector<Pair> parse_cgroup_roots(std::string_view text);

// The last two errors that CRIU's log holds, without time and place: the cause, and what it meant. Empty when there is none.
std::string last_errors(std::string_view log);

}  // namespace rung::criu

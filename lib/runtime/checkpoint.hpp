// checkpoint and restore, which CRIU does: a container's processes as files, and processes from such files.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "base/result.hpp"
#include "runtime/runtime.hpp"

namespace rung::runtime {

// What checkpoint and restore say to CRIU alike.
struct CriuOptions {
    std::string image_path = {};  // empty: "checkpoint" in the working directory
    std::string work_path = {};   // CRIU's logs; empty: the image path
    std::string manage_cgroups_mode = {};
    std::vector<std::string> empty_namespaces = {};  // only "network"
    bool tcp_established = false;
    bool external_unix_sockets = false;
    bool shell_job = false;
    bool file_locks = false;
    bool auto_dedup = false;
    bool lazy_pages = false;
};

struct CheckpointOptions {
    std::string id = {};
    CriuOptions criu = {};
    std::string parent_path = {};  // relative to the image path
    std::string page_server = {};  // ADDRESS:PORT
    int status_fd = -1;
    bool leave_running = false;
    bool pre_dump = false;
    bool tcp_skip_in_flight = false;
    bool link_remap = false;
};

struct RestoreOptions {
    CreateOptions container = {};
    CriuOptions criu = {};
    std::string lsm_profile = {};
    std::string lsm_mount_context = {};
};

// Without leave_running or pre_dump the container is gone afterwards, its state as well.
Status checkpoint(const Globals& globals, const CheckpointOptions& options);
// As run() does.
Result<int> restore(const Globals& globals, const RestoreOptions& options);

}  // namespace rung::runtime

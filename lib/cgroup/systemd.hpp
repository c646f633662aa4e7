// The systemd driver: a container's unit, through the helper program rung-systemd (cmd/rung-systemd/main.cpp has the protocol).
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <map>
#include <string>

#include "base/fd.hpp"
#include "base/record.hpp"
#include "base/result.hpp"
#include "cgroup/cgroup.hpp"
#include "config/resources.hpp"
#include "kernel/host_facts.hpp"

namespace rung::cgroup {

// A running rung-systemd with a connection to systemd; it ends with this object, by force when it has to.
class SystemdSession {
  public:
    static Result<SystemdSession> open(const std::string& program, UnitOwner owner);
    SystemdSession(SystemdSession&& other) noexcept;
    SystemdSession(const SystemdSession&) = delete;
    SystemdSession& operator=(const SystemdSession&) = delete;
    SystemdSession& operator=(SystemdSession&&) = delete;
    ~SystemdSession();

    Status tell(const Record& request);  // one that is not answered
    // The answer without its "ok". The D-Bus error's name is the error's `reason`.
    Result<Record> ask(const Record& request);

  private:
    SystemdSession(Fd channel, pid_t pid);
    Result<std::string> read_line();

    Fd channel_ = {};
    pid_t pid_ = -1;
    Fd pidfd_ = {};  // of `pid_`
    std::string received_ = {};
};

// Unit properties that `update` keeps in step with the files.
Status set_unit_limits(const Cgroup& cgroup, const std::vector<Write>& writes);
// Ends the unit. That it is gone already is fine, and so is a helper that is not there any more: systemd collects an empty scope.
void stop_unit(const Cgroup& cgroup);
// Into the unit's cgroup, or `below` it: systemd may where its user may not.
Status attach_to_unit(const Cgroup& cgroup, const std::string& below, pid_t pid);

// Directories that systemd did not make: v1 hierarchies that it does not use.
Status make_missing_directories(const Cgroup& cgroup);

}  // namespace rung::cgroup

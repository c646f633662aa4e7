// Bus: a connection to systemd's manager, and the four things that rung asks of it.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <systemd/sd-bus.h>

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "base/result.hpp"

namespace rung::systemd {

enum class Which { system, user };

// `type` is a D-Bus signature: b, i, u, t, x, d, s, as, ay, au, a(ss) or a(st); `values` has one text for each basic value in it.
struct Property {
    std::string name = {};
    std::string type = {};
    std::vector<std::string> values = {};
};

struct Manager {
    std::string version = {};
    std::string control_group = {};  // "" for the system's, "/user.slice/.../user@1000.service" for a user's
};

class Bus {
  public:
    // Through the bus daemon, or, where there is none, through systemd's own socket.
    static Result<Bus> open(Which which);
    Bus(Bus&& other) noexcept;
    Bus(const Bus&) = delete;
    Bus& operator=(const Bus&) = delete;
    Bus& operator=(Bus&&) = delete;
    ~Bus();

    Result<Manager> describe_manager();
    // Each returns when systemd's job is done. A unit of that name that is only still being cleaned away is waited for; any other is an
    // error, org.freedesktop.systemd1.UnitExists.
    Status start_transient(const std::string& unit, const std::vector<Property>& properties);
    // Also forgets that the unit has failed; that it is gone already is fine.
    Status stop(const std::string& unit);
    Status set(const std::string& unit, const std::vector<Property>& properties);
    // Moves processes of the caller's own user into the unit's cgroup, or into `below` it.
    Status attach(const std::string& unit, const std::string& below, const std::vector<uint32_t>& pids);

  private:
    explicit Bus(sd_bus* bus) : bus_(bus) {}
    Status listen();
    Result<std::string> await_job(const std::string& job);
    Result<std::string> manager_property(const char* name);
    std::string active_state(const std::string& unit);
    Status pass_time();
    void reset_failed(const std::string& unit);
    Status try_to_start(const std::string& unit, const std::vector<Property>& properties);

    sd_bus* bus_ = nullptr;
};

}  // namespace rung::systemd

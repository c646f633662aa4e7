// rung-systemd: asks systemd for what rung wants of it. libsystemd cannot be linked statically, so rung, which is static, starts this
// program when it is called with --systemd-cgroup, and talks to it over a pipe on standard input and output.
//
// Requests and answers are records (base/record.hpp), one a line, answered in order; the end of input is the end of the program.
//
//   open      system|user                            first of all
//   manager                                          -> ok VERSION CONTROL_GROUP
//   property  NAME TYPE [VALUE...]                   no answer: kept for the next start or set; TYPE is a D-Bus signature
//   start     UNIT                                   a transient unit of the properties so far
//   set       UNIT                                   the properties so far, until the next boot
//   stop      UNIT                                   fine when it is gone already
//   attach    UNIT BELOW PID...                      processes into the unit's cgroup
//
// Each answer but `manager`'s is "ok" or "error NAME MESSAGE", where NAME is the D-Bus error's, or empty.
// SPDX-License-Identifier: Apache-2.0
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <utility>

#include "base/record.hpp"
#include "bus.hpp"

namespace {

using namespace rung;

Record failure(const Error& error) {
    return {"error", error.reason, error.message};
}

Record answer_of(const Status& status) {
    return status ? Record{"ok"} : failure(status.error());
}

class Session {
  public:
    // Nothing when the request is not answered.
    std::optional<Record> handle(const Record& request) {
        const std::string& verb = request.front();
        if (verb == "property" && request.size() >= 3) {
            properties_.push_back(
                {.name = request[1], .type = request[2], .values = {request.begin() + 3, request.end()}});
            return {};
        }
        if (verb == "open" && request.size() == 2) return open(request[1]);
        if (!bus_) return failure({.message = "rung-systemd: there is no connection"});
        if (verb == "manager") return describe_manager();
        if (request.size() < 2) return failure({.message = "rung-systemd: unknown request " + verb});
        const std::string& unit = request[1];
        if (verb == "start") return answer_of(bus_->start_transient(unit, std::exchange(properties_, {})));
        if (verb == "set") return answer_of(bus_->set(unit, std::exchange(properties_, {})));
        if (verb == "stop") return answer_of(bus_->stop(unit));
        if (verb == "attach" && request.size() >= 3) return attach(request);
        return failure({.message = "rung-systemd: unknown request " + verb});
    }

  private:
    Record open(const std::string& which) {
        auto bus = systemd::Bus::open(which == "user" ? systemd::Which::user : systemd::Which::system);
        if (!bus) return failure(bus.error());
        bus_.emplace(std::move(*bus));
        return {"ok"};
    }

    Record describe_manager() {
        const auto manager = bus_->describe_manager();
        if (!manager) return failure(manager.error());
        return {"ok", manager->version, manager->control_group};
    }

    Record attach(const Record& request) {
        std::vector<uint32_t> pids;
        for (size_t at = 3; at < request.size(); ++at)
            pids.push_back(static_cast<uint32_t>(std::strtoul(request[at].c_str(), nullptr, 10)));
        return answer_of(bus_->attach(request[1], request[2], pids));
    }

    std::optional<systemd::Bus> bus_ = {};
    std::vector<systemd::Property> properties_ = {};
};

}  // namespace

int main() {
    // Who asked may have died: then there is nobody to answer, and nothing to do.
    (void)std::signal(SIGPIPE, SIG_DFL);
    Session session;
    char* line = nullptr;
    size_t capacity = 0;
    for (ssize_t length = 0; (length = getline(&line, &capacity, stdin)) > 0;) {
        if (line[length - 1] == '\n') --length;
        const auto answer = session.handle(from_line({line, static_cast<size_t>(length)}));
        if (!answer) continue;
        if (std::puts(to_line(*answer).c_str()) < 0 || std::fflush(stdout) != 0) return 1;
    }
    std::free(line);
    return 0;
}

// events: one poll(2) over the end of the container, the kernel's announcement of a kill, and the time of the next statistics.
// SPDX-License-Identifier: Apache-2.0
#include "runtime/events.hpp"

#include <poll.h>

#include <algorithm>
#include <cerrno>
#include <climits>

#include "base/log.hpp"
#include "cgroup/oom.hpp"
#include "runtime/container.hpp"
#include "runtime/process.hpp"
#include "runtime/wording.hpp"

namespace rung::runtime {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

// cgroup v1 announces a kill before it counts it: for so long after an announcement the counter is looked at again and again.
constexpr auto kUntilCounted = 5s;
constexpr auto kLook = 20ms;

Result<Fd> open_init(const Container& container) {
    const auto init = container.directory.read_init();
    Fd pidfd = init ? TRY(open_process(*init)) : Fd{};
    if (!pidfd) return Error{.message = wording::not_running(container.state.id)};
    return pidfd;
}

int milliseconds_until(Clock::time_point time) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(time - Clock::now()).count();
    return static_cast<int>(std::clamp<int64_t>(left, 0, INT_MAX));
}

Status give_stats(const Container& container, const EventSink& sink) {
    auto stats = cgroup::read_stats(container.state.cgroup);
    if (stats) return sink(std::move(*stats));
    log::warn(stats.error().message);  // the next ones may be readable
    return {};
}

}  // namespace

Result<cgroup::Stats> stats(const Globals& globals, const std::string& id) {
    const Container container = TRY(open_container(globals, id));
    (void)TRY(open_init(container));
    return cgroup::read_stats(container.state.cgroup);
}

Status watch(const Globals& globals, const std::string& id, std::chrono::nanoseconds interval,
             const EventSink& sink) {
    const Container container = TRY(open_container(globals, id));
    const Fd init = TRY(open_init(container));
    cgroup::OomWatch oom = TRY(cgroup::OomWatch::open(container.state.cgroup));
    Clock::time_point next = Clock::now() + interval;
    Clock::time_point look_until = {};
    for (;;) {
        pollfd watched[2] = {{.fd = init.get(), .events = POLLIN, .revents = 0},
                             {.fd = oom.descriptor(), .events = oom.poll_events(), .revents = 0}};
        const bool looks = Clock::now() < look_until;
        const auto wake = looks ? std::min(next, Clock::now() + kLook) : next;
        if (::poll(watched, 2, milliseconds_until(wake)) < 0 && errno != EINTR)
            return errno_error("wait for events", errno);
        const bool announced = watched[1].revents != 0;
        const bool ended = watched[0].revents != 0;
        if (announced) {
            oom.acknowledge();
            look_until = Clock::now() + kUntilCounted;
        }
        // Also at the end: the process that was killed may be the container's first.
        if ((announced || looks || ended) && oom.saw_more()) TRY(sink({}));
        if (ended) return {};
        if (Clock::now() < next) continue;
        TRY(give_stats(container, sink));
        next = Clock::now() + interval;
    }
}

}  // namespace rung::runtime

// rung events: a line of JSON for the statistics, again and again, and for each process killed for want of memory.
// SPDX-License-Identifier: Apache-2.0
#include "runtime/events.hpp"

#include "duration.hpp"
#include "standard_streams.hpp"
#include "stats_json.hpp"
#include "verbs.hpp"

namespace rung::cli {

Result<int> perform(const runtime::Globals& globals, const Events& verb) {
    const auto interval = parse_duration(verb.interval);
    if (!interval) {
        return Error{.message = "invalid value \"" + verb.interval + "\" for flag -interval: parse error"};
    }
    if (interval->count() <= 0) return Error{.message = "duration interval must be greater than 0"};
    if (verb.stats) {
        TRY(print(stats_event(verb.id, TRY(runtime::stats(globals, verb.id))) + "\n"));
        return 0;
    }
    TRY(runtime::watch(globals, verb.id, *interval, [&](const std::optional<cgroup::Stats>& stats) {
        return print((stats ? stats_event(verb.id, *stats) : oom_event(verb.id)) + "\n");
    }));
    return 0;
}

}  // namespace rung::cli

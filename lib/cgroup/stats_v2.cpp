// Statistics of a cgroup v2, in the terms of v1 that readers expect; kernel documentation admin-guide/cgroup-v2.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <string_view>

#include "cgroup/directories.hpp"
#include "cgroup/stat_files.hpp"
#include "kernel/files.hpp"

namespace rung::cgroup {

namespace {

Result<std::optional<Pressures>> read_pressures(const std::string& path) {
    const std::string text = TRY(read_text(path));
    if (text.empty()) return std::optional<Pressures>{};
    return std::optional{parse_pressures(text)};
}

Status read_cpu(const std::string& directory, CpuStats& cpu) {
    auto counts = parse_counts(TRY(read_text(directory + "/cpu.stat")));
    cpu.total = counts["usage_usec"] * 1000;
    cpu.user = counts["user_usec"] * 1000;
    cpu.kernel = counts["system_usec"] * 1000;
    cpu.periods = counts["nr_periods"];
    cpu.throttled_periods = counts["nr_throttled"];
    cpu.throttled_time = counts["throttled_usec"] * 1000;
    cpu.pressure = TRY(read_pressures(directory + "/cpu.pressure"));
    return {};
}

Result<Usage> read_usage(const std::string& prefix) {
    return Usage{.limit = TRY(read_count(prefix + ".max")),
                 .usage = TRY(read_count(prefix + ".current")),
                 .most = TRY(read_count(prefix + ".peak"))};
}

Status read_memory(const std::string& directory, MemoryStats& memory) {
    memory.raw = parse_counts(TRY(read_text(directory + "/memory.stat")));
    if (const auto cache = memory.raw.find("file"); cache != memory.raw.end()) memory.cache = cache->second;
    memory.memory = TRY(read_usage(directory + "/memory"));
    // v2 counts swap alone. The two need not have been at their most at the same time.
    Usage swap = TRY(read_usage(directory + "/memory.swap"));
    swap.usage += memory.memory.usage;
    if (swap.limit != UINT64_MAX) {
        const uint64_t room = UINT64_MAX - memory.memory.limit;
        swap.limit = memory.memory.limit + std::min(swap.limit, room);
    }
    swap.most = 0;
    memory.with_swap = swap;
    memory.pressure = TRY(read_pressures(directory + "/memory.pressure"));
    return {};
}

Status read_pids(const std::string& directory, PidsStats& pids) {
    if (kernel::exists(directory + "/pids.current")) {
        pids.current = TRY(read_count(directory + "/pids.current"));
        pids.limit = TRY(read_count(directory + "/pids.max"));
        if (pids.limit == UINT64_MAX) pids.limit = 0;
        return {};
    }
    pids.current = TRY(pids_below(directory)).size();
    return {};
}

// "hugetlb.2MB.max" tells that there is a page size "2MB".
Status read_hugepages(const std::string& directory, std::map<std::string, Usage>& hugepages) {
    const Result<std::vector<std::string>> files = kernel::list_directory(directory);
    if (!files) return is_gone(files.error()) ? Status{} : Status{files.error()};
    for (const std::string& file : *files) {
        const std::vector<std::string_view> parts = words_of(file, ".");
        if (parts.size() != 3 || parts[0] != "hugetlb" || parts[2] != "max") continue;
        const std::string prefix = directory + "/hugetlb." + std::string{parts[1]};
        const bool reserves = kernel::exists(prefix + ".rsvd.current");
        auto events = parse_counts(TRY(read_text(prefix + ".events")));
        hugepages[std::string{parts[1]}] = {
            .usage = TRY(read_count(prefix + (reserves ? ".rsvd.current" : ".current"))),
            .failures = events["max"]};
    }
    return {};
}

}  // namespace

Status read_v2_stats(const std::string& directory, Stats& stats) {
    TRY(read_cpu(directory, stats.cpu));
    TRY(read_memory(directory, stats.memory));
    TRY(read_pids(directory, stats.pids));
    stats.io.by_name = parse_io(TRY(read_text(directory + "/io.stat")));
    stats.io.pressure = TRY(read_pressures(directory + "/io.pressure"));
    return read_hugepages(directory, stats.hugepages);
}

}  // namespace rung::cgroup

// Statistics of a cgroup v1; kernel documentation admin-guide/cgroup-v1.
// SPDX-License-Identifier: Apache-2.0
#include <unistd.h>

#include <array>
#include <charconv>
#include <string_view>

#include "cgroup/directories.hpp"
#include "cgroup/stat_files.hpp"
#include "kernel/files.hpp"

namespace rung::cgroup {

namespace {

Result<std::vector<uint64_t>> read_per_cpu(const std::string& path) {
    std::vector<uint64_t> counts;
    const std::string text = TRY(read_text(path));
    for (const std::string_view word : words_of(text))
        counts.push_back(TRY(parse_count(word).context(path)));
    return counts;
}

// "cpu user system", then a line for each processor.
Status read_usage_all(const std::string& path, CpuStats& cpu) {
    const std::string text = TRY(read_text(path));
    for (const std::string_view line : lines_of(text)) {
        const std::vector<std::string_view> words = words_of(line);
        if (words.size() < 3 || words[0] == "cpu") continue;
        cpu.per_cpu_user.push_back(TRY(parse_count(words[1]).context(path)));
        cpu.per_cpu_kernel.push_back(TRY(parse_count(words[2]).context(path)));
    }
    return {};
}

Status read_cpu(const Cgroup& cgroup, CpuStats& cpu) {
    if (const std::string directory = cgroup.directory_of("cpuacct"); !directory.empty()) {
        const long ticks = ::sysconf(_SC_CLK_TCK);
        const uint64_t nanoseconds = 1'000'000'000 / static_cast<uint64_t>(ticks > 0 ? ticks : 100);
        auto times = parse_counts(TRY(read_text(directory + "/cpuacct.stat")));
        cpu.user = times["user"] * nanoseconds;
        cpu.kernel = times["system"] * nanoseconds;
        cpu.total = TRY(read_count(directory + "/cpuacct.usage"));
        cpu.per_cpu = TRY(read_per_cpu(directory + "/cpuacct.usage_percpu"));
        TRY(read_usage_all(directory + "/cpuacct.usage_all", cpu));
    }
    if (const std::string directory = cgroup.directory_of("cpu"); !directory.empty()) {
        auto counts = parse_counts(TRY(read_text(directory + "/cpu.stat")));
        cpu.periods = counts["nr_periods"];
        cpu.throttled_periods = counts["nr_throttled"];
        cpu.throttled_time = counts["throttled_time"];
    }
    return {};
}

Status read_cpuset(const std::string& directory, CpusetStats& cpuset) {
    if (directory.empty()) return {};
    cpuset.cpus = parse_list(TRY(read_text(directory + "/cpuset.cpus")));
    cpuset.mems = parse_list(TRY(read_text(directory + "/cpuset.mems")));
    for (const char* name :
         {"cpu_exclusive", "mem_hardwall", "mem_exclusive", "memory_migrate", "memory_spread_page",
          "memory_spread_slab", "memory_pressure", "sched_load_balance", "sched_relax_domain_level"}) {
        const std::string text = TRY(read_text(directory + "/cpuset." + name));
        int64_t value = 0;  // the last of them may be -1
        (void)std::from_chars(text.data(), text.data() + text.size(), value);
        cpuset.settings[name] = value;
    }
    return {};
}

Result<Usage> read_usage(const std::string& prefix) {
    return Usage{.limit = TRY(read_count(prefix + ".limit_in_bytes")),
                 .usage = TRY(read_count(prefix + ".usage_in_bytes")),
                 .most = TRY(read_count(prefix + ".max_usage_in_bytes")),
                 .failures = TRY(read_count(prefix + ".failcnt"))};
}

Status read_memory(const std::string& directory, MemoryStats& memory) {
    if (directory.empty()) return {};
    memory.raw = parse_counts(TRY(read_text(directory + "/memory.stat")));
    if (const auto cache = memory.raw.find("cache"); cache != memory.raw.end()) memory.cache = cache->second;
    memory.memory = TRY(read_usage(directory + "/memory"));
    memory.with_swap = TRY(read_usage(directory + "/memory.memsw"));
    memory.kernel = TRY(read_usage(directory + "/memory.kmem"));
    memory.kernel_tcp = TRY(read_usage(directory + "/memory.kmem.tcp"));
    return {};
}

Status read_pids(const std::string& directory, PidsStats& pids) {
    if (directory.empty()) return {};
    pids.current = TRY(read_count(directory + "/pids.current"));
    pids.limit = TRY(read_count(directory + "/pids.max"));
    if (pids.limit == UINT64_MAX) pids.limit = 0;
    return {};
}

// Which files count depends on the scheduler of the kernel; the first kind that has them is taken.
struct BlockIoFiles {
    const char* before = nullptr;
    const char* after = nullptr;
};
constexpr std::array<BlockIoFiles, 4> kBlockIoFiles = {{{"blkio.bfq.", "_recursive"},
                                                        {"blkio.", "_recursive"},
                                                        {"blkio.throttle.", "_recursive"},
                                                        {"blkio.throttle.", ""}}};
constexpr std::array<const char*, 8> kBlockIoTables = {
    "io_service_bytes", "io_serviced", "io_queued", "io_service_time",
    "io_wait_time",     "io_merged",   "time",      "sectors"};

Status read_block_io(const std::string& directory, IoStats& io) {
    if (directory.empty()) return {};
    for (const BlockIoFiles& files : kBlockIoFiles) {
        for (const char* table : kBlockIoTables) {
            const std::string text = TRY(read_text(directory + "/" + files.before + table + files.after));
            std::vector<IoEntry> entries = parse_block_io(text);
            if (!entries.empty()) io.by_name[table] = std::move(entries);
        }
        if (!io.by_name.empty()) return {};
    }
    return {};
}

// "hugetlb.2MB.limit_in_bytes" tells that there is a page size "2MB". Reserved pages are counted apart since Linux 5.7.
Status read_hugepages(const std::string& directory, std::map<std::string, Usage>& hugepages) {
    if (directory.empty()) return {};
    const Result<std::vector<std::string>> files = kernel::list_directory(directory);
    if (!files) return is_gone(files.error()) ? Status{} : Status{files.error()};
    for (const std::string& file : *files) {
        const std::vector<std::string_view> parts = words_of(file, ".");
        if (parts.size() != 3 || parts[0] != "hugetlb" || parts[2] != "limit_in_bytes") continue;
        const std::string prefix = directory + "/hugetlb." + std::string{parts[1]};
        const bool reserves = kernel::exists(prefix + ".rsvd.usage_in_bytes");
        hugepages[std::string{parts[1]}] = TRY(read_usage(prefix + (reserves ? ".rsvd" : "")));
    }
    return {};
}

}  // namespace

Status read_v1_stats(const Cgroup& cgroup, Stats& stats) {
    TRY(read_cpu(cgroup, stats.cpu));
    TRY(read_cpuset(cgroup.directory_of("cpuset"), stats.cpuset));
    TRY(read_memory(cgroup.directory_of("memory"), stats.memory));
    TRY(read_pids(cgroup.directory_of("pids"), stats.pids));
    TRY(read_block_io(cgroup.directory_of("blkio"), stats.io));
    return read_hugepages(cgroup.directory_of("hugetlb"), stats.hugepages);
}

}  // namespace rung::cgroup

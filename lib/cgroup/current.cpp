// Reading control files back.
// SPDX-License-Identifier: Apache-2.0
#include "cgroup/current.hpp"

#include <charconv>
#include <iterator>

#include "base/log.hpp"
#include "base/path.hpp"
#include "cgroup/directories.hpp"
#include "cgroup/unit.hpp"
#include "kernel/files.hpp"

namespace rung::cgroup {

namespace {

std::optional<int64_t> read_number(const std::string& path) {
    const Result<std::string> text = kernel::read_file(path);
    int64_t number = 0;
    if (!text) return {};
    const auto parsed = std::from_chars(text->data(), text->data() + text->size(), number);
    if (parsed.ec != std::errc{}) return {};  // "max"
    return number;
}

// The kernel passes over a write of nothing; a list is emptied by an empty line. A cpuset with processes in it refuses that (ENOSPC), on v2 as
// well, where an empty list means the parent's: then it gets those by name.
Status empty_list(const std::string& path) {
    Status emptied = kernel::write_file(path, "\n");
    if (emptied) return emptied;
    const std::string directory = path::parent(path);
    const auto inherited =
        kernel::read_file(path::parent(directory) + "/" + path::file_name(path) + ".effective");
    return inherited ? kernel::write_file(path, without_newline(*inherited)) : emptied;
}

bool is_set(const std::optional<int64_t>& value) {
    return value.value_or(0) != 0;
}

}  // namespace

std::vector<Content> read_contents(const Cgroup& cgroup, const std::vector<Write>& writes) {
    std::vector<Content> contents;
    for (const Write& write : writes) {
        if (write.controller == "io" || write.controller == "blkio" || write.controller == "rdma") continue;
        const std::string path = cgroup.directory_of(write.controller) + "/" + write.spelling.file;
        const Result<std::string> text = kernel::read_file(path);
        if (text) contents.push_back({.path = path, .text = without_newline(*text)});
    }
    return contents;
}

std::vector<Content> read_contents_of_unit(const Cgroup& cgroup) {
    std::vector<Content> contents;
    for (const std::string& file : files_of_properties()) {
        const std::string path = cgroup.directory_of(file.substr(0, file.find('.'))) + "/" + file;
        const Result<std::string> text = kernel::read_file(path);
        if (text) contents.push_back({.path = path, .text = without_newline(*text)});
    }
    return contents;
}

void put_back(const std::vector<Content>& contents) {
    // Twice, for which of two limits has to move first depends on their values.
    for (int round = 0; round < 2; ++round) {
        for (auto content = contents.rbegin(); content != contents.rend(); ++content) {
            const Result<std::string> now = kernel::read_file(content->path);
            if (now && without_newline(*now) == content->text) continue;
            const Status written = content->text.empty() ? empty_list(content->path)
                                                         : kernel::write_file(content->path, content->text);
            if (!written) log::debug("not put back: " + written.error().message);
        }
    }
}

config::CpuResources read_cpu_share(const Cgroup& cgroup) {
    config::CpuResources cpu;
    const std::string directory = cgroup.directory_of("cpu");
    if (directory.empty()) return cpu;
    if (cgroup.layout != kernel::CgroupLayout::v2) {
        cpu.quota = read_number(directory + "/cpu.cfs_quota_us");
        if (const auto period = read_number(directory + "/cpu.cfs_period_us"))
            cpu.period = static_cast<uint64_t>(*period);
        return cpu;
    }
    const Result<std::string> text = kernel::read_file(directory + "/cpu.max");
    if (!text) return cpu;
    const size_t space = text->find(' ');
    cpu.quota = -1;
    int64_t quota = 0;
    if (std::from_chars(text->data(), text->data() + text->size(), quota).ec == std::errc{})
        cpu.quota = quota;
    uint64_t period = 0;
    if (space == std::string::npos) return cpu;
    (void)std::from_chars(text->data() + space + 1, text->data() + text->size(), period);
    if (period != 0) cpu.period = period;
    return cpu;
}

config::Resources with_current_partners(const Cgroup& cgroup, config::Resources resources) {
    if (cgroup.layout != kernel::CgroupLayout::v2) return resources;
    config::CpuResources& cpu = resources.cpu;
    if (cpu.period.value_or(0) != 0 && !is_set(cpu.quota)) cpu.quota = read_cpu_share(cgroup).quota;
    config::MemoryResources& memory = resources.memory;
    if (memory.swap.value_or(0) > 0 && !is_set(memory.limit))
        memory.limit = read_number(cgroup.directory_of("memory") + "/memory.max");
    return resources;
}

}  // namespace rung::cgroup

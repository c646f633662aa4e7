// What both dialects of cgroup limits share, and the check that every controller which is needed is there.
// SPDX-License-Identifier: Apache-2.0
#include "cgroup/plan_writes.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>

#include "cgroup/wording.hpp"
#include "config/validate.hpp"

namespace rung::cgroup {

uint64_t weight_of_shares(uint64_t shares) {
    if (shares <= 2) return 1;
    if (shares >= 262144) return 10000;
    const double logarithm = std::log2(static_cast<double>(shares));
    const double exponent = (logarithm * logarithm + 125.0 * logarithm) / 612.0 - 7.0 / 34.0;
    // The little less keeps rounding noise from lifting an exact 100 to 101.
    return static_cast<uint64_t>(std::ceil(std::pow(10.0, exponent) - 1e-9));
}

uint64_t io_weight_of_block_io_weight(uint64_t weight) {
    const uint64_t within = std::clamp<uint64_t>(weight, 10, 1000);
    return 1 + (within - 10) * 9999 / 990;
}

std::vector<Write> plan_cpuset_writes(const config::CpuResources& cpu) {
    std::vector<Write> writes;
    if (!cpu.cpus.empty()) {
        writes.push_back(
            {.controller = "cpuset", .spelling = {"cpuset.cpus", cpu.cpus}, .field = "cpu.cpus"});
    }
    if (!cpu.mems.empty()) {
        writes.push_back(
            {.controller = "cpuset", .spelling = {"cpuset.mems", cpu.mems}, .field = "cpu.mems"});
    }
    return writes;
}

std::vector<Write> plan_pids_writes(const std::optional<int64_t>& limit) {
    if (!limit) return {};
    // 0 would refuse the container's own first process on v2; with 1 it runs and can start nothing.
    const std::string value = *limit < 0 ? "max" : std::to_string(std::max<int64_t>(*limit, 1));
    return {{.controller = "pids",
             .spelling = {"pids.max", value},
             .field = "pids.limit",
             .may_be_absent = *limit < 0}};
}

Result<std::vector<Write>> plan_hugepage_writes(const std::vector<config::HugepageLimit>& limits,
                                                const std::string& file_end) {
    std::vector<Write> writes;
    for (const config::HugepageLimit& limit : limits) {
        // It becomes a part of a file's name (runc#4103).
        if (!config::is_page_size(limit.page_size)) {
            return invalid("hugepageLimits", "invalid page size \"" + limit.page_size + "\"");
        }
        const std::string prefix = "hugetlb." + limit.page_size;
        const std::string bytes = std::to_string(limit.limit);
        writes.push_back(
            {.controller = "hugetlb", .spelling = {prefix + file_end, bytes}, .field = "hugepageLimits"});
        // Reserved pages are counted apart since Linux 5.7.
        writes.push_back({.controller = "hugetlb",
                          .spelling = {prefix + ".rsvd" + file_end, bytes},
                          .field = "hugepageLimits",
                          .may_be_absent = true});
    }
    return writes;
}

Result<std::vector<Write>> plan_rdma_writes(const std::map<std::string, config::RdmaLimit>& limits) {
    std::vector<Write> writes;
    for (const auto& [device, limit] : limits) {
        if (device.empty() || device.find_first_of(" \t\n") != std::string::npos) {
            return invalid("rdma", "invalid device name \"" + device + "\"");
        }
        std::string value = device;
        if (limit.handles) value += " hca_handle=" + std::to_string(*limit.handles);
        if (limit.objects) value += " hca_object=" + std::to_string(*limit.objects);
        if (value == device) continue;
        writes.push_back({.controller = "rdma", .spelling = {"rdma.max", value}, .field = "rdma"});
    }
    return writes;
}

Error invalid(const std::string& field, const std::string& why) {
    return Error{.message = "invalid configuration: linux.resources." + field + ": " + why};
}

void append(std::vector<Write>& writes, std::vector<Write> more) {
    writes.insert(writes.end(), std::make_move_iterator(more.begin()), std::make_move_iterator(more.end()));
}

namespace {

Error no_place_for(const Cgroup& cgroup, const Write& write) {
    std::string message = "cannot set " + write.controller + " limit: " + std::string{wording::kNoCgroup};
    message += " (linux.resources." + write.field + ": ";
    if (cgroup.manager == Manager::disabled) return Error{.message = message + "cgroups are disabled)"};
    const bool has_other = !cgroup.v1.empty() || !cgroup.unified.empty();
    return Error{.message = message + (has_other ? "there is no " + write.controller + " controller)"
                                                 : "the container has no cgroup)")};
}

}  // namespace

Result<std::vector<Write>> plan_writes(const Cgroup& cgroup, const config::Resources& resources) {
    const bool is_v2 = cgroup.layout == kernel::CgroupLayout::v2;
    std::vector<Write> possible;
    for (Write& write : TRY(is_v2 ? plan_v2_writes(resources) : plan_v1_writes(resources))) {
        if (!cgroup.directory_of(write.controller).empty()) {
            possible.push_back(std::move(write));
        } else if (!write.may_be_absent) {
            return no_place_for(cgroup, write);
        }
    }
    return possible;
}

}  // namespace rung::cgroup
